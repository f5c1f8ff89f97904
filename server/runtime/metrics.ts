/**
 * Counts for Prometheus. A call adds to plain numbers, which are put in Prometheus's shape when somebody asks: at tens
 * of thousands of calls a second the labelled counters of prom-client would cost several percent of the server.
 */
import { type Aggregator, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { ofAllProcesses } from "./processes.ts";
import { registerSamples, type Sample } from "./samples.ts";
import { commit, version } from "./version.ts";

/** Counts the calls of one method. */
export interface MethodMeter {
  /** E.g. "gradus.v1.EnvironmentService/Step". */
  readonly method: string;
  started(): void;
  /** `code`: the name of a gRPC status, e.g. "OK". */
  finished(code: string, seconds: number, bytesIn: number, bytesOut: number): void;
}

export interface Metrics {
  /** Where other parts of the server register theirs. */
  readonly registry: Registry;
  readonly meter: (method: string) => MethodMeter;
  /** Prometheus's text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Upper bounds in seconds: from a Step to the longest wait for feedback. */
const bounds = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10, 30, 60],
] as const;

const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

interface Series {
  readonly code: string;
  count: number;
  seconds: number;
  bytesIn: number;
  bytesOut: number;
  /** Calls up to each bound and above the one before; the last place is for those above all. */
  readonly buckets: Float64Array;
}

interface Method {
  readonly method: string;
  inflight: number;
  readonly byCode: Map<string, Series>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges that are named as counters are, which tools for rules and dashboards take for such.
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  // Of several processes that of the last one: prom-client leaves it out, and nobody would see that they are started again.
  Object.assign(registry.getSingleMetric("process_start_time_seconds") ?? {}, {
    aggregator: "max" satisfies Aggregator,
  });
  const methods = new Map<string, Method>();
  registerCallMetrics(registry, methods);
  registerSamples(registry, {
    name: "gradus_build_info",
    help: "1, with the version of the server and of the repository that it was built from.",
    type: "gauge",
    together: "max",
    samples: () => [{ labels: { version, commit }, value: 1 }],
  });
  return {
    registry,
    contentType: registry.contentType,
    text: ofAllProcesses(registry),
    meter: (method) => {
      const known = methods.get(method) ?? { method, inflight: 0, byCode: new Map<string, Series>() };
      methods.set(method, known);
      return meterOf(known);
    },
  };
}

function meterOf(of: Method): MethodMeter {
  return {
    method: of.method,
    started: () => {
      of.inflight += 1;
    },
    finished: (code, seconds, bytesIn, bytesOut) => {
      of.inflight -= 1;
      const series = of.byCode.get(code) ?? newSeries(of, code);
      series.count += 1;
      series.seconds += seconds;
      series.bytesIn += bytesIn;
      series.bytesOut += bytesOut;
      let place = 0;
      while (place < bounds.length && seconds > (bounds[place] ?? Infinity)) place += 1;
      series.buckets[place] = (series.buckets[place] ?? 0) + 1;
    },
  };
}

function newSeries(of: Method, code: string): Series {
  const buckets = new Float64Array(bounds.length + 1);
  const series = { code, count: 0, seconds: 0, bytesIn: 0, bytesOut: 0, buckets };
  of.byCode.set(code, series);
  return series;
}

function registerCallMetrics(registry: Registry, methods: ReadonlyMap<string, Method>): void {
  const perSeries = (value: (series: Series) => number) => () =>
    [...methods.values()].flatMap(({ method, byCode }) =>
      [...byCode.values()].map((series) => ({ labels: { method, code: series.code }, value: value(series) })),
    );
  const counter = (name: string, help: string, value: (series: Series) => number) =>
    registerSamples(registry, { name, help, type: "counter", samples: perSeries(value) });
  counter("gradus_calls_total", "Calls that ended, by method and gRPC status code.", (series) => series.count);
  counter("gradus_request_bytes_total", "Bytes of request messages.", (series) => series.bytesIn);
  counter("gradus_response_bytes_total", "Bytes of response messages.", (series) => series.bytesOut);
  registerSamples(registry, {
    name: "gradus_call_duration_seconds",
    help: "Time from a call's request to its end.",
    type: "histogram",
    samples: () => [...methods.values()].flatMap(durations),
  });
  const inflight = new Gauge({
    name: "gradus_calls_in_progress",
    help: "Calls in progress.",
    labelNames: ["method"],
    registers: [registry],
    collect: () => {
      for (const { method, inflight: value } of methods.values()) inflight.set({ method }, value);
    },
  });
}

/** A method's histogram over all codes: Prometheus's buckets are cumulative. */
function durations({ method, byCode }: Method): readonly Sample[] {
  const series = [...byCode.values()];
  const total = (value: (of: Series) => number) => series.reduce((sum, of) => sum + value(of), 0);
  const name = "gradus_call_duration_seconds";
  let below = 0;
  const buckets = [...bounds, "+Inf"].map((le, place) => {
    below += total((of) => of.buckets[place] ?? 0);
    return { metricName: `${name}_bucket`, labels: { method, le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { method }, value: total((of) => of.seconds) },
    { metricName: `${name}_count`, labels: { method }, value: total((of) => of.count) },
  ];
}
