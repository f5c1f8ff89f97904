/** gradus doctor on databases that lack one thing each. */
import pg from "pg";
import { expect, test } from "vitest";
import { databaseChecks } from "../../cli/doctor-database.ts";
import { openPostgres } from "../../server/stores/postgres/postgres.ts";
import { signingKey } from "../../server/tasks/keyring.ts";
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
    "database: rights": expect.stringContaining("ok | the user may do what a server does") as string,
    "database: clock": expect.stringMatching(/^ok \| .*this machine's/) as string,
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
    /^missing \| the user may not read and write all of table evaluations, nor/,
  );
  await sql(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  expect((await checksOf(url))["database: rights"]).toMatch(/^missing \| it takes no writes/);
});

test("the command takes the database from --store", async () => {
  const url = await sharedDatabase();
  const flags = ["--port", "0", "--http-port", "0", "--sandbox", "off", "--store", url];
  using folder = temporaryFolder();
  const { code, out } = await gradus({ cwd: folder.path }, "doctor", ...flags);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok {7}database: PostgreSQL/m);
});
