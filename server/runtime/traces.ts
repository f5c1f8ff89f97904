/**
 * Sends OpenTelemetry traces to the address in the standard variables, e.g. OTEL_EXPORTER_OTLP_ENDPOINT. Each call is a
 * span, in the trace that its headers name; steps within the call are child spans. Without an address, no OpenTelemetry
 * package is loaded.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type * as OpenTelemetry from "@opentelemetry/api";
import type { Attributes, Context, TextMapPropagator, Tracer } from "@opentelemetry/api";
import type * as Sdk from "@opentelemetry/sdk-trace";
import type { Sampler, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { withoutPassword } from "./secrets.ts";
import { version } from "./version.ts";

export interface CallSpan {
  readonly traceId: string;
  /** Runs work in the context of the call, so that `within` adds child spans to it. */
  run<T>(work: () => T): T;
  /** Ends the call's span. `status` is the name of the gRPC status, for example "OK". */
  end(status: string): void;
}

export interface Traces {
  /** Begins the span of a call. `header` reads a header of the call; headers may name the trace of the client. */
  readonly call: (path: string, header: (name: string) => string | undefined) => CallSpan;
  /**
   * Runs work in a child span of the current span. If there is no current span, or it is not sampled, runs the work
   * without a span.
   */
  readonly within: <T>(name: string, attributes: Attributes, work: () => T) => T;
  /** Returns headers for a request to another server, so that its spans join the trace. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Sends the remaining spans. Takes at most STOP_MS_MAX. */
  readonly stop: () => Promise<void>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Maximum time of `stop`, in milliseconds, so that an unreachable trace collector does not delay a shutdown. */
const STOP_MS_MAX = 2000;

/**
 * Statuses of gRPC that are the server's fault and not the caller's
 * (https://opentelemetry.io/docs/specs/semconv/rpc/grpc/).
 */
const FAILURES = new Set(["UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"]);

/**
 * Opens the exporter of traces. `instance` is the id of this server among those that share its store. Undefined: the
 * variables set no address.
 */
export async function openTraces(env: Variables, log: Logger, instance: string): Promise<Traces | undefined> {
  // The OpenTelemetry standard says that an empty variable counts as unset.
  const given = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_ENDPOINT"] || "";
  const off = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none";
  if (given === "" || off) return undefined;
  const endpoint = withoutPassword(given);
  const [api, sdk, { OTLPTraceExporter }, { W3CTraceContextPropagator }, resources] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-proto"),
    import("@opentelemetry/core"),
    import("@opentelemetry/resources"),
  ]);
  const named = resources.resourceFromAttributes({
    "service.name": "gradus",
    "service.version": version,
    "service.instance.id": instance,
  });
  const told = resources.detectResources({ detectors: [resources.envDetector] });
  const exporter = tellingOnce(new OTLPTraceExporter(), endpoint, log);
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(named).merge(told),
    sampler: samplerOf(sdk, env, log),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, ...batchesOf(env) })],
  });
  log.info({ endpoint }, "sending traces");
  return {
    ...spansBy(api, provider.getTracer("gradus"), new W3CTraceContextPropagator()),
    stop: async () => {
      const timeUp = new Promise<void>((resolve) => void setTimeout(resolve, STOP_MS_MAX).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), timeUp]);
    },
  };
}

function spansBy(api: typeof OpenTelemetry, tracer: Tracer, propagator: TextMapPropagator): Omit<Traces, "stop"> {
  const { trace, ROOT_CONTEXT, SpanKind, SpanStatusCode, defaultTextMapGetter, defaultTextMapSetter } = api;
  const current = new AsyncLocalStorage<Context>();
  return {
    call: (path, header) => {
      const names = ["traceparent", "tracestate"].map((name) => [name, header(name)] as const);
      const caller = propagator.extract(ROOT_CONTEXT, Object.fromEntries(names), defaultTextMapGetter);
      const [service = "", method = ""] = path.split("/");
      const attributes = { "rpc.system.name": "grpc", "rpc.method": path, "rpc.service": service };
      const span = tracer.startSpan(`${service}/${method}`, { kind: SpanKind.SERVER, attributes }, caller);
      const inside = trace.setSpan(caller, span);
      return {
        traceId: span.spanContext().traceId,
        run: (work) => current.run(inside, work),
        end: (status) => {
          span.setAttribute("rpc.response.status_code", status);
          if (FAILURES.has(status)) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    within: <T>(name: string, attributes: Attributes, work: () => T): T => {
      const outside = current.getStore();
      // An ended span takes no children. Work that goes on after its call ended is not part of the trace.
      if (outside === undefined || trace.getSpan(outside)?.isRecording() !== true) return work();
      const span = tracer.startSpan(name, { attributes }, outside);
      const fail = (error: unknown): never => {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
        throw error;
      };
      const finish = <Of>(value: Of): Of => {
        span.end();
        return value;
      };
      try {
        const done = current.run(trace.setSpan(outside, span), work);
        return done instanceof Promise ? (done.then(finish, fail) as T) : finish(done);
      } catch (error) {
        return fail(error);
      }
    },
    headers: () => {
      const carrier: Record<string, string> = {};
      const context = current.getStore();
      if (context !== undefined) propagator.inject(context, carrier, defaultTextMapSetter);
      return carrier;
    },
  };
}

/**
 * Wraps an exporter so that it logs lost spans once. Spans that the collector refuses are lost; the next loss is logged
 * only after a success.
 */
function tellingOnce(exporter: SpanExporter, endpoint: string, log: Logger): SpanExporter {
  let isLosing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined && !isLosing)
          log.warn(
            { endpoint, problem: result.error.message },
            "traces cannot be sent to the collector, and are lost until it accepts them: check its address",
          );
        isLosing = result.error !== undefined;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * Returns the sampler that the standard's variables name
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration).
 */
function samplerOf(sdk: typeof Sdk, env: Variables, log: Logger): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const ratio = Number(env["OTEL_TRACES_SAMPLER_ARG"] || 1);
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  };
  const root = roots[name.replace(/^parentbased_/, "")];
  const wrong = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: env["OTEL_TRACES_SAMPLER_ARG"] };
  if (root === undefined || !(ratio >= 0 && ratio <= 1)) {
    log.warn(wrong, "unknown sampler of traces (OTEL_TRACES_SAMPLER); all traces are sent");
    return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  }
  return name.startsWith("parentbased_") ? new sdk.ParentBasedSampler({ root: root() }) : root();
}

/**
 * Returns the batch settings in the standard's variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-span-processor).
 */
function batchesOf(env: Variables): Readonly<Record<string, number>> {
  const given = {
    scheduledDelayMillis: env["OTEL_BSP_SCHEDULE_DELAY"],
    exportTimeoutMillis: env["OTEL_BSP_EXPORT_TIMEOUT"],
    maxQueueSize: env["OTEL_BSP_MAX_QUEUE_SIZE"],
    maxExportBatchSize: env["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"],
  };
  const numbers = Object.entries(given).filter(([, text]) => text !== undefined && /^\d{1,9}$/.test(text));
  return Object.fromEntries(numbers.map(([name, text]) => [name, Number(text)]));
}
