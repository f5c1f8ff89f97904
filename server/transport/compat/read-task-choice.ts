/**
 * Reads which task a client of another gym chooses, from JSON: a task of an environment by its seed, or a task of a run
 * by its cursor. Fields are named as in TaskSpec. Enum values may be short, e.g. "eval" for SPLIT_EVAL.
 */
import { create, fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { NextBatchRequestSchema, type NextBatchRequest } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { ResetRequestSchema, type ResetRequest } from "../../../proto/gen/gradus/v1/environment_pb.js";
import { TaskSpecSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { RpcError } from "../../base/rpc.ts";

/**
 * The task that a client chose, as the request that gets it: by seed (Reset), or from a run (NextBatch). `sampleIndex`
 * is the index that the completion will have in the task's group.
 */
export type Choice =
  | { readonly kind: "seed"; readonly request: ResetRequest; readonly sampleIndex: number }
  | { readonly kind: "run"; readonly request: NextBatchRequest; readonly sampleIndex: number };

/** Maximum number of JSON fields with which a client chooses a task. With more, the request is refused. */
const FIELDS_MAX = 32;

const enums: Readonly<Record<string, string>> = {
  split: "SPLIT",
  source: "SOURCE",
  answer_format: "ANSWER_FORMAT",
  thinking: "THINKING",
};
const ofTurns = ["calls", "tools", "reply_detail"];
const ofInstance = ["environment", "level", "parameters", "version", "pool"];
const ofSpec = [...ofInstance, "reward_scheme", ...Object.keys(enums), ...ofTurns];
const ofSeed = [...ofSpec, "seed", "sample_index", "episode_id"];
const ofRun = ["run", "cursor", "sample_index", "episode_id"];

export function invalid(field: string, problem: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", `${field}: ${problem}`, { field });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wholeIn(data: JsonObject, name: string): number | undefined {
  const value = data[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw invalid(name, `must be a whole number from 0 to 2^53 − 1; got ${JSON.stringify(value).slice(0, 100)}`);
}

/** Reads the seed. A seed above 2^53 must be a string of digits, because JSON numbers lose its last bits. */
function seedIn({ seed }: JsonObject, otherwise: () => bigint): bigint {
  if (seed === undefined || seed === null) return otherwise();
  const digits = typeof seed === "number" && Number.isSafeInteger(seed) ? String(seed) : seed;
  if (typeof digits === "string" && /^\d{1,20}$/.test(digits) && BigInt(digits) < 2n ** 64n) return BigInt(digits);
  throw invalid("seed", "it must be a whole number from 0 to 2^53 − 1, or up to 2^64 − 1 as a string of digits");
}

function inContract(name: string, value: JsonValue): JsonValue {
  const prefix = enums[name];
  if (prefix !== undefined && typeof value === "string" && !value.startsWith(`${prefix}_`))
    return `${prefix}_${value.toUpperCase()}`;
  if (name === "reward_scheme" && typeof value === "string") return { name: value };
  if (name === "parameters" && isObject(value) && value["values"] === undefined) return { values: value };
  return value;
}

function specIn(data: JsonObject) {
  const given = ofSpec.flatMap((name) => {
    const value = data[name];
    return value === undefined || value === null ? [] : [[name, inContract(name, value)] as const];
  });
  try {
    return fromJson(TaskSpecSchema, Object.fromEntries(given));
  } catch (error) {
    throw new RpcError("INVALID_ARGUMENT", (error as Error).message);
  }
}

function refuseOthers(data: JsonObject, names: readonly string[]): void {
  const given = Object.keys(data);
  if (given.length > FIELDS_MAX) throw new RpcError("INVALID_ARGUMENT", `a reset has at most ${FIELDS_MAX} fields`);
  const other = given.find((name) => !names.includes(name));
  if (other !== undefined)
    throw invalid(other.slice(0, 100), `is not a known field; known fields: ${names.join(", ")}`);
}

export interface Defaults {
  /** Called if the client names no seed. Returns a seed, or throws if the client must name one. */
  readonly seed: () => bigint;
  /**
   * Called if the client names a run without a cursor. Returns the cursor after the last task of this run that the
   * client got, or throws if the client must name one. Undefined: the client gets the first task of the run's first
   * open update batch.
   */
  readonly cursorOf: (run: string) => bigint | undefined;
}

/**
 * Reads from a client's JSON fields which task it chooses. Throws RpcError (INVALID_ARGUMENT) if a field is invalid.
 */
export function choiceOf(data: JsonObject, { seed, cursorOf }: Defaults): Choice {
  const sampleIndex = wholeIn(data, "sample_index") ?? 0;
  const { run } = data;
  if (run === undefined || run === null) {
    refuseOthers(data, ofSeed);
    if (data["environment"] === undefined)
      throw invalid("environment", `name an environment, e.g. "np/tsp", or a run: reset(run="my-run", cursor=0)`);
    const request = create(ResetRequestSchema, { spec: specIn(data), seed: seedIn(data, seed) });
    return { kind: "seed", request, sampleIndex };
  }
  if (typeof run !== "string") throw invalid("run", "it must be the run's id");
  refuseOthers(data, ofRun);
  const given = wholeIn(data, "cursor");
  const cursor = given === undefined ? cursorOf(run) : BigInt(given);
  const request = create(NextBatchRequestSchema, { runId: run, count: 1, ...(cursor !== undefined && { cursor }) });
  return { kind: "run", request, sampleIndex };
}
