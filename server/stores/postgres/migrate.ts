/**
 * Changes a database's tables to the form that this version of Gradus needs. It never goes back to an older form. Only
 * one server does this at a time. Others wait for a row's lock, which PostgreSQL releases when its holder ends in any
 * way.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { runner, type RunnerOption } from "node-pg-migrate";
import pg from "pg";
import { CannotOpen } from "../thread.ts";
import { statements } from "./statements.ts";

/** Folder of migrations (SQL files), which run in the order of their names. */
export const MIGRATIONS = fileURLToPath(new URL("migrations", import.meta.url));

const CONNECT_MS = 5000;
const UNDEFINED_TABLE = "42P01";

type Work = (client: pg.Client) => Promise<void>;

/** Migrates the tables and then runs `work`, one server at a time. Rejects with CannotOpen. */
export function prepare(url: string, work: Work): Promise<void> {
  return locked(url, makeLock, async (client) => {
    await migrate(client);
    await work(client);
  });
}

/**
 * Runs a command's work under the same lock as `prepare`, but without migrating, because servers of an earlier version
 * may still use the tables.
 */
export function withTables(url: string, work: Work): Promise<void> {
  const leave: Work = () => Promise.resolve();
  return locked(url, leave, work).catch(({ cause, message }: Error) => {
    const isEmpty = (cause as Partial<pg.DatabaseError> | undefined)?.code === UNDEFINED_TABLE;
    throw new CannotOpen(
      isEmpty ? "the database has no tables of Gradus; the first server that starts creates them" : message,
    );
  });
}

async function locked(url: string, before: Work, work: Work): Promise<void> {
  const clients = [0, 1].map(
    () => new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS, application_name: "gradus" }),
  ) as [pg.Client, pg.Client];
  const [locking, client] = clients;
  for (const each of clients) each.on("error", () => undefined);
  try {
    await Promise.all(clients.map((each) => each.connect()));
    await locking.query(statements.longLockTimeout);
    await before(client);
    await locking.query(statements.begin);
    await locking.query(statements.takeLock);
    await work(client);
    await locking.query(statements.commit);
  } catch (error) {
    if (error instanceof CannotOpen) throw error;
    throw new CannotOpen(`cannot open or update the database: ${(error as Error).message}`, { cause: error });
  } finally {
    await Promise.allSettled(clients.map((each) => each.end()));
  }
}

/**
 * Makes the table with the row that migrating servers lock. If two servers do this at once, one fails, but then the
 * table exists.
 */
async function makeLock(client: pg.Client): Promise<void> {
  try {
    await client.query(statements.fillLock);
  } catch (error) {
    if ((error as pg.DatabaseError).code !== UNDEFINED_TABLE) throw error;
    await client.query(statements.makeLock).catch(() => undefined);
    await client.query(statements.fillLock);
  }
}

async function migrate(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ readonly schema: string }>(statements.schema);
  const options: RunnerOption = {
    dbClient: client,
    dir: MIGRATIONS,
    direction: "up",
    migrationsTable: "migrations",
    migrationsSchema: rows[0]?.schema ?? "public",
    // No lock of node-pg-migrate is used: it is an advisory lock, which databases such as CockroachDB do not have.
    noLock: true,
    singleTransaction: false,
    checkOrder: true,
    migrationLoaderStrategies: [{ extensions: [".sql"], loader: (files) => Promise.resolve(files.map(unitOf)) }],
    log: () => undefined,
  };
  await refuseNewer(client, options);
  await runner(options);
}

/**
 * Reads a migration, whose statements run one by one. Each may be repeated, so the next server can complete a migration
 * that was interrupted.
 */
function unitOf(path: string) {
  const sql = readFileSync(path, "utf8").replaceAll(/^--.*$/gm, "");
  const parts = sql.split(/;\s*$/m).filter((statement) => statement.trim() !== "");
  const up = (builder: { noTransaction: () => void; sql: (sql: string) => void }): void => {
    builder.noTransaction();
    for (const statement of parts) builder.sql(statement);
  };
  return { id: path, filePaths: [path], actions: { up, down: false as const } };
}

async function refuseNewer(client: pg.Client, { dir }: RunnerOption): Promise<void> {
  const done = await client.query<{ readonly name: string }>(statements.migrated).catch((error: unknown) => {
    if ((error as pg.DatabaseError).code === UNDEFINED_TABLE) return { rows: [] };
    throw error;
  });
  const known = readdirSync(String(dir))
    .map((file) => basename(file, ".sql"))
    .sort();
  const [other] = done.rows.filter(({ name }) => !known.includes(name));
  if (other === undefined) return;
  const last = known.at(-1) ?? "none";
  throw new CannotOpen(
    `the database's tables are of a newer server (${other.name}), and this one knows them up to ${last}: use the newer version, or restore a backup from before its migration`,
  );
}
