/**
 * Counts calls for Prometheus. A call adds to plain numbers, which are converted when Prometheus reads the metrics.
 * Labelled counters of prom-client would cost several percent of the server at tens of thousands of calls a second.
 */
import { type Aggregator, collectDefaultMetrics, Registry } from "prom-client";
import { ofAllProcesses } from "./processes.ts";
import {
  counter,
  gauge,
  type Histogram,
  histogram,
  one,
  registerSamples,
  type SampledMetric,
} from "./sampled-metrics.ts";
import { commit, version } from "./version.ts";

/** Counts the calls of one method. */
export interface MethodMeter {
  /** Service and method, for example "gradus.v1.EnvironmentService/Step". */
  readonly method: string;
  started(): void;
  /** Counts a finished call. `code` is the name of its gRPC status, for example "OK". */
  finished(code: string, seconds: number, bytesIn: number, bytesOut: number): void;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Counts of one method's calls since the process started. */
export type CallCounts = Readonly<Pick<Method, "method" | "inflight" | "seconds">> & {
  readonly byCode: ReadonlyMap<string, Readonly<Pick<Series, "count">>>;
};

/**
 * Upper bounds of the buckets of call durations, in seconds. They range from a short Step to the longest wait for
 * feedback.
 */
export const CALL_BOUNDS_S = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
  ...[1, 2.5, 5, 10, 30, 60],
] as const;

const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

interface Series {
  readonly code: string;
  count: number;
  bytesIn: number;
  bytesOut: number;
}

interface Method {
  readonly method: string;
  inflight: number;
  readonly byCode: Map<string, Series>;
  readonly seconds: Histogram;
}

const BUSY = "Seconds that the event loop was busy. The rate is its utilization: at 1 it is saturated.";

const busySeconds = () => one(performance.eventLoopUtilization().active / 1000);

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Removes gauges of prom-client whose names end in _total, because tools for rules and dashboards would take them for
  // counters.
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  // If there are several processes, the latest start is reported, so that restarts are visible. By default, prom-client
  // leaves this metric out when it combines processes.
  Object.assign(registry.getSingleMetric("process_start_time_seconds") ?? {}, {
    aggregator: "max" satisfies Aggregator,
  });
  const methods = new Map<string, Method>();
  registerSamples(
    registry,
    ...callMetrics(methods),
    counter("gradus_event_loop_busy_seconds_total", BUSY, busySeconds),
  );
  const built = "1, with the version of the server and of the repository that it was built from.";
  const build = () => [{ labels: { version, commit }, value: 1 }];
  registerSamples(registry, gauge("gradus_build_info", built, build, "max"));
  return {
    /** Registry in which other parts of the server register their metrics. */
    registry,
    contentType: registry.contentType,
    /** Returns the metrics of all processes in Prometheus's text format. */
    text: ofAllProcesses(registry),
    /** Returns the counts of the calls of this process, by method. */
    calls: (): readonly CallCounts[] => [...methods.values()],
    meter: (method: string) => {
      const known = methods.get(method) ?? {
        method,
        inflight: 0,
        byCode: new Map(),
        seconds: histogram(CALL_BOUNDS_S),
      };
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
      of.seconds.add(seconds);
      const series = of.byCode.get(code) ?? { code, count: 0, bytesIn: 0, bytesOut: 0 };
      of.byCode.set(code, series);
      series.count += 1;
      series.bytesIn += bytesIn;
      series.bytesOut += bytesOut;
    },
  };
}

function callMetrics(methods: ReadonlyMap<string, Method>): readonly SampledMetric[] {
  const all = () => [...methods.values()];
  const counted = (name: string, help: string, value: (series: Series) => number): SampledMetric =>
    counter(name, help, () =>
      all().flatMap(({ method, byCode }) =>
        [...byCode.values()].map((series) => ({ labels: { method, code: series.code }, value: value(series) })),
      ),
    );
  const name = "gradus_call_duration_seconds";
  return [
    counted("gradus_calls_total", "Calls that ended, by method and gRPC status code.", ({ count }) => count),
    counted("gradus_request_bytes_total", "Bytes of request messages.", ({ bytesIn }) => bytesIn),
    counted("gradus_response_bytes_total", "Bytes of response messages.", ({ bytesOut }) => bytesOut),
    {
      name,
      help: "Time from a call's request to its end.",
      type: "histogram",
      samples: () => all().flatMap(({ method, seconds }) => seconds.samples(name, { method })),
    },
    gauge(
      "gradus_calls_in_progress",
      "Calls in progress.",
      () => all().map(({ method, inflight: value }) => ({ labels: { method }, value })),
      "sum",
    ),
  ];
}
