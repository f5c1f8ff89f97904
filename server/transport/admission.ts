/**
 * Decides who may call a method, how many calls may be in progress, and how much memory the open calls may use
 * together. The gRPC port and the HTTP port both ask it before they read a request.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Config, isLoopback } from "../runtime/config.ts";
import { isAtLeast, type Role, type Token, type Tokens } from "../runtime/tokens.ts";
import { callerName } from "../base/fair-turns.ts";
import { LinkedQueue } from "../base/linked-queue.ts";
import { RpcError, shuttingDown } from "../base/rpc.ts";

/** A call, from the arrival of its headers until its answer is sent. */
export interface OpenCall {
  readonly connection: object;
  /** Address and port of the caller, joined by a colon. */
  readonly peer: string;
  /** Account of the caller's token: the state that all calls with this token share, e.g. their number. */
  readonly account: Account;
  /** Bytes of requests and answers that the call keeps in memory. */
  readonly bufferedBytes: number;
  /** Time, by performance.now(), since which a request has been arriving. Undefined: no request is arriving. */
  readonly receivingSinceMs: number | undefined;
  /** Ends the call with an error, and frees the memory that it keeps. */
  refuse(error: RpcError): void;
  /** Tells the call's handler that the caller no longer waits for the answer. */
  abort(reason: RpcError): void;
}

/** State that all calls with one token share, e.g. their number. */
export interface Account {
  /** Name of the token. Empty: the server requires no token. */
  readonly name: string;
  /**
   * Token with its limits, as last read from the tokens file. Undefined: the server requires no token, and only its own
   * limits apply.
   */
  token: Token | undefined;
  inflight: number;
  /**
   * Number of calls that the token may begin at once, if it has a limit of calls per second. The value held at
   * `creditAtMs` (performance.now()), and grows afterwards.
   */
  credit: number;
  creditAtMs: number;
}

export interface AdmissionControl {
  /**
   * Returns the account of a request's token, or the error that refuses the request. Called before any of the body is
   * kept or decompressed. `role` is the role that the method requires.
   */
  admit(headers: RequestHeaders, method: { readonly path: string; readonly role: Role }): Account | RpcError;
  /** Watches an open call. Returns a function to call when it is closed. */
  opened(call: OpenCall): () => void;
  /**
   * Counts a call as in progress, or returns the error that refuses it. If it is counted, the caller must call `leave`
   * later.
   */
  enter(account: Account): RpcError | undefined;
  leave(account: Account): void;
  inflight(): number;
  /** Aborts when the server begins to shut down. */
  readonly draining: AbortSignal;
  /**
   * Refuses all new calls, and waits until the calls in progress end or the time is over. Then aborts the remaining
   * calls without waiting for them, and returns their number.
   */
  drain(timeoutMs: number): Promise<{ readonly abandoned: number }>;
}

export type AdmissionConfig = Pick<Config, "tls" | "allowedHosts" | "corsOrigins" | "requestTimeoutMs"> & {
  readonly limits: Pick<Config["limits"], "maxInflightCalls" | "maxHeldBytes">;
};

/** Returns the account for a server that requires no token, where every caller may do everything. */
export function nobody(): Account {
  return newAccount("", undefined);
}

function newAccount(name: string, token: Token | undefined): Account {
  return { name, token, inflight: 0, credit: Infinity, creditAtMs: 0 };
}

/**
 * Takes one call from the token's credit. The credit grows by `maxCallsPerSecond` each second, up to that many calls.
 * Returns the milliseconds to wait until the next call is allowed; 0: the call may begin now.
 */
function waitFor(account: Account): number {
  const rate = account.token?.maxCallsPerSecond;
  if (rate === undefined) return 0;
  const nowMs = performance.now();
  const gathered = account.credit + ((nowMs - account.creditAtMs) * rate) / 1000;
  const credit = Math.min(Math.max(1, rate), gathered);
  account.creditAtMs = nowMs;
  account.credit = credit < 1 ? credit : credit - 1;
  return credit < 1 ? Math.ceil(((1 - credit) * 1000) / rate) : 0;
}

/**
 * Delay, in milliseconds, after which a client should retry a call that was refused because too many are in progress.
 * Some calls have ended by then, and a trainer hardly notices the delay.
 */
const overloadDelayMs = 250;

/**
 * Creates the object that both ports ask whether a call may begin. `tokens` is undefined if the server requires none.
 */
