/**
 * Connections to PostgreSQL. Work is repeated if its connection breaks or it loses a race, and the module tracks
 * whether the database can be used. While it cannot, calls are refused at once, and the database is asked twice a
 * second whether it is back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StoreDamaged, StoreUnavailable } from "../store.ts";
import { type StatementName, statements } from "./statements.ts";

export interface DatabaseOptions {
  /** For example postgres://user@host:port/database, with libpq's options after a "?", such as sslmode. */
  readonly url: string;
  /**
   * How long a call waits for the database to come back, and for another process's lock, in milliseconds. Defaults to
   * 5,000.
   */
  readonly patienceMs?: number;
  /** Called with the problem when the database can no longer be used; undefined: it can be used again. */
  readonly onProblem?: (problem: string | undefined) => void;
}

export type Rows = readonly Readonly<Record<string, unknown>>[];

export interface Connection {
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** Does work in a transaction: committed when the promise resolves, rolled back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** Connections for one purpose, so that it need not wait for others. */
export interface Connections {
  /**
   * Does work on a connection. Repeats it if the connection breaks, a race is lost, or the database is away for less
   * than a call's patience. `isDoubtful`: an earlier attempt may have been committed. Rejects with StoreUnavailable.
   */
  work<T>(work: (connection: Connection, isDoubtful: boolean) => Promise<T>): Promise<T>;
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** Takes a connection for longer; the caller gives it back, with the failure if there was one. */
  take(): Promise<Connection & { readonly give: (failure?: unknown) => void }>;
}

export interface Database {
  connections(max: number): Connections;
  close(): Promise<void>;
}

/**
 * SQLSTATEs of a broken connection, after which new work may succeed. Failures of the network count as broken
 * connections too.
 */
const BROKEN = /^(08|57P0[123]|25P03|25006)/;
/** Serialization failure and deadlock. */
const LOST_RACE = new Set<string | undefined>(["40001", "40P01"]);
/** SQLSTATEs of failures that may pass: no resources, an operator's action, a failing disk, a lock that is held. */
const MAY_PASS = /^(53|57|58|55P03|28|3D000)/;
/** SQLSTATEs of damage to the database's own files. */
const DAMAGE = /^XX00[12]/;

/** SQLSTATEs of a full disk or memory, a failing disk, a read-only server. */
const UNWRITABLE = /^(53[124]|58|25006)/;

export const CONNECT_MS = 2000;
/** A statement without an answer for this long is given up together with its connection. */
const ANSWER_MS = 10_000;
const ASK_MS = 500;
const BACKOFF_MS = [0, 20, 50, 100, 200, 400];

const INT8 = 20;

/** Reads int8 as a number: all numbers that Gradus stores fit. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text"): unknown =>
    oid === INT8 ? readInteger : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new StoreDamaged(`${text} is larger than any number that was written`);
  return value;
}

/** Too many connections: to the database, or in our pool. */
const TOO_MANY = "53300";
/** Message of pg-pool when all connections are in use for too long. */
const BUSY = "timeout exceeded when trying to connect";

/** Returns the SQLSTATE of an error; "": a failure of the network or the connection; undefined: a bug of ours. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code ?? "";
  if (error instanceof StoreDamaged || error instanceof TypeError || error instanceof RangeError) return undefined;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (message === BUSY) return TOO_MANY;
  const isNetwork = code !== undefined && /^E[A-Z]+$/.test(code);
  return isNetwork || /connection|timeout|terminated|not queryable|ended/i.test(message ?? "") ? "" : undefined;
}

/** Returns whether the connection is broken; the request may have been done all the same. */
export function isBroken(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === "" || BROKEN.test(code));
}

/** Returns whether nothing was written and another attempt may succeed. */
export function lostRace(error: unknown): boolean {
  return LOST_RACE.has(codeOf(error));
}

/** Returns the error that a caller gets. */
export function failureOf(error: unknown): unknown {
  const code = codeOf(error);
  const { message } = error as Error;
  if (code !== undefined && DAMAGE.test(code)) return new StoreDamaged(message);
  const mayPass = isBroken(error) || LOST_RACE.has(code) || MAY_PASS.test(code ?? "");
  return mayPass ? new StoreUnavailable(`the database cannot be used: ${message}`, { cause: error }) : error;
}

export function openDatabase({ url, patienceMs = 5000, onProblem = () => undefined }: DatabaseOptions): Database {
  const pools: pg.Pool[] = [];
  const state = health(onProblem);
  const connections = (max: number): Connections => {
    const pool = createPool(url, max);
    pools.push(pool);
    return connectionsOf(pool, state, patienceMs);
  };
  const asking = connections(1);
  const timer = setInterval(() => void state.look(asking), ASK_MS);
  // An idle store does not keep the process alive.
  timer.unref();
  return {
    connections,
    close: async () => {
      clearInterval(timer);
      state.close();
      await Promise.all(pools.map((pool) => pool.end()));
    },
  };
}

