/** Events are read as they were written, to the bit: what is not set is not 0, and 0 is not -0. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type GroupResults, type SampleResult, shared } from "../../../server/curriculum/batches.ts";
import type { RunEvent } from "../../../server/curriculum/events.ts";
import { encodeEvent, eventFrom, readEvent } from "../../../server/curriculum/event-codec.ts";
import type { RunState } from "../../../server/curriculum/state.ts";
import {
  arm,
  banditPolicy,
  codecs,
  forgettingPolicy,
  type Key,
  mixturePolicy,
  runConfig,
  type RunConfig,
  type Spec,
} from "./support.ts";

const policy = mixturePolicy();
const state = { policy, config: runConfig(), batches: [] as RunState<Spec, Key>["batches"] } as RunState<Spec, Key>;

function throughBytes(event: RunEvent<Spec, Key>): RunEvent<Spec, Key> {
  return eventFrom(readEvent(encodeEvent(event, state, codecs)), state, codecs);
}

const whole = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const index = fc.nat({ max: 2 ** 32 - 1 });
const text = fc.string({ unit: "binary" });
const range = fc.tuple(whole, whole);

const result: fc.Arbitrary<SampleResult> = fc.oneof(
  fc.record(
    {
      kind: fc.constant("reward" as const),
      reward: fc.double(),
      solved: fc.boolean(),
      policyVersion: whole,
      scan: fc.record({ length: whole, commitEnd: fc.option(whole), goesOn: fc.boolean() }),
    },
    { requiredKeys: ["kind", "reward", "solved"] },
  ),
  fc.record({ kind: fc.constant("terminal" as const), reason: text }),
);

const results: fc.Arbitrary<GroupResults> = fc
  .record({ cursor: whole, samples: fc.array(fc.tuple(index, text, result)) })
  .map(({ cursor, samples }) => ({
    cursor,
    indices: samples.map(([at]) => at),
    digests: samples.map(([, digest]) => digest),
    results: samples.map(([, , each]) => each),
  }));

const key: fc.Arbitrary<Key> = fc.record(
  { hash: text, name: text, rank: fc.double({ min: 0, max: 1, noNaN: true }).map((rank) => rank + 0) },
  { requiredKeys: ["hash", "name"] },
);

const events: fc.Arbitrary<RunEvent<Spec, Key>> = fc.oneof(
  fc
    .record({
      kind: fc.constant("drawn" as const),
      batch: whole,
      atMs: whole,
      cursor: fc.nat(),
      probabilities: fc.array(fc.double(), { minLength: 1 }),
      policyState: fc.constant(null),
      fold: fc.oneof(
        fc.record({ kind: fc.constant("through" as const), batches: whole }),
        fc.record({ kind: fc.constant("groups" as const), ranges: fc.array(range) }),
      ),
      tasks: fc.array(fc.record({ arm: fc.nat({ max: 2 }), ordinal: whole, repeat: fc.boolean(), key })),
      prompts: index,
      restarts: fc.boolean(),
    })
    .map((drawn) => ({ ...drawn, tasks: drawn.tasks.map((task, i) => ({ ...task, cursor: drawn.cursor + i })) })),
  fc.record({ kind: fc.constant("handedOut" as const), from: whole, through: whole, atMs: whole }),
  fc.record({ kind: fc.constant("feedback" as const), groups: fc.array(results) }),
  fc.record({ kind: fc.constant("evaluated" as const), arm: index, round: whole, tasks: fc.array(results) }),
  fc.record({
    kind: fc.constant("reported" as const),
    groups: fc.array(
      fc.record({ cursor: whole, advantages: fc.array(fc.double()), rewardMean: fc.option(fc.double()) }),
    ),
  }),
  fc.record({ kind: fc.constant("closed" as const), cursors: fc.array(whole), reason: text, cause: text }),
  fc.record({ kind: fc.constant("reopened" as const), cursors: fc.array(whole), atMs: whole }),
  fc.record({ kind: fc.constant("weightsSet" as const), weights: fc.array(fc.double()) }),
  fc.record({ kind: fc.constant("armMasked" as const), arm: index, reason: text }),
  fc.record({ kind: fc.constant("armUnmasked" as const), arm: index }),
  fc.record({ kind: fc.constant("paused" as const), by: text, atMs: whole }),
  fc.constant({ kind: "resumed" }),
  fc.record({ kind: fc.constant("noted" as const), note: text }),
  fc.record({ kind: fc.constant("tagged" as const), tags: fc.array(text) }),
  fc.record({ kind: fc.constant("evaluationOpened" as const), arm: index, round: whole, atMs: whole }),
  fc.constant({ kind: "advanced", policyState: null }),
  fc.record({ kind: fc.constant("advanced" as const), policyState: fc.constant(null), arm: index }),
  fc.constantFrom(banditPolicy(), forgettingPolicy()).map((to) => ({ kind: "policyUpdated", policy: to }) as const),
);

test("events of every kind go through their bytes unchanged", () => {
  // toStrictEqual, by Object.is, tells what is not set from undefined, and 0 from -0.
  fc.assert(
    fc.property(events.map(structuredClone<RunEvent<Spec, Key>>), (event) => {
      expect(throughBytes(event)).toStrictEqual(event);
    }),
    { numRuns: 1000 },
  );
});

const plainest = runConfig({ seed: 0n });
const fullest: RunConfig = {
  ...runConfig(),
  arms: [
    arm("a", { weight: 0, klCoefficient: 0, resource: "", rewardRange: { min: -0.1, max: 1e-300 } }),
    arm("b", { source: "real", hard: true, removed: true, klCoefficient: 0.3, resource: "judge" }),
    arm("c", { source: "teacher" }),
  ],
  seed: 2n ** 64n - 1n,
  length: 2 ** 53 - 1,
  lag: { kind: "unbounded" },
  feedbackSource: "reported",
  groupTimeoutMs: 0,
  dynamicSampling: { oversampleMax: 1.5, alike: "solved" },
  lateFeedback: { batchesMax: 0, weight: 0.1 },
  promptTemplate: { user: "", system: undefined },
  evaluationArms: [{ id: "bench", spec: { id: "b" }, source: "real", tasks: 3, numGenerations: 2 }],
  given: "\u0000 and \u{1F600}",
};

test.each<[string, RunConfig]>([
  ["with nothing set", plainest],
  ["with everything set", fullest],
  ["that waits for no batch", { ...fullest, lag: { kind: "batches", count: 0 } }],
  ["with a system message that is empty", { ...fullest, promptTemplate: { user: "{prompt}", system: "" } }],
])("a configuration %s is read as it was written", (_name, config) => {
  const created = { kind: "created", runId: "run", incarnation: "i0", atMs: 1, config } as const;
  expect(throughBytes(created)).toEqual(created);
  for (const to of [null, policy]) {
    const reshaped = { kind: "reshaped", config, policy: to } as const;
    expect(throughBytes(reshaped)).toEqual(reshaped);
  }
});

test("equal results of a group are one object, and those that differ in anything stay what they are", () => {
  const wrong: SampleResult = { kind: "reward", reward: 0, solved: false };
  const others: readonly (SampleResult | null)[] = [
    null,
    { ...wrong, reward: -0 },
    { ...wrong, policyVersion: 0 },
    { ...wrong, quality: 0 },
    { ...wrong, malformed: 1 },
    { ...wrong, facts: { words: 1 } },
    { ...wrong, scan: { length: 1, commitEnd: null, goesOn: false } },
    { ...wrong, solved: true },
    { kind: "terminal", reason: "judge_failed" },
  ];
  for (const other of others) {
    const before = [wrong, other, { ...wrong }, structuredClone(other)];
    const after = shared(before);
    expect(after).toStrictEqual(before);
    expect([after[2] === after[0], after[3] === after[1], after[0] === after[1]]).toEqual([true, true, false]);
  }
});

test("any results stay what they are", () => {
  const all = fc.array(fc.option(result), { maxLength: 40 });
  fc.assert(fc.property(all, (each) => void expect(shared(each)).toStrictEqual(each)));
});
