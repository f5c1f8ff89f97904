/** Checks a PostgreSQL database for `gradus doctor`: whether a server could open it, and what the server would find. */
import type { Inspected } from "../server/stores/postgres/inspect.ts";
import { type Check, missing, ok, warning } from "./doctor-check.ts";

const NAME = "database";
/** Minimum major version of PostgreSQL that Gradus fully supports. The guides state the same version. */
const MAJOR_MIN = 15;
/**
 * Maximum difference between the clocks of this machine and of the database, in milliseconds. Larger differences are
 * reported.
 */
const CLOCK_MS_MAX = 60_000;

/** Maximum number of connections that one server opens. */
const CONNECTIONS_MAX = 15;

/**
 * Instructions for the user, by PostgreSQL's error code (SQLSTATE), or by the system's error code for a failed
 * connection.
 */
const remedies: Readonly<Record<string, string>> = {
  "28P01": "correct the user or the password: in ~/.pgpass, PGPASSFILE, PGPASSWORD or the URL",
  "28000": "allow the user from this machine in pg_hba.conf, or name another user in the URL",
  "3D000": "make it by createdb, or name another in the URL",
  "42501": "GRANT the user the missing rights, or name another user in the URL",
  "53300": `raise max_connections: a Gradus server opens up to ${CONNECTIONS_MAX} connections`,
  ECONNREFUSED: "start PostgreSQL there, or correct the host and port in the URL",
  ENOTFOUND: "correct the host in the URL",
};

/** Returns host, port and database name of a URL, without user and password. */
function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return "the database of --store";
  }
}

export async function* databaseChecks(url: string): AsyncGenerator<Check> {
  const place = placeOf(url);
  const { inspect } = await import("../server/stores/postgres/inspect.ts");
  let found: Inspected;
  try {
    found = await inspect(url);
  } catch (error) {
    const { code = "", message } = error as { readonly code?: string; readonly message: string };
    const remedy = remedies[code] ?? "correct the URL of --store, or check the network and firewalls on the way";
    yield missing(NAME, `${place}: ${message || code}`, remedy);
    return;
  }
  yield version(place, found);
  yield migrations(found);
  yield rights(found);
  yield clock(found);
  yield connections(found);
  yield pooler(found);
}

function version(place: string, { version: number, major }: Inspected): Check {
  const found = `PostgreSQL ${number} at ${place}`;
  if (major >= MAJOR_MIN) return ok(NAME, found);
  return warning(NAME, found, `PostgreSQL ${MAJOR_MIN} or newer is required for full support`);
}

function migrations({ done, known }: Inspected): Check {
  const name = "database: tables";
  const newer = done.filter((each) => !known.includes(each));
  if (newer.length > 0) {
    const remedy = "use the version of Gradus that made them, or restore a backup from before";
    return missing(name, `of a newer server (${newer.join(", ")})`, remedy);
  }
  const pending = known.filter((each) => !done.includes(each));
  if (done.length === 0) return ok(name, "none yet: a server makes them");
  const last = done.at(-1) ?? "";
  if (pending.length === 0) return ok(name, `as this version has them (${last})`);
  const remedy = "back up first: an older server does not open the database afterwards (docs/guides/upgrading.md)";
  return warning(name, `at ${last}: a server brings them to ${pending.at(-1)}`, remedy);
}

function rights({ lacking, readsOnly }: Inspected): Check {
  const name = "database: rights";
  if (readsOnly) {
    const remedy = "name the primary in the URL, or let it be written to (default_transaction_read_only)";
    return missing(name, "it is read-only", remedy);
  }
  if (lacking.length === 0) return ok(name, "the user has all rights that a server needs");
  const remedy = "GRANT them, or make the user the owner of the database";
  return missing(name, `the database user may not ${lacking.join(", nor ")}`, remedy);
}

/**
 * Compares the clocks of the database and this machine. Runs use the database's clock and do not suffer from a
 * difference, but logs become hard to compare.
 */
function clock({ aheadMs }: Inspected): Check {
  const name = "database: clock";
  const seconds = Math.round(Math.abs(aheadMs) / 100) / 10;
  const found =
    seconds === 0 ? "as this machine's" : `${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return ok(name, found);
  return warning(name, found, "set both clocks, e.g. by NTP: runs go by the database's");
}

/**
 * Checks whether enough connections are free. An upgrade starts the new server before the old one ends, so twice the
 * connections of one server are needed.
 */
function connections({ connectionsMax, connectionsUsed }: Inspected): Check {
  const name = "database: connections";
  const [needed, left] = [2 * CONNECTIONS_MAX, connectionsMax - connectionsUsed];
  const found = `${connectionsUsed} of ${connectionsMax} are open, which leaves enough for ${Math.max(0, Math.floor(left / CONNECTIONS_MAX))} more servers`;
  if (left >= needed) return ok(name, found);
  const remedy = `raise max_connections (or the limit of the user or the database): ${needed} for each server, with upgrades`;
  return { name, state: left >= CONNECTIONS_MAX ? "warning" : "missing", found, remedy };
}

function pooler({ pooler }: Inspected): Check {
  const name = "database: pooler";
  if (pooler === "none") return ok(name, "none");
  const remedy = "name the database itself in the URL, or a pooler in session mode (docs/guides/replicas.md)";
  if (pooler === "unsure") return warning(name, "a pooler that may be in transaction mode", remedy);
  return missing(name, "a pooler in transaction mode, which loses a session's settings", remedy);
}
