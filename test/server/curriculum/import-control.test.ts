/** ImportRun puts the learned state back, and leaves the control that operators gave the run since the export. */
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { definitionOf } from "../../../server/curriculum/policies/registry.ts";
import { follow } from "../../support/follow.ts";
import { encodeState } from "../../../server/curriculum/state-codec.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import { policyExamples } from "./policy-examples.ts";
import {
  adscArms,
  answer,
  arm,
  ask,
  banditPolicy,
  bench,
  codecs,
  freshTasks,
  incarnations,
  kindOf,
  mixturePolicy,
  runConfig,
  type Runs,
  stage,
  stagedPolicy,
  train,
  value,
} from "./support.ts";

async function eventsOf(store: Store, runId = "run") {
  return (await store.read((await store.find(runId))?.key ?? -1, 0)) ?? [];
}

/** Returns a run that was exported after two update batches, and trained for three more. */
async function checkpointed(more: Parameters<typeof runConfig>[0] = {}) {
  const store = memoryStore();
  const { runs } = bench({ store, source: freshTasks });
  const config = runConfig(more);
  value(await runs.create("run", config));
  await train(runs, "run", 2);
  const { state: checkpoint } = value(await runs.export("run"));
  const cursor = 2 * config.promptsPerUpdate;
  await train(runs, "run", 3, cursor);
  return { runs, store, checkpoint, cursor, config };
}

const stateOf = async (runs: Runs) => value(await runs.get("run")).state;

/** Trains the run, and returns its draws without the run's id. */
async function drawsOf(runs: Runs, batches: number, from: number) {
  const { tasks } = await train(runs, "run", batches, from);
  return tasks.map(({ arm: of, ordinal, key, probability, numGenerations }) => [
    ...[of, ordinal, key.hash, key.name],
    ...[probability, numGenerations],
  ]);
}

/** Writes a note and changes the tags of the run. */
const annotate = async (runs: Runs, note: string, addTags: readonly string[], removeTags: readonly string[] = []) =>
  value(await runs.annotate("run", { note, addTags, removeTags }, "ops"));

describe("notes and tags", () => {
  test("stay at an import in place, unless the control is restored, and an import as a new run has the export's", async () => {
    const { runs, cursor } = await checkpointed();
    await annotate(runs, "before", ["one"]);
    const { state: exported } = value(await runs.export("run"));
    await annotate(runs, "after", ["two"], ["one"]);
    value(await runs.import(exported, undefined));
    expect(await stateOf(runs)).toMatchObject({ note: "after", tags: ["two"] });
    value(await runs.import(exported, "copy"));
    expect(value(await runs.get("copy")).state).toMatchObject({ note: "before", tags: ["one"] });
    value(await runs.import(exported, undefined, undefined, true));
    expect(await stateOf(runs)).toMatchObject({ note: "before", tags: ["one"] });
    expect(cursor).toBeGreaterThan(0);
  });

  test("change no draw, whenever they are written", async () => {
    const [plain, described] = [await checkpointed(), await checkpointed()];
    const from = 5 * plain.config.promptsPerUpdate;
    await annotate(described.runs, "a note", ["one", "two"]);
    const first = await drawsOf(described.runs, 2, from);
    await annotate(described.runs, "", ["three"], ["one"]);
    const second = await drawsOf(described.runs, 2, from + 2 * plain.config.promptsPerUpdate);
    expect([...first, ...second]).toEqual(await drawsOf(plain.runs, 4, from));
  });
});

type Change = (runs: Runs) => Promise<unknown>;

const changes: Readonly<Record<string, Change>> = {
  weights: async (runs) => value(await runs.setWeights("run", { a: 3, b: 0 })),
  "another policy": async (runs) => value(await runs.updatePolicy("run", mixturePolicy())),
  "the same policy with other parameters": async (runs) =>
    value(await runs.updatePolicy("run", banditPolicy({ epsilon: 0.5 }))),
  "the length": async (runs) => value(await shaped(runs, { length: 60 })),
  "the size of groups and of update batches": async (runs) =>
    value(await shaped(runs, { numGenerations: 2, promptsPerUpdate: 4 })),
  "an arm that comes": async (runs) => value(await shaped(runs, { addArms: [arm("d")] })),
  "an arm that goes": async (runs) => value(await shaped(runs, { removeArms: ["b"] })),
  "an arm that comes, one that goes, and a policy": async (runs) =>
    value(await shaped(runs, { addArms: [arm("d")], removeArms: ["a"], policy: banditPolicy({ tau: 0.5 }) })),
};

