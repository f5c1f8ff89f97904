/** Tests of runs with arms that grow: draws, instances by level, restarts, exports, history and control. */
import { describe, expect, test } from "vitest";
import { hashKey } from "../../../envs/lib/rng.ts";
import { readEvent } from "../../../server/curriculum/event-codec.ts";
import { levelOf } from "../../../server/curriculum/growth.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  type Arm,
  arm,
  ask,
  batchesOf,
  bench,
  feedbackFor,
  freshTasks,
  frontierPolicy,
  incarnations,
  made,
  mixturePolicy,
  runConfig,
  type RunConfig,
  type Runs,
  sourceOf,
  type Task,
  value,
} from "./support.ts";

const grow = { axis: "size", start: 6, step: 2, cap: 40, guess: 0 };

function configOf(more: Partial<RunConfig> = {}): RunConfig {
  return runConfig({
    arms: [arm("grown", { grow }), arm("fixed")],
    policy: frontierPolicy(),
    promptsPerUpdate: 8,
    numGenerations: 2,
    ...more,
  });
}

const levelIn = (config: Pick<RunConfig, "arms">, task: Task): number | undefined =>
  levelOf(config.arms[task.arm] as Arm, task.ordinal);

/** Solves a task of a level for certain up to `able`, and never beyond it; the fixed arm by a coin of its hash. */
function rewardOf(config: Pick<RunConfig, "arms">, task: Task, sample: number, able: number): number {
  const level = levelIn(config, task);
  if (level !== undefined) return Number(level <= able);
  return Number.parseInt(hashKey(task.key.hash, sample).slice(0, 2), 16) % 2;
}

/** Trains for some update batches. The student is able to solve one level more with each. */
async function trained(runs: () => Runs, batches: number, from = 0): Promise<readonly Task[]> {
  const { configNow: config } = value(await runs().get("run"));
  const tasks: Task[] = [];
  let cursor = from;
  for (let batch = 0; batch < batches; batch++) {
    const drawn = value(await ask(runs(), "run", cursor, config.promptsPerUpdate));
    const able = Math.floor(cursor / 40);
    const items = drawn.tasks.flatMap((task) =>
      Array.from({ length: config.numGenerations }, (_, sample) =>
        feedbackFor(task, sample, rewardOf(config, task, sample, able)),
      ),
    );
    value(await runs().recordFeedback("run", items));
    tasks.push(...drawn.tasks);
    cursor = drawn.nextCursor;
  }
  return tasks;
}

const growthOf = async (runs: Runs) => value(await runs.get("run")).state.arms[0]?.growth;

test("a run opens levels, and says so in its state and its history", async () => {
  const { runs } = bench();
  value(await runs.create("run", configOf()));
  expect(await growthOf(runs)).toEqual({
    axis: "size",
    cap: 40,
    frontier: 6,
    levels: [{ value: 6, share: 1, success: 0, retired: false }],
  });
  const tasks = await trained(() => runs, 40);
  const growth = await growthOf(runs);
  expect(growth?.frontier).toBeGreaterThanOrEqual(14);
  expect(growth?.levels[0]).toMatchObject({ value: 6, retired: true });
  const frontiers = (await batchesOf(runs, "run")).map((record) => record.frontiers);
  expect(frontiers[0]).toEqual([6, 0]);
  expect(frontiers.at(-1)?.[0]).toBe(growth?.frontier);
  const line = frontiers.map((each) => each?.[0] ?? 0);
  expect(line).toEqual(line.toSorted((a, b) => a - b));
  const drawn = new Set(tasks.map((task) => levelIn(configOf(), task)));
  expect([...drawn].filter((level) => level !== undefined).length).toBeGreaterThan(4);
});

test("a run without growing arms has no frontiers in its history, and its draws are as they were", async () => {
  const { runs } = bench();
  value(await runs.create("run", configOf({ arms: [arm("a"), arm("b")] })));
  await trained(() => runs, 3);
  expect((await batchesOf(runs, "run")).every((record) => !("frontiers" in record))).toBe(true);
});