export function createAdmissionControl(config: AdmissionConfig, tokens: Tokens | undefined): AdmissionControl {
  const { maxInflightCalls } = config.limits;
  const draining = new AbortController();
  const accounts = accountsOf(tokens);
  const calls = watchOpenCalls(config.limits.maxHeldBytes, config.requestTimeoutMs);
  let inflight = 0;
  let whenIdle: (() => void) | undefined;

  // Calls in progress end too when their token is withdrawn, because streams can last for hours.
  tokens?.onChange(() => {
    const gone = accounts.withdrawn();
    for (const call of calls.all()) if (gone.has(call.account)) call.refuse(withdrawn(call.account));
  });

  return {
    admit: headerCheck(config, tokens !== undefined, accounts.of),
    opened: calls.add,
    draining: draining.signal,
    inflight: () => inflight,
    enter: (account) => {
      const ownMax = account.token?.maxInflightCalls ?? Infinity;
      if (draining.signal.aborted) return shuttingDown();
      if (account.inflight >= ownMax) return tokenOverloaded(account.name, ownMax);
      if (inflight >= maxInflightCalls) return overloaded(maxInflightCalls);
      const waitMs = waitFor(account);
      if (waitMs > 0) return tokenTooFast(account, waitMs);
      account.inflight += 1;
      inflight += 1;
      return undefined;
    },
    leave: (account) => {
      account.inflight -= 1;
      inflight -= 1;
      if (inflight === 0) whenIdle?.();
    },
    drain: async (timeoutMs) => {
      draining.abort();
      if (inflight > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          whenIdle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const abandoned = inflight;
      for (const call of calls.all()) call.abort(shuttingDown());
      return { abandoned };
    },
  };
}

const OVERLOADED = { reason: "OVERLOADED" } as const;

function overloaded(inflightMax: number): RpcError {
  const message = `the server already has ${inflightMax} calls in progress, its limit (--max-inflight-calls)`;
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs: overloadDelayMs, wait: OVERLOADED });
}

function tokenOverloaded(name: string, inflightMax: number): RpcError {
  const message = `the token '${name}' already has ${inflightMax} calls in progress, its limit (max_inflight_calls)`;
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs: overloadDelayMs, wait: OVERLOADED });
}

function tokenTooFast({ name, token }: Account, retryDelayMs: number): RpcError {
  const rate = token?.maxCallsPerSecond;
  const message = `the token '${name}' began more than ${rate} calls a second, its limit (max_calls_per_second)`;
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs, wait: OVERLOADED });
}

// The next functions check a request's headers: its token, and whether a web page made the browser send it.

/** Headers that admission reads. In HTTP/2, `host` is the header `:authority`. */
export type RequestHeaders = Pick<IncomingHttpHeaders, "host" | "origin" | "authorization">;

function headerCheck(
  config: AdmissionConfig,
  hasTokens: boolean,
  accountOf: Accounts["of"],
): AdmissionControl["admit"] {
  const { tls, allowedHosts, corsOrigins } = config;
  const asksForCredentials = hasTokens || tls?.clientCa !== undefined;
  const hosts =
    asksForCredentials || allowedHosts.includes("*") ? undefined : new Set([...LOOPBACK_HOSTS, ...allowedHosts]);
  const origins = corsOrigins.includes("*") ? undefined : new Set(corsOrigins);
  return ({ host, origin, authorization }, { path, role }) => {
    if (origin !== undefined && origins?.has(origin) === false && !isOwn(origin, host)) return unlistedOrigin(origin);
    if (hosts !== undefined && !isAllowedHost(host, hosts)) return unlistedHost(host);
    const account = accountOf(authorization);
    if (account === undefined) return unauthenticated(authorization);
    const { token } = account;
    return token === undefined || isAtLeast(token.role, role) ? account : notAllowed(token, path, role);
  };
}

interface Accounts {
  /**
   * Returns the account of the token in the authorization header. Undefined: the header has no token of this server.
   */
  readonly of: (authorization: string | undefined) => Account | undefined;
  /** Removes and returns the accounts whose token the server no longer accepts, or accepts in another role. */
  readonly withdrawn: () => ReadonlySet<Account>;
}

function accountsOf(tokens: Tokens | undefined): Accounts {
  const all = nobody();
  if (tokens === undefined) return { of: () => all, withdrawn: () => new Set() };
  // Accounts by token name, so that calls in progress stay counted when the tokens file is read again.
  const byName = new Map<string, Account>();
  return {
    of: (authorization) => {
      const brought = /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
      const token = brought === undefined ? undefined : tokens.find(brought);
      if (token === undefined) return undefined;
      const account = byName.get(token.name) ?? newAccount(token.name, token);
      account.token = token;
      byName.set(token.name, account);
      return account;
    },
    withdrawn: () => {
      const gone = [...byName.values()].filter(({ token }) => token !== undefined && !tokens.has(token));
      for (const { name } of gone) byName.delete(name);
      return new Set(gone);
    },
  };
}

/** Names that most clients use for the loopback interface; isLoopback checks other addresses one by one. */
const LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Checks the host, against DNS rebinding: a web page can make its own host name lead to a loopback address, and so call
 * a server there that requires no token. A gRPC client's host may list several addresses
 * ("ipv4:127.0.0.1:1,127.0.0.1:2"); all must be allowed.
 */
function isAllowedHost(host: string | undefined, allowed: ReadonlySet<string>): boolean {
  const addresses = (host?.toLowerCase() ?? "").replace(/^(?:dns|ipv4|ipv6):(?!\d*$)/, "").split(",");
  return addresses.every((address) => {
    const [, name] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(address) ?? [];
    return name !== undefined && (allowed.has(name) || isLoopback(name.replace(/^\[(.*)\]$/, "$1")));
  });
}

