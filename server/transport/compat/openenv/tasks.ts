/**
 * Serves OpenEnv's Task API: the splits of an environment, and their tasks by index. A task consists of the fields of a
 * reset that begins it; its index is the seed.
 */
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import {
  type Environment,
  type LevelInfo,
  ListEnvironmentsRequestSchema,
} from "../../../../proto/gen/gradus/v1/environment_pb.js";
import { Source, Split } from "../../../../proto/gen/gradus/v1/task_pb.js";
import { jsonWithin } from "../../http/json-codec.ts";
import type { Context, Handlers } from "../episode.ts";
import { invalid, isObject } from "../read-task-choice.ts";

/** Number of tasks that the Task API reports for each split: the seeds below it. A reset takes any greater seed too. */
const TASKS = 4096;
/** Maximum number of environments in a page of ListEnvironments. */
const PAGE_SIZE = 1000;

/** Splits that the Task API offers, each with its type in OpenEnv. */
const SPLITS = [
  { split: Split.TRAIN, name: "train", type: "train" },
  { split: Split.EVAL, name: "eval", type: "validation" },
] as const;

/** Returns the ids of all environments, sorted. */
export async function environmentIds(handlers: Handlers, context: Context): Promise<string[]> {
  const ids = new Set<string>();
  let pageToken = "";
  do {
    const request = create(ListEnvironmentsRequestSchema, { pageSize: PAGE_SIZE, pageToken });
    const page = await handlers.listEnvironments(request, context);
    for (const { id } of page.environments) ids.add(id);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return [...ids];
}

/**
 * Returns the splits that an environment has, with names and types. A name such as "train" means the default level, and
 * "easy:train" the level "easy".
 */
export function splitsOf({ levels, sources, pools }: Environment): { readonly name: string; readonly type: string }[] {
  const isMade = sources.includes(Source.SYNTHETIC);
  const groups = pools.flatMap((pool) => pool.groups);
  const has = ({ name, evaluationOnly }: LevelInfo, split: Split): boolean =>
    !(evaluationOnly && split === Split.TRAIN) &&
    (isMade || groups.some((group) => group.level === name && group.split === split));
  const ofDefault = SPLITS.filter(({ split }) =>
    (isMade ? levels.slice(0, 1) : levels).some((each) => has(each, split)),
  );
  const ofLevels = levels.flatMap((level) =>
    SPLITS.filter(({ split }) => has(level, split)).map(({ name, type }) => ({ name: `${level.name}:${name}`, type })),
  );
  return [...ofDefault.map(({ name, type }) => ({ name, type })), ...ofLevels];
}

/** Replaces the Task API's `split` and `index` in the fields of a reset by the level, the split and the seed. */
export function taskOfSplit(data: JsonObject): JsonObject {
  const { index, split, ...rest } = data;
  const [, level, ofLevel] = typeof split === "string" ? (/^(.+):([^:]*)$/s.exec(split) ?? []) : [];
  const named =
    ofLevel === undefined ? { ...(split !== undefined && { split }) } : { level: level ?? "", split: ofLevel };
  return { ...rest, ...named, ...(index !== undefined && { seed: index }) };
}

export const TASK_CALLS = ["tasks", "num_tasks", "task", "task_range"] as const;

/** Answers a call of the Task API. Throws RpcError (INVALID_ARGUMENT) if the body is invalid. */
export function answerTasks(call: (typeof TASK_CALLS)[number], environment: Environment, bytes: Buffer): JsonValue {
  const body = jsonWithin(bytes, { parts: 64, depth: 4 });
  if (!isObject(body)) throw invalid("split", "the body must be a JSON object with a split");
  const { split } = body;
  const splits = splitsOf(environment);
  if (typeof split !== "string" || !splits.some(({ name }) => name === split))
    throw invalid("split", `must be one of ${splits.map(({ name }) => name).join(", ")}`);
  const { seed: _, ...spec } = taskOfSplit({ environment: environment.id, split, index: 0 });
  const task = (index: number): JsonObject => ({ ...spec, seed: index });
  const range = (start: number, stop: number): JsonObject[] =>
    Array.from({ length: Math.max(0, stop - start) }, (_, i) => task(start + i));
  if (call === "num_tasks") return { num_tasks: TASKS };
  if (call === "tasks") return { tasks: range(0, TASKS), env_name: environment.id };
  if (call === "task") return { task: task(indexIn(body, "index", TASKS - 1)) };
  return { tasks: range(indexIn(body, "start", TASKS, 0), indexIn(body, "stop", TASKS, TASKS)) };
}

function indexIn(body: JsonObject, name: string, max: number, otherwise?: number): number {
  const value = body[name] ?? otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw invalid(name, `must be a whole number from 0 to ${max}`);
}
