/** Which tasks a scorer keeps, so that their instances need not be made again. */
import { expect, test } from "vitest";
import { signingKey } from "../../../server/tasks/keyring.ts";
import { createScorer, type MadeTask, roughBytes, type Scorer } from "../../../server/tasks/scorer.ts";
import { registry } from "../../support/registry.ts";
import type { Ticket } from "../../../server/tasks/task-id.ts";

const found = registry.find("np/tsp", 1);
if (found.kind !== "found") throw new Error(found.message);
const { environment } = found;

const newScorer = (): Scorer =>
  createScorer({
    registry,
    keyring: [signingKey(Buffer.alloc(32))],
    pools: new Map(),
    completionBytesMax: 1000,
    onFailure: (error) => {
      throw error;
    },
  });

/** A task of so many cities under an id that no server made: only a scorer that was told of it can know it. */
function made(taskId: string, cities: number): MadeTask {
  const ticket = {
    environment: environment.id,
    version: environment.version,
    answerFormat: "answer_tag",
    rewardScheme: "",
    rewardParameters: {},
    baseline: { value: cities, bound: cities, proven: true },
  } as unknown as Ticket;
  const instance = { cities, distances: new Int32Array((cities * (cities - 1)) / 2).fill(1) };
  return { taskId, groupId: "group", ticket, environment, instance };
}

test("a task that was just made is open, and completions are scored against it", () => {
  const scorer = newScorer();
  scorer.expect(made("first", 4));
  const task = scorer.open("first");
  if (task.kind !== "sync") throw new Error(task.kind === "none" ? task.detail : "it waits for a resource");
  expect(scorer.score(task, "<answer>[0, 1, 2, 3]</answer>")).toMatchObject({ score: { reward: 2, solved: true } });
  expect(scorer.open("second")).toMatchObject({ kind: "none", reason: "invalid_task_id" });
});

test("nothing of a task id's bytes is kept: each is a view of a buffer that is hundreds of times as large", () => {
  const scorer = newScorer();
  const task = made("first", 4);
  scorer.expect({ ...task, ticket: { ...task.ticket, instance: Buffer.from("bytes") } });
  const holdsBytes = (value: unknown): boolean =>
    value instanceof Uint8Array ||
    (typeof value === "object" && value !== null && Object.values(value).some(holdsBytes));
  const opened = scorer.open("first");
  expect(opened.kind === "sync" && holdsBytes(opened.ticket)).toBe(false);
});

test("large instances push out those that were not used for long, and one that is too large is not kept", () => {
  const scorer = newScorer();
  scorer.expect(made("small", 4));
  // About 2 MB each: four of them are nearly all that is kept.
  for (let i = 0; i < 5; i++) scorer.expect(made(`large ${i}`, 1000));
  const kinds = ["small", "large 0", "large 4"].map((id) => scorer.open(id).kind);
  expect(kinds).toEqual(["none", "none", "sync"]);
  scorer.expect(made("huge", 2100));
  expect(["large 4", "huge"].map((id) => scorer.open(id).kind)).toEqual(["sync", "none"]);
});

test("sizes are about those of the data", () => {
  expect(roughBytes(new Int32Array(1000))).toBeGreaterThanOrEqual(4000);
  expect(roughBytes({ edges: Array.from({ length: 100 }, () => ({ a: 1, b: 2, weight: 3 })) })).toBeGreaterThan(3000);
  expect(roughBytes([])).toBeLessThan(100);
  expect(roughBytes("a".repeat(500))).toBeGreaterThanOrEqual(500);
});
