/** Makes and stores a suite's tasks when they are first needed, so that each is made and solved only once. */
import type { TaskKey } from "../../envs/origin.ts";
import { parseJson, readObject, readText } from "../curriculum/json.ts";
import type { Result } from "../curriculum/types.ts";
import type { EvaluationStore, StoredTask } from "../stores/evaluation-store.ts";
import { type Maker, refusalOf, suiteCaller } from "../tasks/making/make.ts";
import { decodeKey, encodeKey } from "../tasks/making/run-source.ts";
import type { MakeResult } from "../tasks/task.ts";
import { categoryOf, type OpenPart, partOf, seedOf, type Suite, walkSeedOf } from "./open-suite.ts";

export interface SuiteTask {
  readonly ordinal: number;
  readonly part: OpenPart;
  readonly category: string;
  readonly key: TaskKey;
  /**
   * Whether the task belongs to every split, also to the training split, because there are too few different instances.
   */
  readonly inEverySplit: boolean;
  /**
   * Objective value of the answer that the environment's heuristic finds. Undefined: the suite does not compare with a
   * heuristic, or there is none.
   */
  readonly heuristic: number | undefined;
}

export interface SuiteTasks {
  /**
   * Returns the suite's tasks with the numbers `from` to `to` − 1. Makes and stores those that were not made before.
   */
  make(suite: Suite, from: number, to: number, signal?: AbortSignal): Promise<Result<readonly SuiteTask[]>>;
  /** Returns those of the suite's tasks `from` to `to` − 1 that were made before. */
  made(suite: Suite, from: number, to: number): Promise<readonly SuiteTask[]>;
}

export function createSuiteTasks(deps: {
  readonly store: EvaluationStore;
  readonly maker: Pick<Maker, "make" | "makeRow">;
}): SuiteTasks {
  const { store, maker } = deps;
  const made = async (suite: Suite, from: number, to: number): Promise<readonly SuiteTask[]> =>
    (await store.tasks(suite.digest, from, to)).map((stored) => fromStored(suite, stored));

  const generate = (suite: Suite, part: OpenPart, ordinals: readonly number[], signal?: AbortSignal) => {
    const seeds = ordinals.map((ordinal) => seedOf(suite, part, ordinal));
    const { heuristic } = suite.definition;
    return maker.make(part.spec, seeds, { caller: suiteCaller(suite.digest), signal, heuristic });
  };

  /**
   * Returns a task from a row of the part's pool for each of the task numbers. No row is used twice, because a part has
   * no more tasks than its pool has rows.
   */
  const walk = (suite: Suite, part: OpenPart, ordinals: readonly number[]): readonly MakeResult[] => {
    const seed = walkSeedOf(suite, part);
    return ordinals.map((ordinal) => maker.makeRow(part.spec, { seed, ordinal: ordinal - part.start }));
  };

  const makeOf = async (suite: Suite, part: OpenPart, ordinals: readonly number[], signal?: AbortSignal) => {
    const results = await (part.spec.source === "real"
      ? walk(suite, part, ordinals)
      : generate(suite, part, ordinals, signal));
    return results.map((result, i): Result<SuiteTask> => {
      if (result.kind !== "made") return refusalOf(result);
      const { key, metadata, inEverySplit = false, heuristic } = result.task;
      const category = categoryOf(part, metadata);
      return { kind: "ok", value: { ordinal: ordinals[i] ?? -1, part, key, category, inEverySplit, heuristic } };
    });
  };

  const makeMissing = async (suite: Suite, missing: readonly number[], signal?: AbortSignal) => {
    const byPart = Map.groupBy(missing, (ordinal) => partOf(suite, ordinal));
    const making = [...byPart].map(([part, ordinals]) => makeOf(suite, part, ordinals, signal));
    const results = (await Promise.all(making)).flat();
    const tasks = results.flatMap((result) => (result.kind === "ok" ? [result.value] : []));
    await store.saveTasks(suite.digest, tasks.map(toStored));
    return { tasks, refusal: results.find((result) => result.kind !== "ok") };
  };

  return {
    made,
    make: async (suite, from, to, signal) => {
      const known = await made(suite, from, to);
      const there = new Set(known.map(({ ordinal }) => ordinal));
      const wanted = Array.from({ length: to - from }, (_, i) => from + i);
      const missing = wanted.filter((ordinal) => !there.has(ordinal));
      if (missing.length === 0) return { kind: "ok", value: known };
      const { tasks, refusal } = await makeMissing(suite, missing, signal);
      if (refusal !== undefined) return refusal;
      return { kind: "ok", value: [...known, ...tasks].sort((a, b) => a.ordinal - b.ordinal) };
    },
  };
}

function toStored({ ordinal, category, key, inEverySplit, heuristic }: SuiteTask): StoredTask {
  const rest = { ...(inEverySplit && { inEverySplit }), ...(heuristic !== undefined && { heuristic }) };
  return { ordinal, body: JSON.stringify({ category, key: encodeKey(key), ...rest }) };
}

function fromStored(suite: Suite, { ordinal, body }: StoredTask): SuiteTask {
  const { category, key, inEverySplit, heuristic } = readObject(parseJson(body));
  const part = partOf(suite, ordinal);
  return {
    ordinal,
    part,
    category: readText(category),
    key: decodeKey(key, part.spec, seedOf(suite, part, ordinal)),
    inEverySplit: inEverySplit === true,
    heuristic: typeof heuristic === "number" ? heuristic : undefined,
  };
}
