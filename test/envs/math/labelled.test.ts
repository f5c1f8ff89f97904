/** Labelled pairs, a file a class (pairs/), and pairs of known truth from a seed: nothing is equal that is not. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { compareMath, readMath } from "../../../envs/math/value.ts";
import { knownPairs } from "./truth/pairs.ts";

interface Labelled {
  readonly gold: string;
  readonly answer: string;
  /** equal, different, undecided or malformed */
  readonly verdict: string;
  readonly why: string;
}

const FOLDER = new URL("./pairs/", import.meta.url);
const CLASSES = readdirSync(FOLDER).map(
  (name) => [name, JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")) as readonly Labelled[]] as const,
);

function judged(gold: string, answer: string): string {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed") return "gold malformed";
  return given.kind === "malformed" ? "malformed" : compareMath(expected.answer, given.answer).kind;
}

describe.each(CLASSES)("%s", (_, pairs) => {
  test.each(pairs)("$gold and $answer: $verdict, for $why", ({ gold, answer, verdict }) => {
    expect(judged(gold, answer)).toBe(verdict);
  });
});

test("there are many, and half of them are near misses", () => {
  const all = CLASSES.flatMap(([, pairs]) => pairs);
  expect(all.length).toBeGreaterThan(300);
  expect(all.filter(({ verdict }) => verdict !== "equal").length).toBeGreaterThan(0.45 * all.length);
});

test("of pairs of known truth none that is different is equal, and those that are equal are", () => {
  const pairs = [...knownPairs(1200, rngFor("known-truth", "test"))];
  const verdicts = pairs.map((pair) => ({ ...pair, verdict: judged(pair.gold, pair.answer) }));
  expect(verdicts.filter(({ isEqual, verdict }) => !isEqual && verdict === "equal")).toEqual([]);
  const equal = verdicts.filter(({ isEqual }) => isEqual);
  expect(equal.length).toBeGreaterThan(400);
  expect(equal.filter(({ verdict }) => verdict === "equal").length).toBeGreaterThan(0.97 * equal.length);
});
