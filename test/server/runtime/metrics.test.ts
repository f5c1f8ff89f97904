/** Counts in Prometheus's text format. */
import { Gauge } from "prom-client";
import { expect, test } from "vitest";
import { createMetrics } from "../../../server/runtime/metrics.ts";

/** The values of one metric by its labels. */
function valuesOf(text: string, name: string): Readonly<Record<string, number>> {
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

test("calls are counted by method and code, with their bytes", async () => {
  const metrics = createMetrics();
  const step = metrics.meter("S/Step");
  for (const code of ["OK", "OK", "INVALID_ARGUMENT"]) {
    step.started();
    step.finished(code, 0.002, 10, 5);
  }
  const text = await metrics.text();
  expect(valuesOf(text, "gradus_calls_total")).toEqual({
    '{method="S/Step",code="OK"}': 2,
    '{method="S/Step",code="INVALID_ARGUMENT"}': 1,
  });
  expect(valuesOf(text, "gradus_request_bytes_total")['{method="S/Step",code="OK"}']).toBe(20);
  expect(valuesOf(text, "gradus_response_bytes_total")['{method="S/Step",code="INVALID_ARGUMENT"}']).toBe(5);
});

test("durations fall into cumulative buckets, each bound included", async () => {
  const metrics = createMetrics();
  const meter = metrics.meter("S/M");
  const seconds = [0.00005, 0.001, 0.0011, 4, 100];
  for (const duration of seconds) {
    meter.started();
    meter.finished("OK", duration, 0, 0);
  }
  const text = await metrics.text();
  const buckets = valuesOf(text, "gradus_call_duration_seconds_bucket");
  const below = (le: string) => buckets[`{method="S/M",le="${le}"}`];
  expect(["0.0001", "0.0005", "0.001", "0.0025", "5", "30", "+Inf"].map(below)).toEqual([1, 1, 2, 3, 4, 4, 5]);
  expect(valuesOf(text, "gradus_call_duration_seconds_count")).toEqual({ '{method="S/M"}': 5 });
  const sum = valuesOf(text, "gradus_call_duration_seconds_sum")['{method="S/M"}'];
  expect(sum).toBeCloseTo(seconds.reduce((a, b) => a + b));
});

test("calls in progress go up and down, and one method has one meter", async () => {
  const metrics = createMetrics();
  metrics.meter("S/M").started();
  metrics.meter("S/M").started();
  metrics.meter("S/M").finished("OK", 1, 0, 0);
  expect(valuesOf(await metrics.text(), "gradus_calls_in_progress")).toEqual({ '{method="S/M"}': 1 });
});

test("other parts of the server add theirs to the registry", async () => {
  const metrics = createMetrics();
  new Gauge({
    name: "gradus_queue",
    help: "Jobs.",
    registers: [metrics.registry],
    collect() {
      this.set(3);
    },
  });
  expect(valuesOf(await metrics.text(), "gradus_queue")).toEqual({ "": 3 });
});
