/** Tests of task messages that are made before their tasks are issued. */
import { randomBytes } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { TaskKey } from "../../../envs/origin.ts";
import { TaskSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { encodedAhead } from "../../../server/base/rpc.ts";
import type { IssuedTask } from "../../../server/curriculum/batches.ts";
import type { RunConfig } from "../../../server/curriculum/types.ts";
import { issuedToWire, presentAhead } from "../../../server/rpc/curriculum/write-tasks.ts";
import type { ServiceDeps } from "../../../server/rpc/deps.ts";
import { signingKey } from "../../../server/tasks/keyring.ts";
import { createMaker } from "../../../server/tasks/making/make.ts";
import { runSlice } from "../../../server/tasks/making/make-slice.ts";
import type { WorkerPool } from "../../../server/tasks/making/workers.ts";
import { createScorer } from "../../../server/tasks/scoring/scorer.ts";
import type { TaskSpec } from "../../../server/tasks/spec.ts";
import { registry } from "../../support/registry.ts";

const spec: TaskSpec = {
  environment: "np/tsp",
  version: 2,
  level: "easy",
  parameters: { cities_min: 5, cities_max: 8 },
  rewardScheme: "quality",
  rewardParameters: {},
  answerFormat: "think_answer",
  thinking: "required",
  split: "train",
  source: "synthetic",
  pool: "",
};
const workers: WorkerPool = {
  ready: Promise.resolve(),
  run: async ({ spec: of, seeds }) => {
    const { results } = runSlice(registry, { spec: of, seeds, progress: undefined, sliceMs: Infinity });
    return results;
  },
  load: () => ({ waiting: 0, running: 0 }),
  close: async () => undefined,
};

/** Returns the parts of a server that make messages, and tasks of a run. */
async function setUp() {
  const keyring = [signingKey(randomBytes(32))] as const;
  const pools = new Map<string, never>();
  const maker = createMaker({ workers, registry, pools });
  const onFailure = (error: unknown): void => {
    throw error;
  };
  const scorer = createScorer({ registry, pools, keyring, completionBytesMax: 1000, onFailure });
  const deps = { keyring, registry, pools, maker, scorer } as unknown as ServiceDeps;
  const results = await maker.make(spec, [1n, 2n, 3n], { caller: "test" });
  const tasks = results.map((result, cursor): IssuedTask<TaskKey> => {
    if (result.kind !== "made") throw new Error(result.kind);
    const place = { cursor, arm: 0, ordinal: cursor, repeat: false, incarnation: "i", epoch: 0, batch: 0 };
    return { ...place, probability: 0.25, numGenerations: 4, key: result.task.key };
  });
  return { deps, tasks };
}

const config = (more: Partial<RunConfig<TaskSpec>> = {}) =>
  ({ arms: [{ id: "tsp", spec }], feedbackSource: "step", ...more }) as unknown as RunConfig<TaskSpec>;

test("a message made ahead is the one that is issued, and was encoded", async () => {
  const { deps, tasks } = await setUp();
  const fresh = await issuedToWire(deps, "run", tasks, config());
  expect(fresh.some((message) => encodedAhead.has(message))).toBe(false);
  await presentAhead(deps, "run", tasks.slice(1), config());
  const issued = await issuedToWire(deps, "run", tasks, config());
  expect(issued).toEqual(fresh);
  expect(issued.map((message) => encodedAhead.has(message))).toEqual([false, true, true]);
  expect(fromBinary(TaskSchema, encodedAhead.get(issued[1] as object) as Uint8Array)).toEqual(fresh[1]);
  // A message is issued once, so that it takes no memory afterwards.
  const again = await issuedToWire(deps, "run", tasks, config());
  expect(again.some((message) => encodedAhead.has(message))).toBe(false);
});

test.each<[string, Partial<IssuedTask<TaskKey>>, Partial<RunConfig<TaskSpec>>]>([
  ["another probability", { probability: 0.5 }, {}],
  ["another cursor", { cursor: 7 }, {}],
  ["another epoch", { epoch: 1 }, {}],
  ["another template", {}, { promptTemplate: { system: "Be brief.", user: "" } }],
])("a message made ahead is not issued with %s", async (_, changes, template) => {
  const { deps, tasks } = await setUp();
  await presentAhead(deps, "run", tasks, config());
  const changed = tasks.map((task) => ({ ...task, ...changes }));
  const issued = await issuedToWire(deps, "run", changed, config(template));
  expect(issued.some((message) => encodedAhead.has(message))).toBe(false);
  expect(issued).toEqual(await issuedToWire(deps, "run", changed, config(template)));
});
