/** Both ports of the server over one set of handlers. */
import type { Config } from "../runtime/config.ts";
import type { Logger } from "pino";
import type { Health } from "../runtime/health.ts";
import type { Metrics } from "../runtime/metrics.ts";
import { createAdmissionControl } from "./admission.ts";
import type { TransportContext } from "./call.ts";
import { startGrpc } from "./grpc/server.ts";
import { startHttp } from "./http/server.ts";
import type { Registration } from "./rpc.ts";
import { createTurns } from "./turns.ts";

export interface TransportOptions {
  readonly config: Pick<
    Config,
    | "host"
    | "port"
    | "httpPort"
    | "tls"
    | "token"
    | "limits"
    | "drainTimeoutMs"
    | "requestTimeoutMs"
    | "corsOrigins"
    | "allowedHosts"
  >;
  readonly services: readonly Registration[];
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly health: Pick<Health, "problem" | "onChange">;
}

export interface Transports {
  readonly grpcPort: number;
  readonly httpPort: number;
  /** As `drain`, but both ports stay open: whoever asks for the server's health hears that it takes no calls. */
  quiesce(): Promise<void>;
  /**
   * Shuts down without losing what is in flight: health checks turn NOT_SERVING (503), new calls get UNAVAILABLE, calls
   * in progress have the drain timeout to end, and then both ports close. Resolves when they are closed.
   */
  drain(): Promise<void>;
}

/** After the last handler has returned, answers may still be on their way to a slow reader. */
const graceMs = 1000;

/** Rejects where a port cannot be bound. */
export async function startTransports({
  config,
  services,
  log,
  metrics,
  health,
}: TransportOptions): Promise<Transports> {
  const admission = createAdmissionControl(config);
  const { maxMessageBytes } = config.limits;
  const turns = createTurns();
  const context: TransportContext = { log, admission, turns, maxMessageBytes, meter: metrics.meter, health };
  const grpc = await startGrpc(config, services, context);
  const http = await startHttp(config, services, context, metrics).catch(async (error: unknown) => {
    await grpc.close(0);
    throw error;
  });

  const empty = async () => {
    grpc.stop();
    log.info({ inflight: admission.inflight(), timeoutMs: config.drainTimeoutMs }, "draining");
    const { abandoned } = await admission.drain(config.drainTimeoutMs);
    if (abandoned > 0) log.warn({ abandoned }, "the drain timeout passed with calls in progress");
  };
  let emptied: Promise<void> | undefined;
  const quiesce = (): Promise<void> => (emptied ??= empty());
  const shutDown = async () => {
    await quiesce();
    await Promise.all([grpc.close(graceMs), http.close(graceMs)]);
  };
  let drained: Promise<void> | undefined;
  return { grpcPort: grpc.port, httpPort: http.port, quiesce, drain: () => (drained ??= shutDown()) };
}
