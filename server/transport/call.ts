/** One call in progress: the context that its handler sees, and the one line and the counts that it leaves behind. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { MethodMeter } from "../runtime/metrics.ts";
import { StoreUnavailable } from "../stores/store.ts";
import { type Gate, type Guest, type HeldBytes, type TokenCheck, unauthenticated } from "./admission.ts";
import { type CallContext, type CodeName, codes, RpcError } from "./rpc.ts";

/** What both transports share. */
export interface Host {
  readonly log: Logger;
  readonly gate: Gate;
  readonly held: HeldBytes;
  readonly mayEnter: TokenCheck;
  readonly maxMessageBytes: number;
  /** The meter of a method, by its path without the leading slash. */
  readonly meter: (method: string) => MethodMeter;
}

/** What a transport knows of a call when it begins. */
export interface CallStart {
  readonly host: Host;
  readonly meter: MethodMeter;
  readonly log: Logger;
  /** The caller's, if it sent one. */
  readonly requestId: string | undefined;
  readonly deadlineMs: number | undefined;
  readonly caller: Caller;
}

/** The other side of a call. */
export interface Caller {
  /** Address and port. */
  readonly peer: string;
  /** How a call ended that was over before our handler was done, as far as the transport knows. */
  readonly endedBy: CodeName;
}

// Distinct between processes and in order within one, at a fraction of the cost of a random id for each call.
const idPrefix = `${randomBytes(6).toString("base64url")}-`;
let idCount = 0;

/** A full disk lasts longer than a moment. */
const storeDelayMs = 1000;

/** What a caller may choose as request id: short, and harmless in a log. */
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** A class, because a call is made for each request: what few handlers ask for (signal, log, peer) is made when asked. */
export class Call implements CallContext, Guest {
  readonly requestId: string;
  readonly deadlineMs: number | undefined;
  bytesIn = 0;
  bytesOut = 0;
  /** Of `bytesOut`, what the transport has not taken. */
  unsentBytes = 0;
  place = -1;
  readonly #start: CallStart;
  readonly #startedAt = performance.now();
  #controller: AbortController | undefined;
  #log: Logger | undefined;
  #abortReason: RpcError | undefined;
  #over = false;
  #code: CodeName | undefined;

  constructor(start: CallStart) {
    const given = start.requestId;
    this.requestId = given !== undefined && requestIdPattern.test(given) ? given : idPrefix + (idCount++).toString(36);
    this.deadlineMs = start.deadlineMs;
    this.#start = start;
    start.meter.started();
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get draining(): AbortSignal {
    return this.#start.host.gate.draining;
  }

  get log(): Logger {
    return (this.#log ??= this.#start.log.child({ requestId: this.requestId }));
  }

  get peer(): string {
    return this.#start.caller.peer;
  }

  /** Why the call was given up, if it was. */
  get abortReason(): RpcError | undefined {
    return this.#abortReason;
  }

  /** Whether the deadline has passed. A timer may fire a little before its time by the clock. */
  get late(): boolean {
    return this.deadlineMs !== undefined && Date.now() >= this.deadlineMs - 2;
  }

  /** Takes a place among the calls in progress; undefined: taken, and `settle` must follow. */
  enter(authorization: string | undefined): RpcError | undefined {
    const { gate, mayEnter } = this.#start.host;
    const refused = mayEnter(authorization) ? gate.enter(this) : unauthenticated();
    if (refused !== undefined) this.#finish(refused.code);
    return refused;
  }

  /** The handler has ended. The call leaves when its answer is on its way too. */
  settle(code: CodeName): void {
    this.#code = code;
    if (this.#over) this.#start.host.gate.leave(this);
  }

  /** The transport is done with the call: all is sent, or the caller is gone. */
  close(): void {
    if (this.#over) return;
    if (this.#code === undefined) this.giveUp();
    const code = this.#code ?? this.#abortReason?.code ?? "UNKNOWN";
    this.#finish(code);
    if (this.#code !== undefined) this.#start.host.gate.leave(this);
  }

  /** The caller is gone, or its deadline has passed. */
  giveUp(): void {
    if (this.#code === undefined) this.abort(this.#gone());
  }

  /** Tells the handler that nobody waits for it any more. */
  abort(reason: RpcError): void {
    if (this.#over || this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  #gone(): RpcError {
    if (this.late) return new RpcError("DEADLINE_EXCEEDED", "the deadline passed before the answer was ready");
    const { endedBy } = this.#start.caller;
    return new RpcError(endedBy, endedBy === "CANCELLED" ? "the caller cancelled" : "the request cannot be read");
  }

  /** What a handler's failure is to the caller. A bug is logged with its stack here, and told without it. */
  failure(thrown: unknown): RpcError {
    if (this.#abortReason !== undefined) return this.#abortReason;
    if (thrown instanceof RpcError) return thrown;
    if (thrown instanceof StoreUnavailable) {
      this.log.error({ err: thrown, method: this.#start.meter.method }, "the store is unavailable");
      const message = `the server's store is unavailable, and its log says why (request id ${this.requestId}): try again`;
      return new RpcError("UNAVAILABLE", message, { retryDelayMs: storeDelayMs });
    }
    this.log.error({ err: thrown, method: this.#start.meter.method }, "internal error");
    return new RpcError("INTERNAL", `internal error (request id ${this.requestId})`);
  }

  /** Writes the call's line and counts it. */
  #finish(code: CodeName): void {
    this.#over = true;
    const ms = performance.now() - this.#startedAt;
    const { meter, log } = this.#start;
    meter.finished(codes[code], ms / 1000, this.bytesIn, this.bytesOut);
    if (!log.isLevelEnabled("info")) return;
    const { requestId, bytesIn, bytesOut } = this;
    log.info({ requestId, code, ms: Math.round(ms * 1000) / 1000, bytesIn, bytesOut }, "call");
  }
}