test("each level counts its instances from 0, without a gap, and no instance comes again", async () => {
  const { runs } = bench();
  value(await runs.create("run", configOf()));
  const tasks = await trained(() => runs, 40);
  const ofLevels = Map.groupBy(
    tasks.filter((task) => task.arm === 0),
    (task) => levelIn(configOf(), task),
  );
  for (const of of ofLevels.values()) expect(of.map(({ ordinal }) => ordinal % 2 ** 32)).toEqual(of.map((_, i) => i));
  expect(new Set(tasks.map(({ key }) => key.hash)).size).toBe(tasks.length);
});

test("an instance that two levels have is drawn once", async () => {
  // Every level makes the same instances, in the same order.
  const source = sourceOf(({ arm: { id }, ordinal }) => made(hashKey(id, ordinal % 2 ** 32).slice(0, 16)));
  const { runs } = bench({ source });
  value(await runs.create("run", configOf()));
  const tasks = (await trained(() => runs, 20)).filter(({ repeat }) => !repeat);
  expect(new Set(tasks.map(({ key }) => key.hash)).size).toBe(tasks.length);
  expect(new Set(tasks.map((task) => levelIn(configOf(), task))).size).toBeGreaterThan(3);
});

test("a run goes on to the bit on another server, and from an export", async () => {
  const calm = bench();
  value(await calm.runs.create("run", configOf()));
  const expected = await trained(() => calm.runs, 40);
  const store = memoryStore();
  let { runs } = bench({ store });
  value(await runs.create("run", configOf()));
  let count = 0;
  // Another server takes each call, and none is told of the others.
  const next = (): Runs => (count++ % 3 === 0 ? (runs = bench({ store }).runs) : runs);
  const first = await trained(next, 20);
  const exported = value(await runs.export("run")).state;
  const other = bench({ newIncarnation: incarnations("other") });
  value(await other.runs.import(exported, undefined));
  const rest = await trained(() => other.runs, 20, 160);
  const plain = ({ incarnation: _i, epoch: _e, ...task }: Task) => task;
  expect([...first, ...rest].map(plain)).toEqual(expected.map(plain));
  expect(await growthOf(other.runs)).toEqual(await growthOf(calm.runs));
});

test("an import restores what was learnt of the levels, and keeps a greater cap", async () => {
  const { runs } = bench();
  value(await runs.create("run", configOf()));
  await trained(() => runs, 10);
  const { state } = value(await runs.export("run"));
  const before = await growthOf(runs);
  await trained(() => runs, 20, 80);
  const greater = { ...grow, cap: 60 };
  value(await runs.updateShape("run", shapeOf([arm("grown", { grow: greater })])));
  value(await runs.import(state, undefined));
  expect(await growthOf(runs)).toEqual({ ...before, cap: 60 });
});

const shapeOf = (growArms: readonly Arm[]) => ({
  addArms: [],
  removeArms: [],
  growArms,
  numGenerations: undefined,
  promptsPerUpdate: undefined,
  length: undefined,
  policy: undefined,
});

