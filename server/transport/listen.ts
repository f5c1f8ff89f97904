/** Opens and closes the server's ports, which share one set of handlers. */
import type { Config } from "../runtime/config.ts";
import type { Logger } from "pino";
import type { Health } from "../runtime/health.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { openTokens } from "../runtime/tokens.ts";
import type { Traces } from "../runtime/traces.ts";
import type { SessionStore } from "../stores/session-store.ts";
import { type AdmissionConfig, createAdmissionControl } from "./admission.ts";
import type { TransportContext } from "./call-context.ts";
import { type GrpcConfig, startGrpc } from "./grpc/server.ts";
import { type HttpConfig, startHttp, startMetrics } from "./http/server.ts";
import type { Registration } from "../base/rpc.ts";
import { createResetBudgets } from "./reset-budgets.ts";
import { createArrivals } from "./arrivals.ts";
import { createLongJson } from "./http/long-json.ts";
import { createTurns } from "./connection-turns.ts";

export interface TransportOptions {
  readonly config: GrpcConfig & HttpConfig & AdmissionConfig & Pick<Config, "metricsPort" | "token" | "tokensFile">;
  readonly services: readonly Registration[];
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Pick<Health, "problem" | "states" | "onChange">;
  /** Trace exporter. Undefined: traces are not exported. */
  readonly traces?: Traces | undefined;
  /** Store of OpenReward's sessions. Undefined: its clients are not served. */
  readonly sessions?: SessionStore | undefined;
}

export interface Transports {
  readonly grpcPort: number;
  readonly httpPort: number;
  /**
   * Ends all calls like `drain`, but leaves the ports open, so that health checks report that the server takes no
   * calls.
   */
  quiesce(): Promise<void>;
  /** Port for /metrics and health checks alone. Undefined: there is none. */
  readonly metricsPort: number | undefined;
  /**
   * Shuts down without losing calls in progress. Health checks fail and new calls get UNAVAILABLE; calls in progress
   * may end within the drain timeout. Then all ports close, and the promise resolves.
   */
  drain(): Promise<void>;
}

/** Time, in milliseconds, for sending the last answers to slow readers after all handlers have ended. */
const graceMs = 1000;

/** Opens all ports. Rejects if the server cannot listen on one of them. */
export async function startTransports({
  config,
  services,
  log,
  metrics,
  health,
  traces,
  sessions,
}: TransportOptions): Promise<Transports> {
  const tokens = openTokens(config, log);
  const admission = createAdmissionControl(config, tokens);
  const { maxMessageBytes } = config.limits;
  const turns = createTurns();
  const resets = createResetBudgets((address) =>
    log.warn(
      { address },
      "the address resets too many HTTP/2 streams: the connection is closed, and new ones are refused for up to 30 s",
    ),
  );
  const { meter } = metrics;
  const arrivals = createArrivals(turns, resets);
  const longJson = createLongJson();
  const shared = { log, admission, turns, arrivals, resets, maxMessageBytes, meter, health, traces };
  const context: TransportContext = { ...shared, longJson };
  const open: { close(graceMs: number): Promise<void> }[] = [{ close: async () => tokens?.close() }, longJson];
  const closeAll = (waitMs: number) => Promise.all(open.map((each) => each.close(waitMs)));
  const opened = async <Port extends (typeof open)[number]>(port: Promise<Port>): Promise<Port> => {
    open.push(await port);
    return port;
  };
  try {
    const grpc = await opened(startGrpc(config, services, context));
    const http = await opened(startHttp(config, services, context, metrics, sessions));
    const { host, metricsPort } = config;
    const own =
      metricsPort === undefined ? undefined : await opened(startMetrics({ host, metricsPort }, context, metrics));
    const empty = async () => {
      grpc.stop();
      log.info({ inflight: admission.inflight(), timeoutMs: config.drainTimeoutMs }, "draining");
      const { abandoned } = await admission.drain(config.drainTimeoutMs);
      if (abandoned > 0)
        log.warn(
          { abandoned },
          "the drain timeout passed: the calls in progress are aborted (--drain-timeout-ms sets it)",
        );
    };
    let emptied: Promise<void> | undefined;
    const quiesce = (): Promise<void> => (emptied ??= empty());
    const shutDown = async () => {
      await quiesce();
      await closeAll(graceMs);
    };
    let drained: Promise<void> | undefined;
    const drain = () => (drained ??= shutDown());
    return { grpcPort: grpc.port, httpPort: http.port, metricsPort: own?.port, quiesce, drain };
  } catch (error) {
    await closeAll(0);
    throw error;
  }
}
