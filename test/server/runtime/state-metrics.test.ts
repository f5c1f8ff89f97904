/** Stores, resources and the certificate in Prometheus's text. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createHealth } from "../../../server/runtime/health.ts";
import { createMetrics } from "../../../server/runtime/metrics.ts";
import { registerState } from "../../../server/runtime/state-metrics.ts";

const gauges = (text: string): readonly string[] =>
  text.split("\n").filter((line) => /^gradus_(store|resource|tls)/.test(line));

test("a store that fails and comes back, and what a resource is at", async () => {
  const metrics = createMetrics();
  const health = createHealth();
  const judge = { name: "judge", running: 2, waiting: 3, down: false };
  registerState(metrics.registry, { health, resources: () => [judge], certificate: undefined });

  health.set("runs", undefined);
  health.set("evaluations", "the disk is full");
  // These are no stores: an alert on stores must not fire for them.
  for (const part of ["keys", "mounts", "pools", "resources"]) health.set(part, "not ready");
  expect(gauges(await metrics.text())).toEqual([
    'gradus_store_down{store="runs"} 0',
    'gradus_store_down{store="evaluations"} 1',
    'gradus_resource_down{resource="judge"} 0',
    'gradus_resource_running{resource="judge"} 2',
    'gradus_resource_waiting{resource="judge"} 3',
  ]);

  health.set("evaluations", undefined);
  judge.down = true;
  const after = gauges(await metrics.text());
  expect(after).toContain('gradus_store_down{store="evaluations"} 0');
  expect(after).toContain('gradus_resource_down{resource="judge"} 1');
});

test("a certificate's end is Unix time, of the first certificate of the chain", async () => {
  const metrics = createMetrics();
  const certificate = ["server.crt", "ca.crt"].map((name) => readFileSync(`test/server/transport/tls/${name}`, "utf8"));
  registerState(metrics.registry, { health: createHealth(), resources: () => [], certificate: certificate.join("") });
  const [line = ""] = gauges(await metrics.text());
  const [name, value] = line.split(" ");
  expect(name).toBe("gradus_tls_certificate_expiry_timestamp_seconds");
  expect(new Date(Number(value) * 1000)).toEqual(new X509Certificate(certificate[0] ?? "").validToDate);
});

test("health is told of once, when it changes", () => {
  const health = createHealth();
  const told: (string | undefined)[] = [];
  health.onChange((problem) => told.push(problem));
  health.set("runs", undefined);
  health.set("runs", "a");
  health.set("evaluations", "b");
  health.set("runs", undefined);
  health.set("evaluations", undefined);
  expect(told).toEqual(["a", undefined]);
});