function shaped(runs: Runs, more: Partial<Parameters<Runs["updateShape"]>[1]>) {
  const same = { numGenerations: undefined, promptsPerUpdate: undefined, length: undefined, policy: undefined };
  return runs.updateShape("run", { addArms: [], removeArms: [], ...same, ...more }, "ops");
}

describe.each(Object.entries(changes))("after the export an operator changed %s", (_, change) => {
  test("the import leaves it in force, from the restored cursor, as if it were made there", async () => {
    const { runs, checkpoint, cursor } = await checkpointed();
    await change(runs);
    const before = await stateOf(runs);
    value(await runs.import(checkpoint, undefined));
    const after = await stateOf(runs);
    expect([after.cursor, after.epoch, after.shape]).toEqual([cursor, 1, before.shape]);
    expect(after.policy).toEqual(before.policy);
    expect(after.arms.map(({ armId, weight, removed }) => [armId, weight, removed])).toEqual(
      before.arms.map(({ armId, weight, removed }) => [armId, weight, removed]),
    );
    const twin = await checkpointed();
    value(await twin.runs.import(twin.checkpoint, undefined));
    await change(twin.runs);
    expect(await drawsOf(runs, 4, cursor)).toEqual(await drawsOf(twin.runs, 4, cursor));
  });

  test("the history calls the draws rolled back, and the change not", async () => {
    const { runs, checkpoint } = await checkpointed();
    await change(runs);
    value(await runs.import(checkpoint, undefined));
    const { items } = value(await runs.history("run", 0, 100));
    const undone = items.map((item) => [item.kind === "control" ? item.control : item.kind, item.rolledBack]);
    expect(undone).toEqual([
      ...[false, false, true, true, true].map((rolledBack) => ["batch", rolledBack]),
      [expect.stringMatching(/^(weights|policy|shape)$/), false],
      ["import", false],
    ]);
  });

  test("restoreControl undoes it, and the history says so", async () => {
    const { runs, checkpoint, cursor } = await checkpointed();
    await change(runs);
    value(await runs.import(checkpoint, undefined, "ops", true));
    const { items } = value(await runs.history("run", 0, 100));
    expect(items.map(({ rolledBack }) => rolledBack)).toEqual([false, false, true, true, true, true, false]);
    // A second trainer's import leaves the control that the operator restored.
    value(await runs.import(checkpoint, undefined));
    expect(value(await runs.history("run", 0, 100)).items[5]?.rolledBack).toBe(true);
    const twin = await checkpointed();
    expect(await drawsOf(runs, 3, cursor)).toEqual(await drawsOf(twin.runs, 3, cursor));
  });

  test("the journal leads to the same state, to the bit, here and on another server", async () => {
    const { runs, store, checkpoint, cursor } = await checkpointed();
    await change(runs);
    value(await runs.import(checkpoint, undefined));
    await train(runs, "run", 2, cursor);
    const events = await eventsOf(store);
    expect(events.map(kindOf)).toContain("restored");
    const replayed = follow(undefined, events, codecs);
    if (replayed === undefined) throw new Error("an empty journal");
    // An export is the state as the server has it, with the checksum of its last event, and the history behind it.
    const journal = await store.checksum((await store.find("run"))?.key ?? -1, events.length);
    const bytes = Buffer.concat([...encodeState(replayed, codecs, journal)]);
    const exported = gunzipSync(value(await runs.export("run")).state);
    expect(exported.subarray(0, bytes.length).equals(bytes)).toBe(true);
    const other = bench({ store, newIncarnation: incarnations("other") }).runs;
    expect(await stateOf(other)).toEqual(await stateOf(runs));
    const { tasks } = value(await ask(runs, "run", cursor + 12, 4));
    expect(value(await ask(other, "run", cursor + 12, 4)).tasks).toEqual(tasks);
  });
});

