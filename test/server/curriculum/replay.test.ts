/** A cycle of stages, several times, and what its instances are. */
import { describe, expect, test } from "vitest";
import { replay, type ReplayConfig } from "../../../server/curriculum/policies/replay.ts";
import { noConstraints, answer, arm, ask, bench, made, runConfig, sourceOf, stage, train, value } from "./support.ts";

const arms = [arm("easy"), arm("medium"), arm("hard")];
const stages = [
  stage({ kind: "share", share: 0.5 }, { easy: 1 }),
  stage({ kind: "share", share: 0.4 }, { medium: 1 }),
  stage({ kind: "open" }, { hard: 1 }),
];

const config = (more: Partial<ReplayConfig>, length = 60) => {
  const policy = { stages, cycle: { kind: "cycles", cycles: 3 }, instances: "FRESH", ...more } as const;
  return runConfig({
    arms,
    length,
    promptsPerUpdate: 2,
    numGenerations: 2,
    policy: { kind: "replay", config: policy, constraints: noConstraints },
  });
};

/** Each instance of an arm comes twice in a row, so that some are passed over. */
const twins = sourceOf(({ arm: { id }, ordinal }) => made(`${id}/${Math.floor(ordinal / 2)}`));

describe("stages of a cycle", () => {
  test("are E:M:H = 5:4:1 of each cycle, over and over", async () => {
    const { runs } = bench();
    value(await runs.create("run", config({})));
    const { tasks } = await train(runs, "run", 30);
    const cycle = [...new Array<number>(10).fill(0), ...new Array<number>(8).fill(1), 2, 2];
    expect(tasks.map((task) => task.arm)).toEqual([...cycle, ...cycle, ...cycle]);
  });

  test("begin where the sums of their lengths, rounded, end, so that nothing drifts", () => {
    const { policy } = config({ cycle: { kind: "cycles", cycles: 7 } }, 100);
    const at = (cursor: number) => {
      const progress = { batch: cursor, cursor, length: 100, size: 1, promptsPerUpdate: 1 };
      const known = { source: "synthetic", hard: false, weight: 1, issued: 0, groups: 0 } as const;
      const records = arms.map(({ id }) => ({ id, ...known, rewardMean: undefined, solvedShare: undefined }));
      const rng = () => {
        throw new Error("nothing is drawn by chance");
      };
      const view = { progress, arms: records, rng };
      return replay.probabilities(policy.config as ReplayConfig, replay.initial({} as ReplayConfig, 3, 0), view);
    };
    const begins = Array.from({ length: 100 }, (_, cursor) => cursor).filter(
      (cursor) => at(cursor)[0] === 1 && (cursor === 0 || at(cursor - 1)[0] === 0),
    );
    expect(begins).toEqual([0, 14, 29, 43, 57, 71, 86]);
  });

  test("end early by Advance, and after a cycle's last the next begins there", async () => {
    const { runs } = bench();
    value(await runs.create("run", config({})));
    await train(runs, "run", 1);
    value(await runs.advance("run"));
    await train(runs, "run", 1, 2);
    value(await runs.advance("run"));
    await train(runs, "run", 1, 4);
    value(await runs.advance("run"));
    const { tasks } = await train(runs, "run", 6, 6);
    expect(tasks.map((task) => task.arm)).toEqual([...new Array<number>(10).fill(0), 1, 1]);
  });
});

describe("the same instances", () => {
  test("come again in each cycle, task by task, and count as repeats; what a cycle passes over it passes over again", async () => {
    const { runs } = bench({ source: twins });
    value(await runs.create("run", config({ instances: "SAME" })));
    const { tasks } = await train(runs, "run", 30);
    const cycles = [0, 1, 2].map((i) => tasks.slice(20 * i, 20 * (i + 1)));
    const instances = cycles.map((cycle) => cycle.map(({ arm: of, ordinal, key }) => [of, ordinal, key.hash]));
    expect(new Set(cycles[0]?.map(({ key }) => key.hash)).size).toBe(20);
    expect(instances[1]).toEqual(instances[0]);
    expect(instances[2]).toEqual(instances[0]);
    expect(cycles.map((cycle) => cycle.filter(({ repeat }) => repeat).length)).toEqual([0, 20, 20]);
    const { state } = value(await runs.get("run"));
    expect(state.arms.map(({ repeats }) => repeats)).toEqual([20, 16, 4]);
  });

  test("begin with the arms' first also where the policy takes the place of another, and fresh ones never come again", async () => {
    const { runs } = bench();
    value(await runs.create("run", config({})));
    const { tasks: first } = await train(runs, "run", 15);
    expect(new Set(first.map(({ key }) => key.hash)).size).toBe(30);
    value(await runs.updatePolicy("run", config({ instances: "SAME", cycle: { kind: "tasks", tasks: 20 } }).policy));
    const { tasks: second } = await train(runs, "run", 15, 30);
    expect(second.slice(20).map(({ key }) => key)).toEqual(second.slice(0, 10).map(({ key }) => key));
    expect(second.slice(0, 5).map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4]);
  });

  test("go on in the cycle and stage that a new configuration finds", async () => {
    const { runs } = bench();
    value(await runs.create("run", config({ instances: "SAME" })));
    const { tasks } = await train(runs, "run", 7);
    const other = stages.map(({ weights }) => stage({ kind: "open" }, weights));
    value(await runs.updatePolicy("run", config({ instances: "SAME", stages: other }).policy));
    const next = value(await ask(runs, "run", 14, 2)).tasks;
    await answer(runs, "run", next);
    expect(next.map((task) => task.arm)).toEqual([1, 1]);
    expect(next.some(({ key }) => tasks.some((task) => task.key.hash === key.hash))).toBe(false);
  });
});
