/** Every report of README.md names a test that is there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const rows = readFileSync(join(import.meta.dirname, "README.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (report|---)/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, report = "", , file = "", name = ""]) => ({ report, file, name }));

test("there are forty reports at least, each once", () => {
  expect(rows.length).toBeGreaterThanOrEqual(40);
  expect(new Set(rows.map(({ report }) => report)).size).toBe(rows.length);
});

test.each(rows)("$report is held by a test of $file", ({ file, name }) => {
  const text = readFileSync(join(root, file), "utf8");
  expect(name).not.toBe("");
  expect(text).toContain(name);
});
