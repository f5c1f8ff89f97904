/** Curriculum RLOO (003 3.2) on the pool that ships: stages of all of a run's rows, ranked by their solutions. */
import { describe, expect, test } from "vitest";
import { countdown } from "../../../../envs/countdown/index.ts";
import { placesOf, type Pool, rowCount, rowOf } from "../../../../envs/pool.ts";
import type { TaskKey } from "../../../../envs/origin.ts";
import { createRegistry } from "../../../../envs/registry.ts";
import { createRuns, type Runs } from "../../../../server/runs/runs.ts";
import type { IssuedTask } from "../../../../server/curriculum/batches.ts";
import type { Arm, RankRange } from "../../../../server/curriculum/types.ts";
import { createMaker } from "../../../../server/tasks/making/make.ts";
import { createRunRanks } from "../../../../server/tasks/making/run-ranks.ts";
import { createRunSource } from "../../../../server/tasks/making/run-source.ts";
import { shippedPools } from "../../../../server/rows/shipped.ts";
import { countRanks } from "../../../../server/rpc/curriculum/rank-ranges.ts";
import { memoryStore } from "../../../../server/stores/memory.ts";
import type { TaskSpec } from "../../../../server/tasks/spec.ts";
import { arm, fakeClock, mixturePolicy, runConfig, stage, stagedPolicy, value } from "../../curriculum/support.ts";

const registry = createRegistry([countdown]);
const pools = shippedPools(registry);
const pool = pools.get("countdown") as Pool;
const deps = { pools, ranks: createRunRanks(pools) };

const specOf = (level: string, source: TaskSpec["source"] = "real"): TaskSpec => ({
  environment: "countdown",
  version: 1,
  level,
  parameters: {},
  split: "train",
  source,
  pool: "countdown",
  answerFormat: "answer_tag",
  thinking: "stripped",
  rewardScheme: "graded",
  rewardParameters: {},
});
const armOf = (level: string, more: Partial<Arm<TaskSpec>> = {}): Arm<TaskSpec> => ({
  ...arm(`real/${level}`, { source: "real" }),
  spec: specOf(level),
  ...more,
});
const LEVELS = ["T0", "T1", "T2", "T3"] as const;
const arms = LEVELS.map((level) => armOf(level));
const slice = (max: number, more: Partial<RankRange> = {}): RankRange => ({ min: 0, max, ...more });
const rloo = stagedPolicy(
  stage({ kind: "share", share: 0.3 }, {}, slice(0.3)),
  stage({ kind: "share", share: 0.4 }, {}, slice(0.7)),
  stage({ kind: "share", share: 0.3 }, {}, slice(1, { by: "solutions" })),
);

/** Rows of all four tiers, the easiest first, ranked without the code that is tested: by their numbers in the file. */
const ordered = LEVELS.flatMap((level) => [...placesOf(pool, level, "train")])
  .map((place) => rowOf(pool, place))
  .map(({ instance, hash, index }) => ({ by: countdown.rows?.difficulty?.of(instance as never) ?? NaN, hash, index }))
  .sort((a, b) => a.by - b.by || (a.hash < b.hash ? -1 : 1));

function easiest(share: number): ReadonlySet<number> {
  return new Set(ordered.slice(0, Math.ceil(share * ordered.length)).map(({ index }) => index));
}

async function drawnTasks(given: readonly Arm<TaskSpec>[], length: number): Promise<readonly IssuedTask<TaskKey>[]> {
  const workers = { ready: Promise.resolve(), run: () => Promise.reject(new Error("rows need no worker")) };
  const maker = createMaker({ registry, pools, workers: workers as never });
  const runs: Runs<TaskSpec, TaskKey> = createRuns({
    store: memoryStore(),
    source: createRunSource(maker, deps.ranks),
    clock: fakeClock(),
    newIncarnation: () => "one",
  });
  const config = { ...runConfig({ length, promptsPerUpdate: 50, seed: 3n }), arms: given, evaluationArms: [] };
  value(await runs.create("run", { ...config, policy: countRanks(deps, rloo, given) }));
  const tasks: IssuedTask<TaskKey>[] = [];
  while (tasks.length < length) {
    const wanted = { cursor: tasks.length, count: 50, waitMs: 0, signal: new AbortController().signal };
    tasks.push(...value(await runs.nextBatch("run", wanted)).tasks);
  }
  runs.close();
  return tasks;
}