/**
 * Returns whether the page that sent the request was loaded from this server. `isAllowedHost` has checked the host's
 * name.
 */
function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, "") === host.toLowerCase();
}

function unlistedHost(host: string | undefined): RpcError {
  const came = host === undefined ? "none" : `'${host}'`;
  const message =
    `this server asks for no credentials, so the request's Host must be a loopback name or address, and it was ` +
    `${came}: start the server with --token-file, or with --allowed-host and that name`;
  return new RpcError("PERMISSION_DENIED", message);
}

function unlistedOrigin(origin: string): RpcError {
  const message = `web pages of the origin '${origin}' may not call this server: start it with --cors-origin and that origin`;
  return new RpcError("PERMISSION_DENIED", message);
}

function unauthenticated(authorization: string | undefined): RpcError {
  const wanted = "this server requires a token: send the header 'authorization: Bearer <token>'";
  const refused = "this server has no token like the one that was sent: check it, or ask the server's operator for one";
  return new RpcError("UNAUTHENTICATED", /^bearer +\S/i.test(authorization ?? "") ? refused : wanted);
}

function withdrawn({ name }: Account): RpcError {
  return new RpcError("UNAUTHENTICATED", `the token '${name}' was withdrawn, or has another role now`);
}

function notAllowed({ name, role }: Token, path: string, needed: Role): RpcError {
  const message = `${path} needs a token with the role ${needed}, and '${name}' has the role ${role}`;
  return new RpcError("PERMISSION_DENIED", message);
}

// The next functions limit the memory of all open calls together: incomplete requests, and answers that nobody reads.
// Without this limit, a few hundred streams that send and never read would exhaust the memory.

/**
 * Interval, in milliseconds, at which the memory and the age of open calls are checked. Between two checks, a client
 * can send at most some tens of megabytes. A check of 1,000 calls takes 0.1 ms.
 */
const lookEveryMs = 50;
/**
 * Delay, in milliseconds, after which a client should retry a call that was ended to free memory. Other calls have been
 * answered by then.
 */
const retryDelayMs = 1000;

/** Checks the open calls every 50 ms. Ends calls that keep too much memory, or whose request arrives too slowly. */
export function watchOpenCalls(maxBytes: number, requestTimeoutMs: number) {
  const open = new LinkedQueue<OpenCall>();
  let timer: NodeJS.Timeout | undefined;

  /**
   * Ends calls until the remaining ones are within the limit on memory. It takes the caller with most bytes, then this
   * caller's largest connection and its largest call. Otherwise many small calls of one caller could end another
   * caller's single large one.
   */
  const freeMemory = (): void => {
    const users = [...open].map((call) => ({ call, bytes: call.bufferedBytes }));
    let total = sumOf(users);
    if (total <= maxBytes) return;
    const callers = groups(users, ({ call: { account, peer } }) => callerName(account.name, peer)).map(
      ({ bytes, members }) => ({ bytes, members: groups(members, ({ call }) => call.connection) }),
    );
    while (total > maxBytes) {
      const caller = largest(callers);
      const connection = largest(caller.members);
      const user = largest(connection.members);
      if (user.bytes === 0) break;
      user.call.refuse(tooMuchMemory(maxBytes));
      total -= user.bytes;
      caller.bytes -= user.bytes;
      connection.bytes -= user.bytes;
      user.bytes = 0;
    }
  };
  const endTheLate = (): void => {
    const began = performance.now() - requestTimeoutMs;
    for (const call of [...open]) {
      if ((call.receivingSinceMs ?? Infinity) < began) call.refuse(tooSlow(requestTimeoutMs));
    }
  };
  const look = (): void => {
    if (open.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    endTheLate();
    freeMemory();
  };
  return {
    add: (call: OpenCall): (() => void) => {
      timer ??= setInterval(look, lookEveryMs).unref();
      return open.add(call);
    },
    all: (): readonly OpenCall[] => [...open],
  };
}

interface Sized {
  bytes: number;
}

const sumOf = (parts: readonly Sized[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0);
const largest = <Part extends Sized>(parts: readonly Part[]): Part =>
  parts.reduce((a, b) => (b.bytes > a.bytes ? b : a));

function groups<Part extends Sized>(parts: readonly Part[], key: (part: Part) => unknown) {
  return [...Map.groupBy(parts, key).values()].map((members) => ({ members, bytes: sumOf(members) }));
}

function tooMuchMemory(maxBytes: number): RpcError {
  const message =
    `the open calls hold more than ${maxBytes} bytes that are not answered or not read (--max-held-bytes), ` +
    "and this one held most of them: send less at once, and read the answers";
  return new RpcError("RESOURCE_EXHAUSTED", message, { retryDelayMs, wait: OVERLOADED });
}

function tooSlow(requestTimeoutMs: number): RpcError {
  const message = `the request did not arrive completely within ${requestTimeoutMs} ms (--request-timeout-ms): send it faster, or in parts`;
  return new RpcError("DEADLINE_EXCEEDED", message);
}
