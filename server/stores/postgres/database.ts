/**
 * Connections to PostgreSQL: work is done again where one broke or a race was lost, and it is known whether the database can
 * be used. While it cannot, calls are refused at once, and it is asked twice a second whether it is back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StoreDamaged, StoreUnavailable } from "../store.ts";
import { type StatementName, statements } from "./statements.ts";

export interface DatabaseOptions {
  /** postgres://user@host:port/database, with what libpq takes behind a "?", as sslmode. */
  readonly url: string;
  /** How long a call waits for the database to come back, and for another process's lock, milliseconds. */
  readonly patienceMs?: number;
  /** Told when the database can no longer be used, and why; undefined: it can be again. */
  readonly onProblem?: (problem: string | undefined) => void;
}

export type Rows = readonly Readonly<Record<string, unknown>>[];

export interface Connection {
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** Does work as one: committed when it resolves, undone when it rejects. */
  transaction<T>(work: () => Promise<T>): Promise<T>;
}

/** Connections that are used for one thing, so that it does not wait for another. */
export interface Connections {
  /**
   * Does work on a connection, and again where that breaks, a race is lost, or the database is away for less than a call's
   * patience. `isDoubtful`: an attempt before may have been committed. Rejects with StoreUnavailable.
   */
  work<T>(work: (connection: Connection, isDoubtful: boolean) => Promise<T>): Promise<T>;
  query(name: StatementName, values?: readonly unknown[]): Promise<Rows>;
  /** A connection for longer; whoever takes it gives it back, and says whether it failed. */
  take(): Promise<Connection & { readonly give: (failure?: unknown) => void }>;
}

export interface Database {
  connections(max: number): Connections;
  close(): Promise<void>;
}

/** Work that begins afterwards may succeed; a failure of the network counts as one of the connection. */
const BROKEN = /^(08|57P0[123]|25P03|25006)/;
/** Serialization failure and deadlock. */
const LOST_RACE = new Set<string | undefined>(["40001", "40P01"]);
/** What may pass: no resources, an operator's doing, a failing disk, a lock that is not let go of. */
const MAY_PASS = /^(53|57|58|55P03|28|3D000)/;
/** The database says that its own files are damaged. */
const DAMAGE = /^XX00[12]/;

/** A full disk or memory, a failing disk, a server that only reads. */
const UNWRITABLE = /^(53[124]|58|25006)/;

export const CONNECT_MS = 2000;
/** A statement that is not answered for this long is given up, and its connection with it. */
const ANSWER_MS = 10_000;
const ASK_MS = 500;
const BACKOFF_MS = [0, 20, 50, 100, 200, 400];

const INT8 = 20;

/** Numbers as numbers: what is counted here fits. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text"): unknown =>
    oid === INT8 ? readInteger : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new StoreDamaged(`${text} is larger than any number that was written`);
  return value;
}

/** Too many connections: the database's, or ours. */
const TOO_MANY = "53300";
/** What pg-pool says where all connections are in use for too long. */
const BUSY = "timeout exceeded when trying to connect";

/** An SQLSTATE; "": a failure of the network, or of the connection; undefined: a bug of ours. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code ?? "";
  if (error instanceof StoreDamaged || error instanceof TypeError || error instanceof RangeError) return undefined;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (message === BUSY) return TOO_MANY;
  const isNetwork = code !== undefined && /^E[A-Z]+$/.test(code);
  return isNetwork || /connection|timeout|terminated|not queryable|ended/i.test(message ?? "") ? "" : undefined;
}

/** Whether what was sent may have been done all the same, and the connection is of no use any more. */
export function isBroken(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (code === "" || BROKEN.test(code));
}

/** Nothing was written, and another attempt may succeed. */
export function lostRace(error: unknown): boolean {
  return LOST_RACE.has(codeOf(error));
}

/** As a caller is told of it. */
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
  // A store that nobody asks anything of keeps no process alive.
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
    // What it returns is waited for, though its type does not say so.
    onConnect: (client) => setSession(client) as unknown as void,
  });
  // Of one that nobody uses; whoever uses one is told by what he asked.
  pool.on("error", () => undefined);
  return pool;
}

async function setSession(client: pg.ClientBase): Promise<void> {
  for (const name of ["isolation", "lockTimeout", "idleTimeout"] as const) await client.query(statements[name]);
}

/** Whether the database can be used. */
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
    /** A connection was not made; one that breaks tells nothing of the others. */
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
    /** Asks whether what was wrong still is. */
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
        // It is told already.
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
      // Whoever uses it is told by what he asks.
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
        // Those that lost to each other do not meet again.
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
