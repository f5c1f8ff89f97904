/** Tests of the tasks that a scorer caches, to avoid reading their ids and making their instances again. */
import { expect, test } from "vitest";
import { signingKey } from "../../../../server/tasks/keyring.ts";
import { createScorer, type Scorer } from "../../../../server/tasks/scoring/scorer.ts";
import { roughBytes } from "../../../../server/base/rough-bytes.ts";
import { mintTaskId, type TaskToken } from "../../../../server/tasks/task-id.ts";
import { registry } from "../../../support/registry.ts";

const newScorer = (): Scorer =>
  createScorer({
    keyring: [signingKey(Buffer.alloc(32))],
    registry,
    pools: new Map(),
    completionBytesMax: 1000,
    onFailure: (error) => {
      throw error;
    },
  });

/** Returns a task of some cities that lie 1 apart. */
function tokenOf(cities: number): TaskToken {
  const parameters = { cities_min: cities, cities_max: cities, distance_min: 1, distance_max: 1 };
  return {
    environment: "np/tsp",
    version: 2,
    level: "",
    split: "train",
    answerFormat: "answer_tag",
    thinking: "required",
    rewardScheme: "",
    rewardParameters: {},
    key: {
      origin: { kind: "generated", parameters, seed: 1n, attempt: 0 },
      hash: "0".repeat(16),
      baseline: { value: cities, bound: cities, proven: true },
    },
  };
}

/** Gives the scorer a task under an id that no server made, which only this scorer can then know. */
function tell(scorer: Scorer, taskId: string, cities: number): void {
  scorer.expect(taskId, "group", tokenOf(cities));
}

test("a task that was just made is open, and completions are scored against it", () => {
  const scorer = newScorer();
  tell(scorer, "first", 4);
  const task = scorer.open("first");
  if (task.kind !== "sync") throw new Error(task.kind === "none" ? task.detail : "it waits for a resource");
  expect(scorer.score(task, "<answer>[0, 1, 2, 3]</answer>")).toMatchObject({ score: { reward: 2, solved: true } });
  expect(scorer.open("first")).toBe(task);
  expect(scorer.open("second")).toMatchObject({ kind: "none", reason: "invalid_task_id" });
});

test("a small instance comes with the task, and is not made again", () => {
  const scorer = newScorer();
  const found = registry.find("countdown");
  if (found.kind !== "found") throw new Error(found.message);
  const bytes = found.environment.inline?.encode({ numbers: [1, 2, 3], target: 6 });
  if (bytes === undefined) throw new Error("it is too large");
  // The task's key would give another instance.
  scorer.expect("sum", "group", {
    ...tokenOf(4),
    environment: "countdown",
    version: 1,
    rewardScheme: "graded",
    inline: bytes,
  });
  const task = scorer.open("sum");
  expect(task.kind === "sync" && task.scoring.instance).toEqual({ numbers: [1, 2, 3], target: 6 });
});

test("nothing of a task id's bytes is kept: each is a view of a buffer that is hundreds of times as large", () => {
  const scorer = newScorer();
  scorer.expect("first", "group", { ...tokenOf(4), inline: Buffer.from("bytes") });
  const holdsBytes = (value: unknown): boolean =>
    value instanceof Uint8Array ||
    (typeof value === "object" && value !== null && Object.values(value).some(holdsBytes));
  const opened = scorer.open("first");
  expect(opened.kind === "sync" && holdsBytes(opened.token)).toBe(false);
});

test("large instances push out those that were not used for long, and one that is too large is not kept", () => {
  const scorer = newScorer();
  const opened = (taskId: string, cities: number): void => {
    tell(scorer, taskId, cities);
    expect(scorer.open(taskId).kind).toBe("sync");
  };
  opened("small", 4);
  // Each task has about 2 MB: four of them fill nearly the whole cache.
  for (let i = 0; i < 5; i++) opened(`large ${i}`, 1000);
  const kinds = ["small", "large 0", "large 4"].map((id) => scorer.open(id).kind);
  expect(kinds).toEqual(["none", "none", "sync"]);
  opened("huge", 2100);
  expect(["large 4", "huge"].map((id) => scorer.open(id).kind)).toEqual(["sync", "none"]);
});