describe("control", () => {
  test("Advance with an arm's id opens the next level; others are refused in words", async () => {
    const { runs } = bench();
    value(await runs.create("run", configOf({ arms: [arm("grown", { grow: { ...grow, cap: 8 } }), arm("fixed")] })));
    value(await runs.advance("run", "me", undefined, "grown"));
    expect((await growthOf(runs))?.frontier).toBe(8);
    expect(await runs.advance("run", "me", undefined, "grown")).toEqual({
      kind: "failed_precondition",
      message: 'arm "grown": all levels of the arm are open: raise its cap',
    });
    expect(await runs.advance("run", "me", undefined, "fixed")).toMatchObject({ kind: "invalid", field: "arm_id" });
    expect(await runs.advance("run", "me", undefined, "none")).toMatchObject({ kind: "invalid", field: "arm_id" });
    expect(await runs.advance("run", "me")).toMatchObject({ kind: "failed_precondition" });
    const { items } = value(await runs.history("run", 0, 10));
    expect(items).toMatchObject([{ kind: "control", control: "advance", armId: "grown", by: "me" }]);
  });

  test("a greater cap goes on where the arm was; anything else of the growth must stay", async () => {
    const { runs } = bench();
    value(await runs.create("run", configOf({ arms: [arm("grown", { grow: { ...grow, cap: 8 } }), arm("fixed")] })));
    await trained(() => runs, 20);
    expect((await growthOf(runs))?.frontier).toBe(8);
    const asked = (changed: Partial<typeof grow>) =>
      runs.updateShape("run", shapeOf([arm("grown", { grow: { ...grow, cap: 8, ...changed } })]));
    for (const changed of [{ axis: "other" }, { start: 5 }, { step: 1 }, { cap: 6 }])
      expect(await asked(changed)).toMatchObject({
        kind: "invalid",
        field: `grow_arms["grown"].${Object.keys(changed)[0]}`,
      });
    expect(value(await asked({})).noEffect).toEqual(['the cap of "grown" is already 8']);
    value(await asked({ cap: 40 }));
    await trained(() => runs, 10, 160);
    expect((await growthOf(runs))?.frontier).toBeGreaterThan(8);
  });

  test("weight 0 closes all levels of an arm, and its levels go on where they were", async () => {
    const { runs } = bench();
    value(await runs.create("run", configOf()));
    await trained(() => runs, 10);
    const before = await growthOf(runs);
    value(await runs.setWeights("run", { grown: 0 }));
    const tasks = await trained(() => runs, 4, 80);
    // The batch after the change is drawn already.
    expect(tasks.slice(16).every(({ arm: index }) => index === 1)).toBe(true);
    value(await runs.setWeights("run", { grown: 1 }));
    expect((await growthOf(runs))?.frontier).toBeGreaterThanOrEqual(before?.frontier ?? Infinity);
  });

  test("other policies are refused, at creation and later", async () => {
    const { runs } = bench();
    const words = 'arm "grown" grows, and this policy does not say when levels open';
    const refused = { kind: "invalid", field: "policy.mixture", message: expect.stringContaining(words) as string };
    expect(await runs.create("run", configOf({ policy: mixturePolicy() }))).toMatchObject(refused);
    value(await runs.create("run", configOf()));
    expect(await runs.updatePolicy("run", mixturePolicy())).toMatchObject(refused);
    value(await runs.updateShape("run", { ...shapeOf([]), removeArms: ["grown"], policy: mixturePolicy() }));
  });

  test("arms with rows and too many levels are refused", async () => {
    const { runs } = bench();
    const rows = {
      rows: 10,
      by: { kind: "learnability", sharpness: 6 },
      floor: 0.05,
      kept: 192,
      retireAfter: 0,
    } as const;
    expect(await runs.create("run", configOf({ arms: [arm("grown", { grow, rows })] }))).toMatchObject({
      kind: "invalid",
      field: "arms[0].grow",
    });
    const wide = { ...grow, start: 1, step: 1, cap: 256 };
    const arms = Array.from({ length: 33 }, (_, i) => arm(`a${i}`, { grow: wide }));
    expect(await runs.create("run", configOf({ arms }))).toMatchObject({ kind: "invalid", field: "arms" });
    value(await runs.create("run", configOf({ arms: arms.slice(0, 32) })));
  });
});

test("instances made ahead are those of the levels that are drawn, and solved levels leave none behind", async () => {
  const asked: number[] = [];
  const source = {
    ...freshTasks,
    make: (...given: Parameters<typeof freshTasks.make>) => {
      asked.push(...given[0].flatMap(({ level }) => level ?? []));
      return freshTasks.make(...given);
    },
  };
  const ahead = bench({ source, aheadMax: 64 });
  value(await ahead.runs.create("run", configOf()));
  const tasks = await trained(() => ahead.runs, 40);
  const plain = bench();
  value(await plain.runs.create("run", configOf()));
  expect(tasks).toEqual(await trained(() => plain.runs, 40));
  expect(new Set(asked).size).toBeGreaterThan(4);
});

test("a journal with a growing arm names a source that older servers refuse, and holds changes of the state", async () => {
  const { runs, store } = bench();
  value(await runs.create("run", configOf()));
  await trained(() => runs, 10);
  const events = ((await store.read((await store.find("run"))?.key ?? -1, 0)) ?? []).map(
    (event) => readEvent(event).kind,
  );
  const created = events[0];
  expect(created?.case === "created" && created.value.config?.arms.map(({ source }) => source)).toEqual([
    "growing",
    "synthetic",
  ]);
  const drawn = events.flatMap((kind) => (kind.case === "drawn" ? [kind.value] : []));
  expect(drawn.map(({ policyChanges }) => policyChanges === "")).toEqual(drawn.map((_, i) => i === 0));
});
