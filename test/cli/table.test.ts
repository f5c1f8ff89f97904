/** Tests of tables of commands: their columns, wrapping of the last one, and the time for thousands of rows. */
import { expect, test } from "vitest";
import { table } from "../../cli/print.ts";

test("columns are as wide as their widest cell, and the last one is wrapped at blanks", () => {
  const long = Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ");
  const lines = table(
    ["a", "what it is"],
    [
      ["one", long],
      ["three", ""],
      ["two\nlines", "x"],
    ],
  ).split("\n");
  expect(lines[0]).toBe("a      what it is");
  expect(lines[1]).toMatch(/^one    word0 word1 /);
  expect(lines[2]).toMatch(/^ {7}word\d+ /);
  expect(lines.every(({ length }) => length <= 120)).toBe(true);
  expect(lines.slice(-3)).toEqual(["three", "two    x", "lines"]);
  const words = lines.slice(1, -3).flatMap((line) => line.slice(7).split(" "));
  expect(words.join(" ")).toBe(long);
});

test("ten thousand rows take a fraction of a second of CPU", () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => [`run-${i}`, "mixture", "going on", "0", "0", "4"]);
  const before = process.cpuUsage();
  expect(table(["run", "policy", "", "tasks", "samples", "arms"], rows).split("\n")).toHaveLength(10_001);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(1);
});
