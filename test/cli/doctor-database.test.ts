/** `gradus doctor` on databases that lack one thing each. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { databaseChecks } from "../../cli/doctor-database.ts";
import { openPostgres } from "../../server/stores/postgres/postgres.ts";
import { signingKey } from "../../server/tasks/keyring.ts";
import { programOf } from "../support/debian.ts";
import { eventually } from "../support/patience.ts";
import { freePorts } from "../support/replicas.ts";
import { sharedDatabase } from "../support/shared-postgres.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

async function checksOf(url: string) {
  const checks = await Array.fromAsync(databaseChecks(url));
  return Object.fromEntries(checks.map(({ name, state, found, remedy }) => [name, [state, found, remedy].join(" | ")]));
}

async function sql(url: string, ...texts: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const text of texts) await client.query(text);
  await client.end();
}

async function migrated(): Promise<string> {
  const url = await sharedDatabase();
  await (await openPostgres({ url, keys: [signingKey(Buffer.alloc(32, 7))] })).close();
  return url;
}

test("one that is empty, and one that a server has opened, lack nothing", async () => {
  const fresh = await sharedDatabase();
  const place = fresh.replace("postgres://gradus@", "");
  expect(await checksOf(fresh)).toMatchObject({
    database: expect.stringMatching(new RegExp(`^ok \\| PostgreSQL [\\d.]+ at ${place} `)) as string,
    "database: tables": expect.stringContaining("ok | none yet: a server makes them") as string,
    "database: rights": expect.stringContaining("ok | the user has all rights that a server needs") as string,
    "database: clock": expect.stringMatching(/^ok \| .*this machine's/) as string,
    "database: connections": expect.stringMatching(
      /^\w+ \| \d+ of \d+ are open, which leaves enough for \d+ more servers/,
    ) as string,
    "database: pooler": "ok | none | ",
  });
  const used = await migrated();
  expect((await checksOf(used))["database: tables"]).toMatch(/^ok \| as this version has them \(0/);
});

test("one that cannot be reached, or is not there, is missing, and no password is shown", async () => {
  const url = await sharedDatabase();
  const other = url.replace(/[^/]*$/, "none").replace("gradus@", "gradus:secret@");
  const nowhere = "postgres://gradus:secret@127.0.0.1:1/gradus";
  const [unknown, refused] = [await checksOf(other), await checksOf(nowhere)];
  expect(unknown["database"]).toMatch(/^missing \| .* \| make it by createdb/);
  expect(refused["database"]).toMatch(/^missing \| 127\.0\.0\.1:1\/gradus: .* \| start PostgreSQL there/);
  expect(JSON.stringify([unknown, refused])).not.toContain("secret");
});

test("tables of a newer server, and tables that this version will bring up to date, are told", async () => {
  const url = await migrated();
  await sql(url, "DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations)");
  expect((await checksOf(url))["database: tables"]).toMatch(/^warning \| at 0.*: a server brings them to 0/);
  await sql(url, "INSERT INTO migrations (name, run_on) VALUES ('9999_later', now())");
  expect((await checksOf(url))["database: tables"]).toMatch(/^missing \| of a newer server \(9999_later\)/);
});

test("a user who may not write, and a database that only reads, are told", async () => {
  const url = await migrated();
  const name = /[^/]*$/.exec(url)?.[0] ?? "";
  await sql(url, `CREATE ROLE reader_${name} LOGIN`, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_${name}`);
  const ofReader = await checksOf(url.replace("gradus@", `reader_${name}@`));
  expect(ofReader["database: rights"]).toMatch(
    /^missing \| the database user may not read and write all of table evaluations, nor/,
  );
  await sql(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  expect((await checksOf(url))["database: rights"]).toMatch(/^missing \| it is read-only/);
});

test("the command takes the database from --store", async () => {
  const url = await sharedDatabase();
  const flags = ["--port", "0", "--http-port", "0", "--sandbox", "off", "--store", url];
  using folder = temporaryFolder();
  const { code, out } = await gradus({ cwd: folder.path }, "doctor", ...flags);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok {7}database: PostgreSQL/m);
});

test("connections that are too few for a server, or for an upgrade, are told, whichever limit it is", async () => {
  const url = await sharedDatabase();
  const name = /[^/]*$/.exec(url)?.[0] ?? "";
  const ofLimit = async (limit: number) => {
    await sql(url, `ALTER DATABASE ${name} CONNECTION LIMIT ${limit}`);
    return (await checksOf(url.replace("gradus@", `plain_${name}@`)))["database: connections"];
  };
  await sql(url, `CREATE ROLE plain_${name} LOGIN`);
  expect(await ofLimit(10)).toMatch(/^missing \| 0 of 10 are open, which leaves enough for 0 more servers \| raise/);
  expect(await ofLimit(20)).toMatch(
    /^warning \| 0 of 20 are open, which leaves enough for 1 more servers .* 30 for each server/,
  );
  expect(await ofLimit(35)).toMatch(/^ok \| 0 of 35 are open, which leaves enough for 2 more servers/);
  await sql(url, `ALTER ROLE plain_${name} CONNECTION LIMIT 12`);
  expect(await ofLimit(35)).toMatch(/^missing \| 0 of 12 are open/);
});

test.each([
  ["transaction", /^missing \| a pooler in transaction mode/],
  ["session", /^warning \| a pooler that may be in transaction mode \| .*session mode/],
])("PgBouncer in %s mode is told", async (mode, words) => {
  using folder = temporaryFolder();
  const direct = new URL(await sharedDatabase());
  const [port = 0] = await freePorts(1);
  const host = direct.searchParams.get("host") ?? direct.hostname;
  const to = `host=${host} port=${direct.port || 5432} user=gradus`;
  const settings = [
    "[databases]",
    `* = ${to}`,
    "[pgbouncer]",
    ...[
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      `pool_mode = ${mode}`,
      "auth_type = any",
      "unix_socket_dir =",
    ],
  ];
  const file = join(folder.path, "pgbouncer.ini");
  writeFileSync(file, `${settings.join("\n")}\n`);
  chmodSync(folder.path, 0o755);
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn(programOf(["pgbouncer"], "pgbouncer"), [...user, file], { stdio: "ignore" });
  try {
    const url = `postgres://gradus@127.0.0.1:${port}${direct.pathname}`;
    await eventually(async () => expect((await checksOf(url))["database: pooler"]).toMatch(words));
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
});
