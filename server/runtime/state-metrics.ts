/** What an operator is woken for, for Prometheus: stores and resources that cannot be used, and a certificate's end. */
import { X509Certificate } from "node:crypto";
import type { Registry } from "prom-client";
import type { Health } from "./health.ts";
import { registerSamples, type Sample, type SampledMetric } from "./samples.ts";

/** What verifications ask outside of the process, e.g. a sandbox; one that was not asked yet is not among them. */
interface ResourceFigures {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly down: boolean;
}

export interface StateOptions {
  readonly health: Pick<Health, "states">;
  readonly resources: () => readonly ResourceFigures[];
  /** The server's certificate chain in PEM; undefined: no TLS. */
  readonly certificate: string | undefined;
}

export function registerState(registry: Registry, { health, resources, certificate }: StateOptions): void {
  type Together = NonNullable<SampledMetric["together"]>;
  const gauge = (name: string, help: string, together: Together, samples: () => readonly Sample[]): void =>
    registerSamples(registry, { name, help, type: "gauge", together, samples });
  const ofResource = (name: string, help: string, together: Together, value: (of: ResourceFigures) => number): void =>
    gauge(name, help, together, () => resources().map((of) => ({ labels: { resource: of.name }, value: value(of) })));

  gauge(
    "gradus_store_down",
    "1: the store cannot be used, and the server is not ready. A store that was never away is not there.",
    "max",
    () => [...health.states()].map(([store, problem]) => ({ labels: { store }, value: problem === undefined ? 0 : 1 })),
  );
  ofResource("gradus_resource_down", "1: the resource failed, and is not asked for now.", "max", ({ down }) =>
    down ? 1 : 0,
  );
  ofResource("gradus_resource_running", "Completions that the resource works on.", "sum", ({ running }) => running);
  ofResource("gradus_resource_waiting", "Completions that wait for the resource.", "sum", ({ waiting }) => waiting);
  if (certificate === undefined) return;
  const endsAt = new X509Certificate(certificate).validToDate.getTime() / 1000;
  const help = "When the server's certificate expires, Unix time.";
  // A process that was started again may have read a newer one.
  gauge("gradus_tls_certificate_expiry_timestamp_seconds", help, "min", () => [{ labels: {}, value: endsAt }]);
}
