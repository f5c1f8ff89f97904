/** Tests of the metrics of several processes, some of which end. */
import { expect, test } from "vitest";
import { createMetrics } from "../../../server/runtime/metrics.ts";
import { createOutcomeMeter } from "../../../server/runtime/outcome-metrics.ts";
import { createProcessesFigures } from "../../../server/runtime/process-metrics.ts";

/** Returns the metrics of a process that took `calls` calls, each with this reward. */
function figuresOf(calls: number, reward: number) {
  const metrics = createMetrics();
  const tally = createOutcomeMeter(metrics.registry)({ environment: "np/tsp", level: "easy", source: "synthetic" });
  const step = metrics.meter("S/Step");
  for (let call = 0; call < calls; call++) {
    step.started();
    step.finished("OK", 0.002, 10, 5);
    tally.scored("feasible", reward, false);
  }
  step.started();
  return metrics.registry.getMetricsAsJSON();
}

test("what an ended process had counted is counted still, and what it was at is not", async () => {
  const figures = createProcessesFigures();
  figures.said(1, await figuresOf(3, -2.5));
  figures.said(2, await figuresOf(4, 1));
  const shown = async () => (await figures.text()).split("\n");
  expect(await shown()).toContain('gradus_calls_in_progress{method="S/Step"} 2');

  figures.ended(1);
  const [calls, sum] = ['gradus_calls_total{method="S/Step",code="OK"} 7', "gradus_reward_sum"];
  expect(await shown()).toContain(calls);
  expect((await shown()).find((line) => line.startsWith(sum))).toMatch(/ -3\.5$/);
  expect(await shown()).toContain('gradus_call_duration_seconds_bucket{method="S/Step",le="+Inf"} 7');
  expect(await shown()).toContain('gradus_calls_in_progress{method="S/Step"} 1');

  // Another process takes its place, and ends before it reported anything.
  figures.ended(3);
  figures.said(4, await figuresOf(2, 1));
  figures.ended(2);
  expect(await shown()).toContain('gradus_calls_total{method="S/Step",code="OK"} 9');
});
