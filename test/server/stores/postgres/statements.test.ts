/**
 * Tests that statements stay within a subset of SQL that other engines document as well:
 * docs/decisions/0028-postgres.md names the engines.
 * None of those engines runs here, so the tests show no more than that.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../../server/stores/postgres/migrate.ts";
import { statements } from "../../../../server/stores/postgres/statements.ts";

const migrations = readdirSync(MIGRATIONS).flatMap((file) =>
  readFileSync(join(MIGRATIONS, file), "utf8")
    .replaceAll(/^--.*$/gm, "")
    .split(/;\s*$/m)
    .filter((statement) => statement.trim() !== "")
    .map((statement, i) => [`${file} ${i + 1}`, statement] as const),
);
/** A server does without LISTEN and NOTIFY if a database refuses them (notices.test.ts). */
const { listen, notify, ...needed } = statements;
const all = [...Object.entries(needed), ...migrations];

/** Returns the words of a statement, without its string literals. */
const wordsOf = (sql: string): readonly string[] =>
  sql
    .replaceAll(/'[^']*'/g, "''")
    .toLowerCase()
    .match(/[a-z_][a-z0-9_]*/g) ?? [];

/** First words that a statement may have. */
const KINDS = new Set(["select", "insert", "update", "delete", "with", "begin", "commit", "rollback", "set", "create"]);

const FUNCTIONS = new Set([
  "unnest",
  "now",
  "sum",
  "count",
  "max",
  "coalesce",
  "octet_length",
  "extract",
  "any",
  "exists",
  "current_schema",
]);

/** Words that stand before a parenthesis and are no functions. */
const SYNTAX = new Set(
  "select turns runs events records heads summaries snapshots removals evaluations tasks samples run_samples run_samples_of_run run_samples_by_time sessions sessions_of_caller sessions_by_time run_counts run_counts_of_run run_counts_by_time holds keys migration_lock replicas a e t values as in over key from where and conflict on".split(
    " ",
  ),
);

const TYPES = new Set(["int4", "int8", "float8", "bytea", "text", "timestamptz", "bool"]);

test("notices are all that a database may refuse", () => {
  expect([listen, notify]).toEqual(["LISTEN gradus_runs", "SELECT pg_notify('gradus_runs', $1)"]);
});

test.each(all)("%s: is one statement of a kind that is allowed", (_, sql) => {
  expect(sql).not.toContain(";");
  expect(KINDS).toContain(wordsOf(sql)[0]);
});

test.each(all)("%s: asks for nothing that others do not have", (_, sql) => {
  const refused = [
    /advisory/i, // locks of a session
    /\b(listen|notify)\b/i,
    /\b(temp|temporary|unlogged)\b/i,
    /\b(do|function|procedure|trigger|language|plpgsql)\b\s+['$(]/i,
    /\b(serial|bigserial|nextval|currval|setval)\b/i,
    /\b(jsonb?|ctid|xmin|pg_\w+|regclass|lateral|merge|nowait|tablesample)\b/i,
    /\bisolation level\b/i,
    /\block table\b/i,
    /\bfor (share|no key update|key share)\b/i,
  ];
  expect(refused.filter((pattern) => pattern.test(sql))).toEqual([]);
});

test.each(all)("%s: calls functions and names types that are allowed", (_, sql) => {
  const plain = sql.replaceAll(/'[^']*'/g, "''").toLowerCase();
  const called = [...plain.matchAll(/([a-z_][a-z0-9_]*)\s*\(/g)].map(([, name = ""]) => name);
  expect(called.filter((name) => !FUNCTIONS.has(name) && !SYNTAX.has(name))).toEqual([]);
  const cast = [...plain.matchAll(/::([a-z0-9_]+)/g)].map(([, name = ""]) => name);
  expect(cast.filter((name) => !TYPES.has(name))).toEqual([]);
});

test("tables and indices are made by statements of their own, and never with data in one transaction", () => {
  const making = all.filter(([, sql]) => /^\s*(create|alter|drop)/i.test(sql));
  expect(making.length).toBeGreaterThan(5);
  for (const [name, sql] of making)
    expect([name, /^\s*create (table|index) if not exists /i.test(sql)]).toEqual([name, true]);
});

test("a table's rows are changed once in a statement", () => {
  for (const [name, sql] of all) {
    const changed = [...sql.matchAll(/\b(?:insert into|delete from|(?<!do )update)\s+(\w+)/gi)].map(
      ([, table]) => table,
    );
    expect([name, new Set(changed).size]).toEqual([name, changed.filter((table) => table !== "SET").length]);
  }
});
