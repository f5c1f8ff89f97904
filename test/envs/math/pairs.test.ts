/**
 * Tests of the table of pairs (pairs.txt), of seeded near misses and equal pairs, and of the maximum cost of any text.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { STEPS_MAX } from "../../../envs/math/numbers/budget.ts";
import { compareMath, type MathAnswer, readMath, showMath } from "../../../envs/math/value.ts";
import { hostileTexts } from "../hostile.ts";
import { DEAR, joined, times } from "./dear.ts";
import { equalPairs, nearMisses, type Pair } from "./look-alikes.ts";

function judged(gold: string, answer: string, problem?: string): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed") return "gold malformed";
  return given.kind === "malformed" ? "malformed" : compareMath(expected.answer, given.answer, undefined, problem).kind;
}

const tableOf = (name: string) =>
  readFileSync(new URL(name, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" ||| ") as [gold: string, answer: string, verdict: string, problem?: string]);

const TABLE = tableOf("./pairs.txt");
/** Pairs that the verifier has no rule for. None of them may be equal. */
const NOT_COMPARED = tableOf("./not-compared.txt");

test("the table is long", () => {
  expect(TABLE.length).toBeGreaterThan(350);
});

test.each(TABLE)("%s and %s: %s", (gold, answer, verdict, problem) => {
  expect(judged(gold, answer, problem)).toBe(verdict);
});

test.each(NOT_COMPARED)("%s and %s are not compared: %s", (gold, answer, verdict, problem) => {
  expect(verdict).not.toBe("equal");
  expect(judged(gold, answer, problem)).toBe(verdict);
});

test("every gold of the table is equal to itself, and to itself in a box", () => {
  for (const [gold] of TABLE) {
    if (readMath(gold).kind === "malformed" || gold.includes("boxed")) continue;
    expect(judged(gold, `\\boxed{${gold}}`), gold).toBe("equal");
    expect(judged(gold, `The answer is $${gold}$.`), gold).toBe("equal");
  }
});

const SEEDS = ["1", "2"];

describe.each(SEEDS)("from seed %s", (seed) => {
  const wrong = (pairs: readonly Pair[], verdicts: readonly string[]): readonly string[] =>
    pairs.flatMap(({ gold, answer, how }) => {
      const verdict = judged(gold, answer, how === "interval" ? "Solve the inequality." : "");
      return verdicts.includes(verdict) ? [] : [`${how}: ${gold} and ${answer} are ${verdict}`];
    });

  test("no near miss is taken, and each is told", () => {
    expect(wrong(nearMisses(1500, rngFor("near-misses", seed)), ["different"])).toEqual([]);
  });

  test("no equal pair is refused", () => {
    expect(wrong(equalPairs(600, rngFor("equal-pairs", seed)), ["equal"])).toEqual([]);
  });
});

// The tests below bound the time that any text may take.

function answerOf(text: string): MathAnswer {
  const read = readMath(text);
  if (read.kind === "malformed") throw new Error(`${text}: ${read.reason}`);
  return read.answer;
}

/** Texts that cannot be read; each must be refused as unreadable. */
const REFUSED: readonly string[] = [
  ...[times("1+", 10_000), times("9", 100_000), times("(", 100_000), times("{", 262_144), times("\\boxed{", 37_000)],
  ...[`${times("\\boxed{", 30_000)}${times("}", 30_000)}`, times("\\boxed{1}", 20_000), times("Answer: ", 30_000)],
  ...[`${times("(", 4000)}1${times(")", 4000)}`, times("|", 8000), times("\\text{", 1300), times("\\frac1", 1300)],
  ...[joined(700, () => "x", "="), joined(700, () => "x", "<"), times("\\pm 1", 1500)],
];

/** Largest work of a comparison beyond its budget: one step, such as a factorial, may cost more than is left. */
const OVERRUN_MAX = 4_000;

test("what is dear to compare ends within its steps, and is never equal to what is cheap", () => {
  const golds = [
    "5",
    "x^2+1",
    "(1,2)",
    "\\{1,2,3\\}",
    "x>3",
    "\\frac{-b\\pm\\sqrt{b^2-4ac}}{2a}",
    "x+2y=3",
    "2^{2000}",
  ].map(answerOf);
  for (const text of DEAR) {
    const dear = answerOf(text);
    for (const gold of golds) {
      for (const [left, right] of [
        [gold, dear],
        [dear, gold],
      ] as const) {
        const budget = { left: STEPS_MAX };
        expect(compareMath(left, right, budget).kind, text).not.toBe("equal");
        expect(budget.left, `${text} with ${gold.text}`).toBeGreaterThan(-OVERRUN_MAX);
      }
    }
    expect(compareMath(dear, dear), text).toEqual({ kind: "equal" });
    expect(showMath(dear).length).toBeLessThan(200);
  }
});

test("what is endless is malformed", () => {
  for (const text of REFUSED) expect(readMath(text).kind, text.slice(0, 40)).toBe("malformed");
});

test("hostile texts are read or refused, and equal to no gold", () => {
  const golds = ["1.5", "x^2+1", "(1,2)", "\\{1,2,3\\}", "x>3"].map(answerOf);
  for (const text of hostileTexts(8000)) {
    const read = readMath(text);
    if (read.kind === "malformed") continue;
    for (const gold of golds) expect(compareMath(gold, read.answer).kind, text.slice(0, 40)).not.toBe("equal");
  }
});
