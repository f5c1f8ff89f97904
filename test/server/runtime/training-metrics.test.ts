/** Tests of the training metrics in /metrics: outcomes of completions, and the state of runs. */
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { createOutcomeMeter } from "../../../server/runtime/outcome-metrics.ts";
import { ARMS_MAX, registerRuns, type RunFigures, RUNS_MAX } from "../../../server/runtime/run-metrics.ts";
import { openServer } from "../../support/in-process.ts";
import { adscRun, completionsOf } from "../../support/scripted-policy.ts";

function lines(text: string, name: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith(`${name}{`));
}

test("outcomes are counted by task and by what they came to, rewards in cumulative buckets", async () => {
  const registry = new Registry();
  const meter = createOutcomeMeter(registry);
  const kind = { environment: "np/tsp", level: "easy", source: "synthetic" };
  for (const reward of [-2.5, 1.5, 1.6])
    meter(kind).scored(reward < 0 ? "malformed" : "feasible", reward, reward > 1.5);
  meter({ ...kind }).noReward("too_large", "");
  meter(kind).noReward("resource_unavailable", "judge");
  meter(kind).noReward("resource_unavailable", "dictionary");
  meter({ environment: "", level: "", source: "" }).noReward("invalid_task_id", "");
  const text = await registry.metrics();
  const labels = 'environment="np/tsp",level="easy",source="synthetic"';
  expect(lines(text, "gradus_outcomes_total")).toEqual([
    `gradus_outcomes_total{${labels},verdict="malformed"} 1`,
    `gradus_outcomes_total{${labels},verdict="feasible"} 2`,
  ]);
  expect(lines(text, "gradus_no_reward_total")).toEqual([
    `gradus_no_reward_total{${labels},reason="too_large",resource=""} 1`,
    `gradus_no_reward_total{${labels},reason="resource_unavailable",resource="judge"} 1`,
    `gradus_no_reward_total{${labels},reason="resource_unavailable",resource="dictionary"} 1`,
    `gradus_no_reward_total{environment="",level="",source="",reason="invalid_task_id",resource=""} 1`,
  ]);
  expect(lines(text, "gradus_solved_total")[0]).toBe(`gradus_solved_total{${labels}} 1`);
  expect(lines(text, "gradus_reward_count")[0]).toBe(`gradus_reward_count{${labels}} 3`);
  const bucket = (le: string) => `gradus_reward_bucket{${labels},le="${le}"}`;
  expect(text).toContain(`${bucket("-2.5")} 1\n`);
  expect(text).toContain(`${bucket("1.5")} 2\n`);
  expect(text).toContain(`${bucket("+Inf")} 3\n`);
});

function figures(runId: string, arms: number): RunFigures {
  const arm = { probability: 0.5, value: 1, issued: 3, recentSolvedShare: 0.25, recentRewardMean: undefined };
  return {
    runId,
    cursor: 8,
    batchesDrawn: 1,
    groupsOutstanding: 2,
    samplesRecorded: 5,
    usefulShare: 0.25,
    malformed: { samples: 200, malformed: 190 },
    arms: Array.from({ length: arms }, (_, i) => ({ armId: `arm-${i}`, ...arm })),
  };
}

describe("runs", () => {
  test("are few, and so are their arms", async () => {
    const registry = new Registry();
    const asked: number[] = [];
    const runs = Array.from({ length: 6 }, (_, i) => figures(`run-${i}`, 256));
    const recent = async (limit: number) => {
      asked.push(limit);
      return runs;
    };
    registerRuns(registry, { recent, damaged: () => 2 });
    const text = await registry.metrics();
    expect(asked).toEqual([RUNS_MAX]);
    expect(lines(text, "gradus_run_tasks")).toHaveLength(6);
    expect(text).toMatch(/^gradus_runs_damaged 2$/m);
    expect(lines(text, "gradus_run_useful_share")[0]).toBe('gradus_run_useful_share{run="run-0"} 0.25');
    expect(lines(text, "gradus_run_malformed_share")[0]).toBe('gradus_run_malformed_share{run="run-0"} 0.95');
    const probabilities = lines(text, "gradus_arm_probability");
    expect(probabilities).toHaveLength(ARMS_MAX);
    expect(probabilities[0]).toBe('gradus_arm_probability{run="run-0",arm="arm-0"} 0.5');
    expect(lines(text, "gradus_arm_reward_mean")).toEqual([]);
  });

  test("and outcomes are in the server's text, while the trainer trains", async () => {
    await using server = await openServer({ store: "memory" });
    const run = server.client.run("metrics-1");
    await run.create(adscRun());
    const { tasks } = await run.nextBatch();
    await server.client.batchStep(tasks.slice(1).map((task) => completionsOf(task, 4)));
    await server.client.step({ taskId: "no such id", groupId: "g" }, "…");
    const text = await (await fetch(`${server.http}/metrics`)).text();
    expect(text).toContain('gradus_run_tasks{run="metrics-1"} 8\n');
    expect(text).toContain('gradus_run_groups_waiting{run="metrics-1"} 1\n');
    expect(text).toContain('gradus_run_samples{run="metrics-1"} 28\n');
    expect(text).toContain('gradus_arm_probability{run="metrics-1",arm="real/T0"} 0.125\n');
    expect(text).toContain('reason="invalid_task_id",resource=""} 1\n');
    expect(text).toContain('gradus_run_hacking_signs{kind="length_runs_away"} 0\n');
    const scored = lines(text, "gradus_outcomes_total").map((line) => Number(line.split(" ").at(-1)));
    expect(scored.reduce((sum, count) => sum + count, 0)).toBe(28);
    expect(lines(text, "gradus_outcomes_total").every((line) => line.includes('environment="countdown"'))).toBe(true);
  });
});
