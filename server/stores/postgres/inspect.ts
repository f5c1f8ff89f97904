/**
 * Collects facts about a database for `gradus doctor`, before a server uses it. Changes nothing. Its queries are not in
 * statements.ts, because they need PostgreSQL's own catalogs.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import pg from "pg";
import { MIGRATIONS } from "./migrate.ts";

export interface Inspected {
  /** Version of PostgreSQL, for example "18.4". */
  readonly version: string;
  readonly major: number;
  /** Whether the database refuses writes, because it is a standby or set to read-only. */
  readonly readsOnly: boolean;
  /** Names of the migrations that were applied to the database. */
  readonly done: readonly string[];
  /** Names of the migrations that this version of Gradus knows. */
  readonly known: readonly string[];
  /** Rights that a server needs but this database user does not have, one phrase for each. */
  readonly lacking: readonly string[];
  /**
   * Time by which the database's clock is ahead of this machine's, in milliseconds. The round trip to the database
   * limits its accuracy.
   */
  readonly aheadMs: number;
  /** Maximum number of connections that servers may open as this user: the lowest limit minus reserved connections. */
  readonly connectionsMax: number;
  /** Number of open connections that count towards the same limit, without those of this inspection. */
  readonly connectionsUsed: number;
  /**
   * Whether a pooler such as PgBouncer is between this process and the database, in transaction mode. "unsure": there
   * is a pooler, but its mode is not clear.
   */
  readonly pooler: "none" | "transaction" | "unsure";
}

const CONNECT_MS = 5000;
const UNDEFINED_TABLE = "42P01";

const ABOUT = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int4 AS number,
  pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS "readsOnly",
  has_schema_privilege(current_schema(), 'CREATE') AS creates, current_schema() AS schema`;
const DONE = "SELECT name FROM migrations ORDER BY id";
/** Selects the tables on which the user lacks a right. */
const RIGHTS = `SELECT tablename AS "table" FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY($1::text[])
  AND NOT (has_table_privilege(format('%I.%I', schemaname, tablename), 'SELECT')
    AND has_table_privilege(format('%I.%I', schemaname, tablename), 'INSERT')
    AND has_table_privilege(format('%I.%I', schemaname, tablename), 'UPDATE')
    AND has_table_privilege(format('%I.%I', schemaname, tablename), 'DELETE')) ORDER BY 1`;
const NOW = `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`;

/**
 * Selects the strictest limit on connections (of the server, the database or the user), and the connections in use. −1
 * means no limit.
 */
const CONNECTIONS = `SELECT "max", used FROM (VALUES
    (current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
      - coalesce(current_setting('reserved_connections', true), '0')::int4,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')),
    ((SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())),
    ((SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
      (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user))
  ) AS limits("max", used) WHERE "max" >= 0 ORDER BY "max" - used LIMIT 1`;
const PID = "SELECT pg_backend_pid() AS pid";

/** Returns the names of all migrations, and of the tables that they make. */
function migrations(): { readonly names: readonly string[]; readonly tables: readonly string[] } {
  const files = readdirSync(MIGRATIONS).sort();
  const made = files.flatMap((file) => [
    ...readFileSync(join(MIGRATIONS, file), "utf8").matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g),
  ]);
  const tables = made.flatMap(([, table]) => table ?? []);
  return { names: files.map((file) => basename(file, ".sql")), tables: [...tables, "migrations", "migration_lock"] };
}

/** Inspects a database. Rejects with the error if the database cannot be reached or queried. */
export async function inspect(url: string): Promise<Inspected> {
  const clients = [1, 2].map(
    () =>
      new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: CONNECT_MS,
        application_name: "gradus doctor",
      }),
  ) as [pg.Client, pg.Client];
  const [client, second] = clients;
  for (const each of clients) each.on("error", () => undefined);
  try {
    await client.connect();
    const found = await asked(client);
    await second.connect();
    return { ...found, pooler: await poolerOf(client, second) };
  } finally {
    for (const each of clients) await each.end().catch(() => undefined);
  }
}

/**
 * Detects a pooler: the process id that it reports to a client is not the one that serves the client. In transaction
 * mode, a client's process serves another client between two transactions.
 */
async function poolerOf(client: pg.Client, other: pg.Client): Promise<Inspected["pooler"]> {
  const pid = async (of: pg.Client) => (await of.query<{ readonly pid: number }>(PID)).rows[0]?.pid;
  const before = await pid(client);
  if (before === (client as unknown as { readonly processID: number }).processID) return "none";
  await other.query("BEGIN");
  if ((await pid(other)) === before) return "transaction";
  return (await pid(client)) === before ? "unsure" : "transaction";
}

async function asked(client: pg.Client): Promise<Omit<Inspected, "pooler">> {
  interface About extends Pick<Inspected, "version" | "readsOnly"> {
    readonly number: number;
    readonly creates: boolean | null;
    readonly schema: string | null;
  }
  const [about] = (await client.query<About>(ABOUT)).rows;
  if (about === undefined) throw new Error("the database returned no row for its version and rights");
  const { names: known, tables } = migrations();
  const done = await migrated(client);
  const lacking = (await client.query<{ readonly table: string }>(RIGHTS, [tables])).rows.map(
    ({ table }) => `read and write all of table ${table}`,
  );
  const isPending = known.some((name) => !done.includes(name));
  if (isPending && about.creates !== true) lacking.push(`make tables in schema ${about.schema ?? "public"}`);
  const sentAtMs = Date.now();
  const [time] = (await client.query<{ readonly nowMs: number }>(NOW)).rows;
  const aheadMs = (time?.nowMs ?? NaN) - (sentAtMs + Date.now()) / 2;
  const { version, number, readsOnly } = about;
  const [limit] = (await client.query<{ readonly max: number; readonly used: string }>(CONNECTIONS)).rows;
  const connections = { connectionsMax: limit?.max ?? Infinity, connectionsUsed: Number(limit?.used ?? 1) - 1 };
  return { version, major: Math.floor(number / 10_000), readsOnly, done, known, lacking, aheadMs, ...connections };
}

async function migrated(client: pg.Client): Promise<readonly string[]> {
  try {
    return (await client.query<{ readonly name: string }>(DONE)).rows.map(({ name }) => name);
  } catch (error) {
    if ((error as pg.DatabaseError).code === UNDEFINED_TABLE) return [];
    throw error;
  }
}
