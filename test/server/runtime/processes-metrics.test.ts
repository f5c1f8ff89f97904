/** Tests of the metrics of several processes of one server, joined as `gradus serve --processes` does. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { AggregatorRegistry } from "prom-client";
import { expect, test } from "vitest";
import { createCounter, judgeMetrics } from "../../../server/outside/judge/judge-metrics.ts";
import { createMountCounter, mountMetrics } from "../../../server/outside/mounted/mount-metrics.ts";
import { createHealth } from "../../../server/runtime/health.ts";
import { createMetrics } from "../../../server/runtime/metrics.ts";
import { registerSamples } from "../../../server/runtime/sampled-metrics.ts";
import { registerState } from "../../../server/runtime/state-metrics.ts";

const certificate = readFileSync("test/server/transport/tls/server.crt", "utf8");

/** Returns a process without its store and its judge, which judged this share of its canaries right. */
function processOf(rightShare: number) {
  const { registry } = createMetrics();
  const health = createHealth();
  health.set("runs", "the database is away");
  const judge = { name: "judge", running: 2, waiting: 3, down: true };
  registerState(registry, { health, resources: () => [judge], certificate });
  const counter = createCounter(undefined);
  counter.canary("wrong", { rightShare, obeyed: rightShare < 0.5 ? ["orders", "threats"] : [] });
  const mount = createMountCounter("games");
  const figures = () => [mount.figures(() => new Map([["lawful", 3]]))];
  for (const metric of [...judgeMetrics(counter.figures), ...mountMetrics(figures)]) registerSamples(registry, metric);
  return registry;
}

async function together(): Promise<readonly string[]> {
  const processes = [processOf(0.5), processOf(0.25), processOf(0.75)];
  const figures = await Promise.all(processes.map((registry) => registry.getMetricsAsJSON()));
  return (await AggregatorRegistry.aggregate(figures).metrics()).split("\n");
}

test("what is down is down once, however many processes say so: alerts ask for 1", async () => {
  const lines = await together();
  expect(lines).toContain('gradus_store_down{store="runs"} 1');
  expect(lines).toContain('gradus_resource_down{resource="judge"} 1');
  expect(lines).toContain('gradus_mount_levels{mount="games",found="lawful"} 3');
  expect(lines.find((line) => line.startsWith("gradus_build_info{"))).toMatch(/ 1$/);
});

test("a certificate expires when it does, and the judge's share is a share", async () => {
  const lines = await together();
  const endsAt = new X509Certificate(certificate).validToDate.getTime() / 1000;
  expect(lines).toContain(`gradus_tls_certificate_expiry_timestamp_seconds ${endsAt}`);
  expect(lines).toContain("gradus_judge_canaries_right_share 0.5");
  expect(lines).toContain("gradus_judge_obeyed_kinds 2");
});

test("work adds up, and a process that was started again is seen", async () => {
  const lines = await together();
  expect(lines).toContain('gradus_resource_running{resource="judge"} 6');
  expect(lines).toContain('gradus_resource_waiting{resource="judge"} 9');
  expect(lines.some((line) => line.startsWith("process_start_time_seconds "))).toBe(true);
});
