/**
 * A call on either port, from the arrival of its headers until its answer is sent. It is the context of the call's
 * handler, writes one log line, and counts the call for the metrics.
 */
import { randomBytes } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import type { Health } from "../runtime/health.ts";
import type { MethodMeter } from "../runtime/metrics.ts";
import type { CallSpan, Traces } from "../runtime/traces.ts";
import { type Party, partyOf } from "../base/fair-turns.ts";
import { StoreDamaged, StoreUnavailable } from "../stores/store.ts";
import type { Role } from "../runtime/tokens.ts";
import type { Arrivals } from "./arrivals.ts";
import type { ResetBudgets } from "./reset-budgets.ts";
import type { Account, AdmissionControl, OpenCall } from "./admission.ts";
import { roleOf } from "./roles.ts";
import { type CallContext, type CodeName, RpcError } from "../base/rpc.ts";
import type { Connection, Turns } from "./connection-turns.ts";
import type { LongJson } from "./http/long-json.ts";

/** State that the gRPC port and the HTTP port share. */
export interface TransportContext {
  readonly log: Logger;
  readonly admission: AdmissionControl;
  readonly turns: Turns;
  readonly arrivals: Arrivals;
  readonly resets: ResetBudgets;
  readonly longJson: LongJson;
  readonly maxMessageBytes: number;
  readonly health: Pick<Health, "problem" | "states" | "onChange">;
  /** Trace exporter. Undefined: traces are not exported. */
  readonly traces: Traces | undefined;
  /** Returns the counters of a method, given its path without the leading slash. */
  readonly meter: (method: string) => MethodMeter;
}

/**
 * A method of a service, with the objects that each of its calls uses, e.g. the logger, the counters and the limits.
 */
export interface Method extends Omit<TransportContext, "health" | "meter" | "resets" | "arrivals" | "longJson"> {
  /** Service and method, for example "gradus.v1.EnvironmentService/Step". */
  readonly path: string;
  /** Role that a caller needs to call the method. */
  readonly role: Role;
  /** Whether the method takes a stream of requests. */
  readonly streamsRequests: boolean;
  readonly meter: MethodMeter;
}

export function methodOf(context: TransportContext, description: DescMethod): Method {
  const { parent, name, methodKind } = description;
  const streamsRequests = methodKind === "bidi_streaming" || methodKind === "client_streaming";
  return methodAt(context, { path: `${parent.typeName}/${name}`, role: roleOf(description), streamsRequests });
}

/** Creates a method. `level` is the lowest log level that its calls write. */
export function methodAt(
  { log, admission, turns, maxMessageBytes, meter, traces }: TransportContext,
  of: Pick<Method, "path" | "role" | "streamsRequests">,
  level = log.level,
): Method {
  const { path } = of;
  const own = { ...of, maxMessageBytes, meter: meter(path), log: log.child({ method: path }, { level }) };
  return { ...own, admission, turns, traces };
}

// Request ids are distinct between processes and ordered within one. A random id for each call would take much longer.
const idPrefix = `${randomBytes(6).toString("base64url")}-`;
let idCount = 0;

/** Form of request ids that a caller may choose: short, and without characters that harm a log. */
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/**
 * Delay after which a client should retry when the store is unavailable, in milliseconds. It is longer than after an
 * overload (250 ms), because e.g. a full disk lasts.
 */
const storeDelayMs = 1000;

function usable(requestId: string | undefined): string {
  if (requestId !== undefined && requestIdPattern.test(requestId)) return requestId;
  return idPrefix + (idCount++).toString(36);
}

/** Counts a call that was refused because of its headers, and writes its log line. */
export function recordRefused({ meter, log }: Method, requestId: string | undefined, { code }: RpcError): void {
  meter.started();
  meter.finished(code, 0, 0, 0);
  log.info({ requestId: usable(requestId), code, ms: 0, bytesIn: 0, bytesOut: 0 }, "call");
}

/**
 * Base class of the calls of both ports. An object is made for each request, so making it is cheap: rarely used parts,
 * such as the signal, are made only when a handler reads them.
 */
export abstract class Call implements CallContext, OpenCall {
  readonly requestId: string;
  deadlineMs: number | undefined;
  bytesIn = 0;
  bytesOut = 0;
  protected readonly openedAtMs = performance.now();
  protected readonly method: Method;
  /** Account of the caller's token: the state that all calls with this token share, e.g. their number. */
  abstract readonly account: Account;
  /** Removes the call from the open calls, whose memory the admission control limits. */
  readonly #leave: () => void;
  #span: CallSpan | undefined;
  #controller: AbortController | undefined;
  #log: Logger | undefined;
  #abortReason: RpcError | undefined;
  #admitted = false;
  #closed = false;
  #code: CodeName | undefined;

  /** `requestId` is the id that the caller sent, if any. */
  constructor(method: Method, requestId: string | undefined, deadlineMs: number | undefined) {
    this.requestId = usable(requestId);
    this.deadlineMs = deadlineMs;
    this.method = method;
    method.meter.started();
    this.#leave = method.admission.opened(this);
  }

  /** Begins the trace span of the call. `header` reads a header of the call; headers may name the client's trace. */
  trace(traces: Traces, header: (name: string) => string | undefined): void {
    this.#span = traces.call(this.method.path, header);
  }