describe("a pause", () => {
  test.each(["paused", "resumed"])("after the export stays: %s", async (now) => {
    const { runs, checkpoint, cursor } = await checkpointed();
    value(await runs.pause("run", "ops"));
    if (now === "resumed") value(await runs.resume("run", "ops"));
    value(await runs.import(checkpoint, undefined));
    expect(await stateOf(runs)).toMatchObject({ paused: now === "paused", pausedBy: now === "paused" ? "ops" : "" });
    if (now === "paused") value(await runs.resume("run"));
    expect(value(await ask(runs, "run", cursor, 6)).tasks).toHaveLength(6);
  });

  test("during which the export was written does not come back", async () => {
    const { runs } = await checkpointed();
    value(await runs.pause("run", "ops"));
    const { state: checkpoint } = value(await runs.export("run"));
    value(await runs.import(checkpoint, undefined));
    expect(await stateOf(runs)).toMatchObject({ paused: true, pausedBy: "ops", pausedAtMs: 1_000_000 });
    value(await runs.resume("run", "ops"));
    value(await runs.import(checkpoint, undefined));
    expect((await stateOf(runs)).paused).toBe(false);
    expect(value(await ask(runs, "run", 30, 6)).tasks).toHaveLength(6);
    // The operator who asks for the export's control gets its pause, too.
    value(await runs.import(checkpoint, undefined, "ops", true));
    expect(await stateOf(runs)).toMatchObject({ paused: true, pausedBy: "ops", pausedAtMs: 1_000_000 });
  });

  test.each([false, true])(
    "is never a new run's, whoever paused the exported one (restoreControl %s)",
    async (restore) => {
      const { runs, store } = await checkpointed();
      value(await runs.setWeights("run", { a: 5 }));
      value(await runs.pause("run", "ops"));
      const { state: checkpoint } = value(await runs.export("run"));
      const { run } = value(await runs.import(checkpoint, "copy", "tim", restore));
      expect([run.state.paused, run.state.arms[0]?.weight]).toEqual([false, 5]);
      expect((await eventsOf(store, "copy")).map(kindOf)).toEqual(["imported", "resumed"]);
      expect(value(await ask(runs, "copy", 30, 6)).tasks).toHaveLength(6);
      // If the run was deleted meanwhile, the import brings the export's control, too.
      value(await runs.remove("run"));
      expect(value(await runs.import(checkpoint, undefined)).run.state.paused).toBe(false);
    },
  );
});

describe("arms match by id", () => {
  test("one that was removed stays removed and begins empty, whatever was open of it; a new one begins empty", async () => {
    const { runs, checkpoint, cursor } = await checkpointed();
    value(await shaped(runs, { addArms: [arm("d")], removeArms: ["b"] }));
    await train(runs, "run", 3, 30);
    value(await runs.import(checkpoint, undefined));
    const { arms } = await stateOf(runs);
    expect(arms[1]).toMatchObject({ armId: "b", removed: true, weight: 0, issued: 0, groups: 0 });
    expect(arms[3]).toMatchObject({ armId: "d", removed: false, weight: 1, issued: 0, groups: 0 });
    expect(arms[0]?.issued).toBeGreaterThan(0);
    const drawn = await drawsOf(runs, 6, cursor);
    expect([...new Set(drawn.map(([of]) => of))].sort()).toEqual([0, 2, 3]);
  });

  test("of a run that was created anew with others, in another order", async () => {
    const { runs, checkpoint, cursor } = await checkpointed();
    const learned = value(await runs.import(checkpoint, "copy")).run.state.arms;
    value(await runs.remove("run"));
    value(await runs.create("run", runConfig({ arms: [arm("c", { weight: 4 }), arm("d"), arm("a")] })));
    value(await runs.import(checkpoint, undefined));
    const { arms } = await stateOf(runs);
    expect(arms.map(({ armId, weight, removed }) => [armId, weight, removed])).toEqual([
      ["a", 1, false],
      ["b", 0, true],
      ["c", 4, false],
      ["d", 1, false],
    ]);
    expect([arms[0]?.issued, arms[2]?.issued]).toEqual([learned[0]?.issued, learned[2]?.issued]);
    expect([arms[0]?.value, arms[2]?.value]).toEqual([learned[0]?.value, learned[2]?.value]);
    expect(value(await ask(runs, "run", cursor, 6)).tasks.every((task) => task.arm !== 1)).toBe(true);
    // The trainer's configuration is still that of the run.
    const again = runConfig({ arms: [arm("c", { weight: 4 }), arm("d"), arm("a")] });
    expect(value(await runs.create("run", again)).created).toBe(false);
  });

  test("one of the same id with other tasks is refused before any change, naming both", async () => {
    const { runs, checkpoint } = await checkpointed();
    value(await runs.remove("run"));
    const other = runConfig({ arms: [arm("a"), arm("b", { spec: { id: "another" } }), arm("c")] });
    value(await runs.create("run", other));
    const before = await stateOf(runs);
    expect(await runs.import(checkpoint, undefined)).toEqual({
      kind: "failed_precondition",
      message:
        'arm "b" has id "b" in the export but "another" in the run: import it under another run id, or with restore_control',
    });
    expect(await stateOf(runs)).toEqual(before);
    expect(value(await runs.import(checkpoint, undefined, "ops", true)).run.state.cursor).toBe(12);
  });
});