function createPool(connectionString: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max,
    types,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "gradus",
    // pg-pool waits for the returned promise, though its type does not say so.
    onConnect: (client) => setSession(client) as unknown as void,
  });
  // Errors of an unused connection are ignored; a user of a connection gets the error from its query.
  pool.on("error", () => undefined);
  return pool;
}

async function setSession(client: pg.ClientBase): Promise<void> {
  for (const name of ["isolation", "lockTimeout", "idleTimeout"] as const) await client.query(statements[name]);
}

/** Tracks whether the database can be used. */
function health(onProblem: (problem: string | undefined) => void) {
  let [away, unwritable]: (string | undefined)[] = [];
  let told: string | undefined;
  let [isAsking, closed] = [false, false];
  const tell = (): void => {
    const problem = away ?? unwritable;
    if (problem === told || closed) return;
    told = problem;
    onProblem(problem);
  };
  const state = {
    isAway: () => away !== undefined,
    isClosed: () => closed,
    answered: (): void => {
      away = undefined;
      tell();
    },
    /** Records a failed attempt to connect; a single broken connection says nothing about the others. */
    unreachable: (error: unknown): void => {
      if (codeOf(error) === TOO_MANY) return;
      away = `the database cannot be reached: ${(error as Error).message}`;
      tell();
    },
    failed: (error: unknown): void => {
      if (!UNWRITABLE.test(codeOf(error) ?? "")) return;
      unwritable = `the database cannot be written to: ${(error as Error).message}`;
      tell();
    },
    /** Checks whether the problem still exists. */
    look: async (connections: Connections): Promise<void> => {
      if (told === undefined || isAsking) return;
      isAsking = true;
      try {
        const connection = await connections.take();
        try {
          await connection.query(unwritable === undefined ? "ask" : "probe");
          unwritable = undefined;
          state.answered();
          connection.give();
        } catch (error) {
          connection.give(error);
        }
      } catch {
        // The problem is reported already.
      } finally {
        isAsking = false;
      }
    },
    close: () => (closed = true),
  };
  return state;
}

function connectionsOf(pool: pg.Pool, state: ReturnType<typeof health>, patienceMs: number): Connections {
  const take: Connections["take"] = async () => {
    try {
      const client = await pool.connect();
      // The user of the connection gets the error from its query.
      const onError = (): void => undefined;
      client.on("error", onError);
      const give = (failure?: unknown): void => {
        client.off("error", onError);
        client.release(failure !== undefined && isBroken(failure));
      };
      return { ...connectionOf(client, state), give };
    } catch (error) {
      state.unreachable(error);
      throw error;
    }
  };
  const attempt = async <T>(work: (connection: Connection, isDoubtful: boolean) => Promise<T>, isDoubtful: boolean) => {
    const connection = await take();
    try {
      const value = await work(connection, isDoubtful);
      connection.give();
      return value;
    } catch (error) {
      connection.give(error);
      throw Object.assign(error as Error, { wasSent: true });
    }
  };
  const work: Connections["work"] = async (task) => {
    const untilMs = performance.now() + patienceMs;
    if (state.isAway()) throw new StoreUnavailable("the database cannot be reached");
    for (let [tries, isDoubtful] = [0, false]; ; tries++) {
      try {
        return await attempt(task, isDoubtful);
      } catch (error) {
        const again = isBroken(error) || lostRace(error);
        const delayMs = BACKOFF_MS[tries] ?? ASK_MS;
        if (!again || state.isClosed() || performance.now() + delayMs > untilMs) throw failureOf(error);
        isDoubtful ||= isBroken(error) && "wasSent" in (error as object);
        // A random delay, so that two callers that lost to each other do not meet again.
        await sleep(delayMs * (0.5 + Math.random()));
      }
    }
  };
  return { take, work, query: (name, values) => work((connection) => connection.query(name, values)) };
}

function connectionOf(client: pg.PoolClient, state: ReturnType<typeof health>): Connection {
  const query: Connection["query"] = async (name, values = []) => {
    try {
      const { rows } = await client.query({ name, text: statements[name], values: [...values] });
      state.answered();
      return rows as Rows;
    } catch (error) {
      state.failed(error);
      throw error;
    }
  };
  return {
    query,
    transaction: async (work) => {
      await query("begin");
      try {
        const value = await work();
        await query("commit");
        return value;
      } catch (error) {
        if (!isBroken(error)) await query("rollback");
        throw error;
      }
    },
  };
}