const rowIn = ({ key: { origin } }: IssuedTask<TaskKey>): number => (origin.kind === "row" ? origin.row : -1);

describe("stages of all of a run's rows", () => {
  test("draw from the easiest 30% alone, then from 70%, each arm by its rows there times its weight", async () => {
    const weighted = arms.map((each, i) => (i === 1 ? { ...each, weight: 2 } : each));
    const tasks = await drawnTasks(weighted, 3000);
    for (const [share, from, to] of [
      [0.3, 0, 900],
      [0.7, 900, 2100],
      [1, 2100, 3000],
    ] as const) {
      const within = easiest(share);
      const drawn = tasks.slice(from, to);
      expect(drawn.every((task) => within.has(rowIn(task)))).toBe(true);
      const rows = LEVELS.map((level) => [...placesOf(pool, level, "train")].map((place) => rowOf(pool, place).index));
      const masses = weighted.map(({ weight }, i) => weight * rows[i]!.filter((row) => within.has(row)).length);
      const total = masses.reduce((sum, mass) => sum + mass, 0);
      for (const [i, mass] of masses.entries()) {
        const [p, n] = [mass / total, drawn.length];
        const got = drawn.filter((task) => task.arm === i).length / n;
        expect(Math.abs(got - p)).toBeLessThanOrEqual(3 * Math.sqrt((p * (1 - p)) / n));
        if (mass === 0) expect(got).toBe(0);
      }
    }
  });

  test("say what rows are ranked by, and how many each arm has in them; the arms' rows are all of the slice", () => {
    const [first] = (countRanks(deps, rloo, arms).config as { stages: readonly { ranks: RankRange }[] }).stages;
    expect(first?.ranks.by).toBe("solutions");
    const counts = Object.values(first?.ranks.rows ?? {});
    const total = LEVELS.reduce((sum, level) => sum + rowCount(pool, level, "train"), 0);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(Math.ceil(0.3 * total));
  });

  test("rank the rows of a named group among themselves, and those that two arms share once", () => {
    const apart = arms.map((each) => ({ ...each, rankGroup: each.id }));
    const rows = (given: readonly Arm<TaskSpec>[]) =>
      (countRanks(deps, rloo, given).config as { stages: readonly { ranks: RankRange }[] }).stages[0]?.ranks.rows ?? {};
    for (const level of LEVELS)
      expect(rows(apart)[`real/${level}`]).toBe(Math.ceil(0.3 * rowCount(pool, level, "train")));
    const twice = [...arms, armOf("T0", { id: "again" })];
    expect(rows(twice)).toEqual({ ...rows(arms), again: rows(arms)["real/T0"] });
    const removed = [...arms.slice(0, 2), ...arms.slice(2).map((each) => ({ ...each, removed: true }))];
    expect(rows(removed)).toEqual(rows(arms.slice(0, 2)));
  });
});

describe("a range of ranks is refused", () => {
  const refusal = (given: readonly Arm<TaskSpec>[], policy = rloo): string => {
    try {
      countRanks(deps, policy, given, "config.");
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };

  test("for an arm that draws no rows", () => {
    const made = armOf("T0", { id: "made", source: "synthetic", spec: specOf("T0", "synthetic") });
    expect(refusal([...arms, made])).toContain("config.policy.staged.stages[0].ranks: arm 'made' draws no rows");
    const filter = { skipSolved: false, skipFailedAfter: 0, ranks: slice(0.5) };
    expect(refusal([...arms, made], { ...mixturePolicy(), filter })).toBe("");
    expect(refusal([made], { ...mixturePolicy(), filter })).toContain("none of its arms draws rows");
  });

  test("that is by another measure than is asked for, and where no row lies in it", () => {
    const by = stagedPolicy(stage({ kind: "open" }, {}, slice(0.3, { by: "pass_rate" })));
    expect(refusal(arms, by)).toContain("is ranked by 'solutions', and not by 'pass_rate'");
    expect(refusal(arms, stagedPolicy(stage({ kind: "open" }, {}, slice(0.3, { by: "solutions" }))))).toBe("");
    const narrow = stagedPolicy(stage({ kind: "open" }, {}, { min: 0.30001, max: 0.30002 }));
    expect(refusal(arms, narrow)).toContain("no row of its arms has a rank in the range");
  });
});