test("sizes are about those of the data", () => {
  expect(roughBytes(new Int32Array(1000))).toBeGreaterThanOrEqual(4000);
  expect(roughBytes({ edges: Array.from({ length: 100 }, () => ({ a: 1, b: 2, weight: 3 })) })).toBeGreaterThan(3000);
  expect(roughBytes([])).toBeLessThan(100);
  expect(roughBytes("a".repeat(500))).toBeGreaterThanOrEqual(500);
});

test("a task of an earlier version is judged by the newest, and its score says so", () => {
  const scorer = newScorer();
  const scoreUnder = (version: number, completion: string) => {
    const taskId = `version ${version}`;
    scorer.expect(taskId, "group", { ...tokenOf(4), version });
    const task = scorer.open(taskId);
    if (task.kind !== "sync") throw new Error(task.kind === "none" ? task.detail : "it waits for a resource");
    const result = scorer.score(task, completion);
    if (result.kind !== "score") throw new Error(result.detail);
    return result.score;
  };
  const judgedBy = "version 3: the task is of version 2, which gave some answers other verdicts";
  for (const completion of [
    "<answer>[0, 1, 2, 3]</answer>",
    "<answer>[0, 1]</answer>",
    "no answer",
    "<answer>[0, 1, 2, 3]",
  ]) {
    const [then, now] = [scoreUnder(2, completion), scoreUnder(3, completion)];
    expect(then.info["judged_by"]).toBe(judgedBy);
    expect(now.info).not.toHaveProperty("judged_by");
    expect(then).toEqual({ ...now, info: { ...now.info, judged_by: judgedBy } });
  }
  scorer.expect("unknown", "group", { ...tokenOf(4), version: 1 });
  expect(scorer.open("unknown")).toMatchObject({
    reason: "invalid_task_id",
    detail: "task_id: np/tsp has no version 1; it has: 3, 2",
  });
});

test("a turn is the same from the server that replied before and from another, and a forgotten one is read again", () => {
  const [one, other] = [newScorer(), newScorer()];
  const token: TaskToken = {
    ...tokenOf(4),
    environment: "games/mastermind",
    version: 1,
    level: "easy",
    rewardScheme: "last",
    key: {
      origin: { kind: "generated", parameters: { places: 3, colours: 4 }, seed: 1n, attempt: 0 },
      hash: "0".repeat(16),
      baseline: { value: 4, bound: 4, proven: true },
    },
    calls: 10,
  };
  const keyring = [signingKey(Buffer.alloc(32))] as const;
  const call = (scorer: Scorer, taskId: string, text: string) => {
    const task = scorer.open(taskId);
    if (task.kind !== "sync") throw new Error(task.kind === "none" ? task.detail : "it waits for a resource");
    return { task, result: scorer.play(task, { sampleIndex: 0, text }, { isCut: false, isHermes: false }) };
  };
  let { taskId } = mintTaskId(keyring, { ...token, inline: Uint8Array.of(4, 2, 3, 4) });
  for (const code of ["1, 1, 1", "1, 2", "2, 2, 3"]) {
    const text = `<answer>[${code}]</answer>`;
    const { result } = call(one, taskId, text);
    const apart = call(newScorer(), taskId, text);
    expect(apart.result).toEqual(result);
    expect(call(other, taskId, text).result).toEqual(result);
    if (result.kind !== "turn") throw new Error(JSON.stringify(result));
    taskId = result.taskId;
  }
  const known = one.open(taskId);
  expect(one.open(taskId)).toBe(known);
  one.forget();
  expect(one.open(taskId)).not.toBe(known);
  expect(call(one, taskId, "<answer>[2, 3, 4]</answer>").result).toMatchObject({
    kind: "score",
    score: { verdict: "feasible", objective: 4, episode: { stop: "goal", calls: 4 } },
  });
});
