/** The rows that ship with math, and those of the other schema that runs and tests start on. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Parsed } from "../../../envs/facts.ts";
import { runsOf } from "../../../envs/lib/picture/prose.ts";
import { typeset } from "../../../envs/lib/picture/tex.ts";
import { math } from "../../../envs/math/index.ts";
import { type MathInstance, readRow } from "../../../envs/math/instance.ts";
import { readMath } from "../../../envs/math/value.ts";

function rowsOf(file: URL): readonly unknown[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

function instanceOf(row: unknown): MathInstance {
  const read: Parsed<MathInstance> = readRow(row);
  if (read.kind === "malformed") throw new Error(read.reason);
  return read.answer;
}

const own = rowsOf(math.rows!.defaultPool!.file).map(instanceOf);
const dapo = rowsOf(new URL("dapo.jsonl", import.meta.url)).map(instanceOf);

describe.each([
  ["the shipped pool", own],
  ["the rows in DAPO-Math-17k's schema", dapo],
] as const)("%s", (_, rows) => {
  test.each(rows.map((row) => [row.problem.slice(0, 60), row] as const))("%s… takes its own answer", (__, row) => {
    const read = readMath(row.answer);
    if (read.kind === "malformed") throw new Error(read.reason);
    expect(math.verify(row, read.answer)).toMatchObject({ kind: "graded", solved: true });
  });

  test("no two problems are the same, and none holds its answer", () => {
    expect(new Set(rows.map(({ problem }) => problem)).size).toBe(rows.length);
    for (const { problem, answer } of rows) if (answer.length > 3) expect(problem).not.toContain(answer);
  });
});

test("there are enough rows of each level, of many topics and kinds of answers", () => {
  expect(own.length).toBeGreaterThanOrEqual(60);
  const levels = Map.groupBy(own, ({ level }) => level);
  for (const level of math.levels) expect(levels.get(level.name)?.length).toBeGreaterThanOrEqual(10);
  const topics = new Set(own.map(({ facts }) => facts["problem_type"]));
  expect(topics.size).toBeGreaterThanOrEqual(6);
  const kinds = [
    /^-?\d+$/,
    /\\frac/,
    /\\sqrt/,
    /infty/,
    /\\\{/,
    /matrix/,
    /\\text/,
    /^\(/,
    /x =/,
    /i$/,
    /\\pi/,
    /_7$/,
    /%/,
  ];
  for (const kind of kinds) expect(own.filter(({ answer }) => kind.test(answer)).length, `${kind}`).toBeGreaterThan(0);
});

test("every formula of a problem can be set", () => {
  for (const { problem } of [...own, ...dapo]) {
    for (const run of runsOf(problem)) {
      if (run.kind === "formula") expect(typeset(run.tex, run.display), run.tex).toBeDefined();
    }
  }
});