test("open groups keep their number of generations", async () => {
  const { runs } = bench();
  value(await runs.create("run", runConfig()));
  await train(runs, "run", 1);
  const { tasks } = value(await ask(runs, "run", 6, 6));
  await answer(runs, "run", tasks.slice(0, 4));
  const { state: checkpoint } = value(await runs.export("run"));
  value(await shaped(runs, { numGenerations: 2 }));
  const { outstanding } = value(await runs.import(checkpoint, undefined));
  expect(outstanding.map(({ numGenerations }) => numGenerations)).toEqual([4, 4]);
  expect(value(await ask(runs, "run", 12, 6)).tasks.map(({ numGenerations }) => numGenerations)).toEqual(
    new Array(6).fill(2),
  );
});

describe("what Advance reached", () => {
  const advancing = policyExamples.filter(({ policy }) => definitionOf(policy).advance !== undefined);
  const config = { arms: adscArms, promptsPerUpdate: 16, numGenerations: 2, length: 320 } as const;

  test("every policy with phases is among the examples", () => {
    expect(new Set(advancing.map(({ policy }) => policy.kind))).toEqual(
      new Set(["staged", "replay", "competence", "forgetting"]),
    );
  });

  test.each(advancing)("stays reached: $name", async ({ policy }) => {
    const { runs, checkpoint, cursor } = await checkpointed({ ...config, policy });
    await runs.advance("run", "ops");
    await runs.advance("run", "ops");
    value(await runs.import(checkpoint, undefined));
    // The twin did the same without an import: it is advanced to the place to which the other was restored.
    const twin = await checkpointed({ ...config, policy });
    const reached = placeIn(follow(undefined, await eventsOf((await both(policy)).store), codecs));
    value(await twin.runs.import(twin.checkpoint, undefined));
    while (placeIn(follow(undefined, await eventsOf(twin.store), codecs)) < reached)
      value(await twin.runs.advance("run"));
    expect(await drawsOf(runs, 6, cursor)).toEqual(await drawsOf(twin.runs, 6, cursor));
    // A second import leads no further.
    const place = async () => (await stateOf(runs)).arms.map(({ probability }) => probability);
    value(await runs.import(checkpoint, undefined));
    const once = await place();
    value(await runs.import(checkpoint, undefined));
    expect(await place()).toEqual(once);
  });

  /** The run that was advanced twice, without an import. */
  async function both(policy: Policy) {
    const made = await checkpointed({ ...config, policy });
    await made.runs.advance("run", "ops");
    await made.runs.advance("run", "ops");
    return made;
  }

  function placeIn(state: ReturnType<typeof follow>): number {
    if (state === undefined) throw new Error("an empty journal");
    const { policy, policyState, batchesDrawn: batch, prompts, config: of } = state;
    const progress = { batch, cursor: prompts, length: of.length, size: 16, promptsPerUpdate: 16 };
    return definitionOf(policy).place?.(policy.config, policyState, progress) ?? 0;
  }

  test("but not what the run reached by itself after the export", async () => {
    const stages = stagedPolicy(stage({ kind: "tasks", tasks: 18 }, { a: 1 }), stage({ kind: "open" }, { b: 1 }));
    const { runs, checkpoint, cursor } = await checkpointed({ policy: stages });
    expect((await stateOf(runs)).arms[1]?.probability).toBe(1);
    value(await runs.import(checkpoint, undefined));
    expect(value(await ask(runs, "run", cursor, 6)).tasks.map((task) => task.arm)).toEqual(new Array(6).fill(0));
  });

  test("under a policy that was changed since", async () => {
    const three = (weight: number) =>
      stagedPolicy(
        stage({ kind: "open" }, { a: weight }),
        stage({ kind: "open" }, { b: weight }),
        stage({ kind: "open" }, { c: weight }),
      );
    const { runs, checkpoint, cursor } = await checkpointed({ policy: three(1) });
    value(await runs.advance("run"));
    value(await runs.updatePolicy("run", three(2)));
    value(await runs.import(checkpoint, undefined));
    expect(value(await ask(runs, "run", cursor, 6)).tasks.map((task) => task.arm)).toEqual(new Array(6).fill(1));
  });
});
