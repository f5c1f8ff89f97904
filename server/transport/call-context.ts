/**
 * A call from its headers until its answer is sent: the context that its handler gets, its one log line, its counters.
 * Both ports extend the class below.
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

/** State that both ports share. */
export interface TransportContext {
  readonly log: Logger;
  readonly admission: AdmissionControl;
  readonly turns: Turns;
  readonly arrivals: Arrivals;
  readonly resets: ResetBudgets;
  readonly longJson: LongJson;
  readonly maxMessageBytes: number;
  readonly health: Pick<Health, "problem" | "states" | "onChange">;
  /** Undefined: traces are not exported. */
  readonly traces: Traces | undefined;
  /** Returns the meter of a method, by its path without the leading slash. */
  readonly meter: (method: string) => MethodMeter;
}

/** A method with everything that each of its calls needs. */
export interface Method extends Omit<TransportContext, "health" | "meter" | "resets" | "arrivals" | "longJson"> {
  /** For example "gradus.v1.EnvironmentService/Step". */
  readonly path: string;
  /** Role that a caller needs. */
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

/** `level` is the lowest log level that the method's calls write. */
export function methodAt(
  { log, admission, turns, maxMessageBytes, meter, traces }: TransportContext,
  of: Pick<Method, "path" | "role" | "streamsRequests">,
  level = log.level,
): Method {
  const { path } = of;
  const own = { ...of, maxMessageBytes, meter: meter(path), log: log.child({ method: path }, { level }) };
  return { ...own, admission, turns, traces };
}

// Makes ids distinct between processes and ordered within one, at a fraction of the cost of a random id for each call.
const idPrefix = `${randomBytes(6).toString("base64url")}-`;
let idCount = 0;

/** Request ids that a caller may choose: short, and harmless in a log. */
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** Retry delay when the store is unavailable: a full disk lasts longer than a moment. */
const storeDelayMs = 1000;

function usable(requestId: string | undefined): string {
  if (requestId !== undefined && requestIdPattern.test(requestId)) return requestId;
  return idPrefix + (idCount++).toString(36);
}

/** Counts a call that was refused by its headers, and writes its log line. */
export function recordRefused({ meter, log }: Method, requestId: string | undefined, { code }: RpcError): void {
  meter.started();
  meter.finished(code, 0, 0, 0);
  log.info({ requestId: usable(requestId), code, ms: 0, bytesIn: 0, bytesOut: 0 }, "call");
}

/**
 * A class, because one call object is made for each request; few handlers ask for signal, log or peer, so those are
 * made on demand.
 */
export abstract class Call implements CallContext, OpenCall {
  readonly requestId: string;
  deadlineMs: number | undefined;
  bytesIn = 0;
  bytesOut = 0;
  protected readonly openedAtMs = performance.now();
  protected readonly method: Method;
  /** Account that the call is counted under. */
  abstract readonly account: Account;
  #span: CallSpan | undefined;
  #controller: AbortController | undefined;
  #log: Logger | undefined;
  #abortReason: RpcError | undefined;
  #admitted = false;
  #closed = false;
  #code: CodeName | undefined;

  /** `requestId` is the caller's, if the caller sent one. */
  constructor(method: Method, requestId: string | undefined, deadlineMs: number | undefined) {
    this.requestId = usable(requestId);
    this.deadlineMs = deadlineMs;
    this.method = method;
    method.meter.started();
    method.admission.opened(this);
  }

  /**
   * Begins the call's span. `header` reads the call's headers, some of which may name the trace that the call belongs
   * to.
   */
  trace(traces: Traces, header: (name: string) => string | undefined): void {
    this.#span = traces.call(this.method.path, header);
  }

  /** Runs work inside the call's span, if it has one. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  abstract get peer(): string;
  abstract readonly connection: Connection;
  abstract get bufferedBytes(): number;
  abstract get receivingSinceMs(): number | undefined;
  abstract refuse(error: RpcError): void;
  /** Status of a call that ended before its handler did, if the transport knows the status. */
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

  /** Whether the transport has finished with the call. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when it is the turn of this call's connection: at once, unless the round has no time left. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.inTurn(resolve));
  }

  inTurn(work: () => void): void {
    this.connection.take(work);
  }

  /** Whether the deadline has passed. Allows 2 ms, because a timer may fire a little before its time by the clock. */
  get late(): boolean {
    return this.deadlineMs !== undefined && Date.now() >= this.deadlineMs - 2;
  }

  /**
   * Begins the call's work, or returns an error if the server has too much to do. After undefined, the caller must call
   * `settle`.
   */
  enter(): RpcError | undefined {
    const refused = this.method.admission.enter(this.account);
    if (refused === undefined) this.#admitted = true;
    else this.#code = refused.code;
    return refused;
  }

  /**
   * Records the handler's status. The call leaves admission when the handler has ended and the transport has finished.
   */
  settle(code: CodeName): void {
    this.#code = code;
    if (this.#closed) this.method.admission.leave(this.account);
  }

  /** Marks the call as finished by the transport: everything is sent, or the caller is gone. */
  close(): void {
    if (this.#closed) return;
    this.giveUp();
    this.#closed = true;
    this.method.admission.closed(this);
    if (this.#admitted && this.#code !== undefined) this.method.admission.leave(this.account);
    this.#record(this.#code ?? this.#abortReason?.code ?? "UNKNOWN");
  }

  /** Aborts the call because the caller is gone or the deadline has passed. */
  giveUp(): void {
    if (this.#code === undefined) this.abort(this.#gone());
  }

  /** Tells the handler that nobody waits for the answer any more. */
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
   * Converts an exception of the handler into the error that the caller gets. A bug is logged here with its stack; the
   * caller gets only the request id.
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
      const message = `the server's store is damaged, and its log says where (request id ${this.requestId})`;
      return new RpcError("DATA_LOSS", message);
    }
    this.log.error({ err: thrown, method: this.method.path }, "internal error");
    return new RpcError("INTERNAL", `internal error (request id ${this.requestId})`);
  }

  /** Counts the call, and writes its log line. */
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