  /** Runs work inside the call's trace span, if it has one. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  abstract get peer(): string;
  abstract readonly connection: Connection;
  abstract get bufferedBytes(): number;
  abstract get receivingSinceMs(): number | undefined;
  abstract refuse(error: RpcError): void;
  /** Status of a call that ended before its handler did, e.g. because the caller left. */
  protected abstract get endedBy(): CodeName;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get caller(): string {
    return this.account.name;
  }

  get party(): Party {
    return partyOf(this);
  }

  get role(): Role {
    return this.account.token?.role ?? "operator";
  }

  get draining(): AbortSignal {
    return this.method.admission.draining;
  }

  get log(): Logger {
    return (this.#log ??= this.method.log.child({ requestId: this.requestId }));
  }

  /** Reason why the call was aborted, if it was. */
  get abortReason(): RpcError | undefined {
    return this.#abortReason;
  }

  /** Whether the transport has nothing more to do for the call. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Resolves when the call may do its next piece of work on the event loop. That is at once if the current round has
   * time left and nothing of the call's connection waits, else when the connection has its turn.
   */
  turn(): Promise<void> {
    return new Promise((resolve) => this.inTurn(resolve));
  }

  /** Like `turn`, but rejects if the call was aborted, e.g. because the caller has left. */
  async activeTurn(): Promise<void> {
    await this.turn();
    if (this.#abortReason !== undefined) throw this.#abortReason;
  }

  inTurn(work: () => void): void {
    this.connection.take(work);
  }

  /**
   * Whether the deadline has passed. A deadline up to 2 ms ahead counts as passed, because timers may fire a little
   * early.
   */
  get late(): boolean {
    return this.deadlineMs !== undefined && Date.now() >= this.deadlineMs - 2;
  }

  /**
   * Counts the call as in progress, or returns the error that refuses it, e.g. because the server is overloaded. If no
   * error is returned, `settle` must be called later.
   */
  enter(): RpcError | undefined {
    const refused = this.method.admission.enter(this.account);
    if (refused === undefined) this.#admitted = true;
    else this.#code = refused.code;
    return refused;
  }

  /**
   * Records the status with which the handler ended. The call stops counting as in progress when the transport has also
   * finished.
   */
  settle(code: CodeName): void {
    this.#code = code;
    if (this.#closed) this.method.admission.leave(this.account);
  }

  /** Marks the call as finished by the transport: everything is sent, or the caller has left. */
  close(): void {
    if (this.#closed) return;
    this.giveUp();
    this.#closed = true;
    this.#leave();
    if (this.#admitted && this.#code !== undefined) this.method.admission.leave(this.account);
    this.#record(this.#code ?? this.#abortReason?.code ?? "UNKNOWN");
  }

  /** Aborts the call because the caller has left or the deadline has passed. */
  giveUp(): void {
    if (this.#code === undefined) this.abort(this.#gone());
  }

  /** Tells the handler that the caller no longer waits for the answer. */
  abort(reason: RpcError): void {
    if (this.#closed || this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  #gone(): RpcError {
    if (this.late) return new RpcError("DEADLINE_EXCEEDED", "the deadline passed before the answer was ready");
    const { endedBy } = this;
    return new RpcError(endedBy, endedBy === "CANCELLED" ? "the caller cancelled" : "the request cannot be read");
  }

  /**
   * Converts what the handler threw into the error that the caller gets. A bug is logged with its stack, and the caller
   * gets only the request id.
   */
  failure(thrown: unknown): RpcError {
    if (this.#abortReason !== undefined) return this.#abortReason;
    if (thrown instanceof RpcError) return thrown;
    if (thrown instanceof StoreUnavailable) {
      this.log.error({ err: thrown, method: this.method.path }, "the store is unavailable");
      const message = `the server's store is unavailable, and its log says why (request id ${this.requestId}): try again`;
      return new RpcError("UNAVAILABLE", message, {
        retryDelayMs: storeDelayMs,
        wait: { reason: "STORE_UNAVAILABLE" },
      });
    }
    if (thrown instanceof StoreDamaged) {
      this.log.error({ err: thrown, method: this.method.path }, "the store is damaged");
      const message = `the server's store is damaged: ask its operator to read the server's log (request id ${this.requestId})`;
      return new RpcError("DATA_LOSS", message);
    }
    this.log.error({ err: thrown, method: this.method.path }, "internal error");
    return new RpcError("INTERNAL", `internal error (request id ${this.requestId})`);
  }

  /** Counts the call and writes its log line. */
  #record(code: CodeName): void {
    const ms = performance.now() - this.openedAtMs;
    const { meter, log } = this.method;
    const { requestId, bytesIn, bytesOut, caller } = this;
    meter.finished(code, ms / 1000, bytesIn, bytesOut);
    this.#span?.end(code);
    if (!log.isLevelEnabled("info")) return;
    const who = caller === "" ? undefined : { caller };
    const traced = this.#span && { traceId: this.#span.traceId };
    log.info({ requestId, code, ms: Math.round(ms * 1000) / 1000, bytesIn, bytesOut, ...who, ...traced }, "call");
  }
}
