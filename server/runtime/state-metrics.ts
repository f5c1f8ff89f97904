/**
 * Reports to Prometheus the states for which operators set alerts: unusable stores and resources, and the expiry of the
 * certificate.
 */
import { X509Certificate } from "node:crypto";
import type { Registry } from "prom-client";
import { type Health, OTHER_PARTS } from "./health.ts";
import { counter, gauge, one, registerSamples } from "./sampled-metrics.ts";

/**
 * State of an external resource that scoring uses, such as a sandbox. Resources that were never used are
 * not listed.
 */
interface ResourceFigures {
  readonly name: string;
  readonly running: number;
  readonly waiting: number;
  readonly down: boolean;
}

export interface StateOptions {
  readonly health: Pick<Health, "states">;
  readonly resources: () => readonly ResourceFigures[];
  /** Certificate chain of the server in PEM. Undefined: the server does not use TLS. */
  readonly certificate: string | undefined;
}

export function registerState(registry: Registry, { health, resources, certificate }: StateOptions): void {
  const ofResources = (value: (of: ResourceFigures) => number) => () =>
    resources().map((of) => ({ labels: { resource: of.name }, value: value(of) }));
  const stores = () =>
    [...health.states()]
      .filter(([part]) => !(part in OTHER_PARTS))
      .map(([store, problem]) => ({ labels: { store }, value: Number(problem !== undefined) }));
  const keys = "1: this server's task keys differ from those of the other replicas, and it is not ready.";
  const down = ofResources((of) => Number(of.down));
  const running = ofResources((of) => of.running);
  const waiting = ofResources((of) => of.waiting);
  const away = "1: the store cannot be used, and the server is not ready. Stores that never failed are not listed.";
  registerSamples(
    registry,
    gauge("gradus_store_down", away, stores, "max"),
    gauge("gradus_keys_differ", keys, () => one(Number(health.states().get("keys") !== undefined)), "max"),
    gauge("gradus_resource_down", "1: the resource failed, and is not used for now.", down, "max"),
    gauge("gradus_resource_running", "Completions that the resource works on.", running, "sum"),
    gauge("gradus_resource_waiting", "Completions that wait for the resource.", waiting, "sum"),
  );
  if (certificate === undefined) return;
  const endsAt = new X509Certificate(certificate).validToDate.getTime() / 1000;
  const name = "gradus_tls_certificate_expiry_timestamp_seconds";
  // A restarted process may have read a newer certificate than the others, so the earliest expiry is reported.
  registerSamples(
    registry,
    gauge(name, "When the server's certificate expires, Unix time.", () => one(endsAt), "min"),
  );
}

/** Registers the load of the threads that make tasks, and the number of dropped log lines. */
export function registerLoad(
  registry: Registry,
  load: () => { readonly waiting: number; readonly running: number },
  dropped: () => number,
): void {
  const lost = "Log lines dropped because their reader does not keep up.";
  registerSamples(
    registry,
    gauge("gradus_worker_jobs_waiting", "Tasks that wait for a worker.", () => one(load().waiting), "sum"),
    gauge("gradus_worker_jobs_running", "Workers that are making tasks.", () => one(load().running), "sum"),
    counter("gradus_log_lines_dropped_total", lost, () => one(dropped())),
  );
}
