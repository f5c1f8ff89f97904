/**
 * Connects to PostgreSQL. Work is repeated if its connection breaks or another transaction conflicts with it. While the
 * database cannot be reached, calls are refused at once, and connecting is tried twice a second.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StoreDamaged, StoreUnavailable } from "../store.ts";
import { type StatementName, statements } from "./statements.ts";

export interface DatabaseOptions {
  /** Address, for example postgres://user@host:port/database. Options of libpq such as sslmode may follow after "?". */
  readonly url: string;
  /** Maximum time that a call waits for the database to come back, in milliseconds. Defaults to 5,000. */
  readonly patienceMs?: number;
  /** Called with a problem when the database can no longer be used. Undefined: it can be used again. */
  readonly onProblem?: (problem: string | undefined) => void;
}

export type Rows = readonly Readonly<Record<string, unknown>>[];

export interface Connection {
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** Runs work in a transaction. It is committed when the promise resolves, and rolled back when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** Pool of connections for one purpose, so that this purpose does not wait for others. */
export interface Connections {
  /**
   * Runs work on a connection. Repeats it for at most `patienceMs` if the connection breaks or another transaction
   * conflicts. `isDoubtful`: an earlier attempt may have been committed. Rejects with StoreUnavailable.
   */
  work<T>(work: (connection: Connection, isDoubtful: boolean) => Promise<T>): Promise<T>;
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** Takes a connection out of the pool. The caller must call `give`, with the error if the work failed. */
  take(): Promise<Connection & { readonly give: (failure?: unknown) => void }>;
}

export interface Database {
  connections(max: number): Connections;
  close(): Promise<void>;
}

/**
 * Matches error codes (SQLSTATE) of a broken connection. Work may succeed on a new connection. Network failures count
 * as broken connections too.
 */
const BROKEN = /^(08|57P0[123]|25P03|25006)/;
/** Error codes after a conflict with another transaction: serialization failure and deadlock. */
const LOST_RACE = new Set<string | undefined>(["40001", "40P01"]);
/**
 * Matches error codes of temporary failures: too few resources, an operator's action, a failing disk, or a lock that
 * another process holds.
 */
const MAY_PASS = /^(53|57|58|55P03|28|3D000)/;
/** Matches error codes of damage to the database's own files. */
const DAMAGE = /^XX00[12]/;

/**
 * Matches error codes that mean that nothing can be written: a full disk or memory, a failing disk, a read-only server.
 */
const UNWRITABLE = /^(53[124]|58|25006)/;

export const CONNECT_MS = 2000;
/** Maximum time to wait for the answer to a statement, in milliseconds. Then the connection is given up. */
const ANSWER_MS = 10_000;
const ASK_MS = 500;
const BACKOFF_MS = [0, 20, 50, 100, 200, 400];

const INT8 = 20;

/** Makes the client read 64-bit integers as numbers. All numbers that Gradus stores are small enough. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text"): unknown =>
    oid === INT8 ? readInteger : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new StoreDamaged(`the number ${text} is larger than any that Gradus writes`);
  return value;
}

/** Error code for too many connections. It is also used when this process's pool has no free connection. */
const TOO_MANY = "53300";
/** Error message of the pg-pool library if all its connections stay in use for too long. */
const BUSY = "timeout exceeded when trying to connect";

/**
 * Returns the error code (SQLSTATE) of an error. "": the network or the connection failed. Undefined: the error is a
 * bug.
 */
function codeOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code ?? "";
  if (error instanceof StoreDamaged || error instanceof TypeError || error instanceof RangeError) return undefined;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (message === BUSY) return TOO_MANY;
  const isNetwork = code !== undefined && /^E[A-Z]+$/.test(code);
  return isNetwork || /connection|timeout|terminated|not queryable|ended/i.test(message ?? "") ? "" : undefined;
}

/** Returns whether an error means that the connection broke. The statement may have taken effect nevertheless. */
export function isBroken(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === "" || BROKEN.test(code));
}

/**
 * Returns whether a transaction failed because another one conflicted with it. Nothing was written then, and another
 * attempt may succeed.
 */
export function lostRace(error: unknown): boolean {
  return LOST_RACE.has(codeOf(error));
}

/**
 * Converts an error of the database into the one that callers get: StoreDamaged, StoreUnavailable, or the same error.
 */
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
  // An open timer must not keep the process alive.
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
    // The promise is returned, because pg-pool waits for it, although its type says void.
    onConnect: (client) => setSession(client) as unknown as void,
  });
  // Errors of unused connections are ignored. A query on a broken connection reports the error itself.
  pool.on("error", () => undefined);
  return pool;
}

async function setSession(client: pg.ClientBase): Promise<void> {
  for (const name of ["isolation", "lockTimeout", "idleTimeout"] as const) await client.query(statements[name]);
}

/** Tracks whether the database can be reached and written to, and reports changes. */
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
    /**
     * Records that connecting failed. A single broken connection is not recorded, because the other connections may
     * work.
     */
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
    /** Tests whether the reported problem still exists. */
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
        // An error is ignored, because the problem is already reported.
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
      // The error is ignored here, because a query on this connection reports it.
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
        // The delay is random, so that two transactions that got in each other's way do not meet again.
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
