/** Tests the rows that ship with math, and rows of the other schema, with which runs and tests start. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Parsed } from "../../../envs/facts.ts";
import { runsOf } from "../../../pictures/lib/prose.ts";
import { typeset } from "../../../pictures/lib/tex.ts";
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

test.each([
  ["[-2,2]", "answer"],
  ["[ 0, 0.5 ]", "answer"],
  ["[2,-2]", "malformed"],
  ["[1,2,3]", "malformed"],
  ["[5]", "answer"],
  [[-2, 2], "malformed"],
])(
  "the answer %j of a row is %s: a text of two rising numbers is an interval, and a list says nothing",
  (answer, kind) => {
    expect(readRow({ problem: "Find the range.", answer }).kind).toBe(kind);
  },
);

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

describe("a row whose problem is a proof", () => {
  const reason = (row: object): string => {
    const read: Parsed<MathInstance> = readRow(row);
    return read.kind === "malformed" ? read.reason : "taken";
  };

  test.each([
    { problem: "Prove that $\\sqrt{2}$ is irrational.", answer: "1" },
    { problem: "Let $n$ be odd. Show that $8$ divides $n^2-1$.", answer: "n^2-1" },
    { problem: "求证:$n^3-n$能被6整除。", answer: "6" },
    { problem: "Is it so?", answer: "1", question_type: "proof" },
  ])("is rejected: $problem", (row) => {
    expect(reason(row)).toBe("column problem asks for a proof, and proofs cannot be compared");
  });

  test.each(["proof", "Proof.", "\\text{proof}", "Q.E.D.", "See solution"])(
    "is rejected for its answer %s",
    (answer) => {
      expect(reason({ problem: "Show it.", answer })).toContain("column answer holds no answer, only the placeholder");
    },
  );

  test.each([
    { problem: "Find all $n$ with $n^2 = 4n$. Prove that there are no others.", answer: "0, 4" },
    { problem: "Prove that the limit exists. What is it?", answer: "2" },
    { problem: "A bulletproof van holds 3 bars. How many do 4 vans hold?", answer: "12" },
  ])("is none where a value is asked for: $problem", (row) => {
    expect(reason(row)).toBe("taken");
  });
});
