/** One call, from its headers until its answer is sent: what its handler sees of it, its one log line, its counts. */
import { randomBytes } from "node:crypto";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Logger } from "pino";
import type { Health } from "../runtime/health.ts";
import type { MethodMeter } from "../runtime/metrics.ts";
import type { CallSpan, Traces } from "../runtime/traces.ts";
import { type Party, partyOf } from "../base/fair-turns.ts";
import { StoreDamaged, StoreUnavailable } from "../stores/store.ts";
import type { Role } from "../runtime/tokens.ts";
import type { ResetBudgets } from "./reset-budgets.ts";
import type { Account, AdmissionControl, OpenCall } from "./admission.ts";
import { roleOf } from "./roles.ts";
import { type CallContext, type CodeName, RpcError } from "../base/rpc.ts";
import type { Connection, Turns } from "./connection-turns.ts";

/** What both ports share. */
export interface TransportContext {
  readonly log: Logger;
  readonly admission: AdmissionControl;
  readonly turns: Turns;
  readonly resets: ResetBudgets;
  readonly maxMessageBytes: number;
  readonly health: Pick<Health, "problem" | "states" | "onChange">;
  /** Undefined: nobody wants traces. */
  readonly traces: Traces | undefined;
  /** The meter of a method, by its path without the leading slash. */
  readonly meter: (method: string) => MethodMeter;
}

/** A method, with what each of its calls needs. */
export interface Method extends Omit<TransportContext, "health" | "meter" | "resets"> {
  /** E.g. "gradus.v1.EnvironmentService/Step". */
  readonly path: string;
  /** Who may call it. */
  readonly role: Role;
  /** Whether its requests are a stream. */
  readonly streamsRequests: boolean;
  readonly meter: MethodMeter;
}

export function methodOf(context: TransportContext, description: DescMethod): Method {
  const { parent, name, methodKind } = description;
  const streamsRequests = methodKind === "bidi_streaming" || methodKind === "client_streaming";
  return methodAt(context, { path: `${parent.typeName}/${name}`, role: roleOf(description), streamsRequests });
}

/** `level`: of the lines that its calls leave. */
export function methodAt(
  { log, admission, turns, maxMessageBytes, meter, traces }: TransportContext,
  of: Pick<Method, "path" | "role" | "streamsRequests">,
  level = log.level,
): Method {
  const { path } = of;
  const own = { ...of, maxMessageBytes, meter: meter(path), log: log.child({ method: path }, { level }) };
  return { ...own, admission, turns, traces };
}

// Distinct between processes and in order within one, at a fraction of the cost of a random id for each call.
const idPrefix = `${randomBytes(6).toString("base64url")}-`;
let idCount = 0;

/** What a caller may choose as request id: short, and harmless in a log. */
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** A full disk lasts longer than a moment. */
const storeDelayMs = 1000;

function usable(requestId: string | undefined): string {
  if (requestId !== undefined && requestIdPattern.test(requestId)) return requestId;
  return idPrefix + (idCount++).toString(36);
}

/** Counts a call that was refused by its headers, and writes its line. */
export function recordRefused({ meter, log }: Method, requestId: string | undefined, { code }: RpcError): void {
  meter.started();
  meter.finished(code, 0, 0, 0);
  log.info({ requestId: usable(requestId), code, ms: 0, bytesIn: 0, bytesOut: 0 }, "call");
}

/** A class, because a call is made for each request: what few handlers ask for (signal, log, peer) is made when asked. */
export abstract class Call implements CallContext, OpenCall {
  readonly requestId: string;
  deadlineMs: number | undefined;
  bytesIn = 0;
  bytesOut = 0;
  protected readonly openedAtMs = performance.now();
  protected readonly method: Method;
  /** Whose it is. */
  abstract readonly account: Account;
  #span: CallSpan | undefined;
  #controller: AbortController | undefined;
  #log: Logger | undefined;
  #abortReason: RpcError | undefined;
  #admitted = false;
  #closed = false;
  #code: CodeName | undefined;

  /** `requestId` is the caller's, if it sent one. */
  constructor(method: Method, requestId: string | undefined, deadlineMs: number | undefined) {
    this.requestId = usable(requestId);
    this.deadlineMs = deadlineMs;
    this.method = method;
    method.meter.started();
    method.admission.opened(this);
  }

  /** Begins its span. `header` gives the call's headers, of which some may name the trace that it is a part of. */
  trace(traces: Traces, header: (name: string) => string | undefined): void {
    this.#span = traces.call(this.method.path, header);
  }

  /** Does work as a part of its span, if it has one. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  abstract get peer(): string;
  abstract readonly connection: Connection;
  abstract get bufferedBytes(): number;
  abstract get receivingSinceMs(): number | undefined;
  abstract refuse(error: RpcError): void;
  /** How the call ended, as far as the transport knows, if it was over before our handler was done. */
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

  /** Why the call was given up, if it was. */
  get abortReason(): RpcError | undefined {
    return this.#abortReason;
  }

  /** The transport is done with it. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when it is this call's connection's turn: at once, unless there is more to do than a round has time for. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.inTurn(resolve));
  }

  inTurn(work: () => void): void {
    this.connection.take(work);
  }

  /** Whether the deadline has passed. A timer may fire a little before its time by the clock. */
  get late(): boolean {
    return this.deadlineMs !== undefined && Date.now() >= this.deadlineMs - 2;
  }

  /** Begins the work on it, unless the server has too much to do. Where nothing is returned, `settle` must follow. */
  enter(): RpcError | undefined {
    const refused = this.method.admission.enter(this.account);
    if (refused === undefined) this.#admitted = true;
    else this.#code = refused.code;
    return refused;
  }

  /** The handler has ended. The call leaves when its answer is on its way too. */
  settle(code: CodeName): void {
    this.#code = code;
    if (this.#closed) this.method.admission.leave(this.account);
  }

  /** The transport is done with the call: all is sent, or the caller is gone. */
  close(): void {
    if (this.#closed) return;
    this.giveUp();
    this.#closed = true;
    this.method.admission.closed(this);
    if (this.#admitted && this.#code !== undefined) this.method.admission.leave(this.account);
    this.#record(this.#code ?? this.#abortReason?.code ?? "UNKNOWN");
  }

  /** The caller is gone, or its deadline has passed. */
  giveUp(): void {
    if (this.#code === undefined) this.abort(this.#gone());
  }

  /** Tells the handler that nobody waits for it any more. */
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

  /** What a handler's failure is to the caller. A bug is logged with its stack here, and told without it. */
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

  /** Counts the call, and writes its line. */
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
