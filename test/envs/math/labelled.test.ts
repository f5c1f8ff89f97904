/** Every pair of every file of pairs/: none is called equal that is not, and nearly all have the verdict they should have. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rngFor } from "../../../envs/lib/rng.ts";
import { compareMath, readMath } from "../../../envs/math/value.ts";
import type { Label, LabelledPair } from "./labelled.ts";
import { knownPairs } from "./truth/pairs.ts";

const AGREEMENT_MIN = 0.97;
const FOLDER = new URL("pairs/", import.meta.url);

/** A file of one class: a list of its pairs, in TypeScript or JSON. */
async function pairsOf(name: string): Promise<readonly LabelledPair[]> {
  const url = new URL(name, FOLDER);
  if (name.endsWith(".json")) return JSON.parse(readFileSync(url, "utf8")) as readonly LabelledPair[];
  return ((await import(url.href)) as { readonly pairs: readonly LabelledPair[] }).pairs;
}

const pairs = (await Promise.all(readdirSync(FOLDER).map(pairsOf))).flat();

function judged({ gold, answer, problem }: Pick<LabelledPair, "gold" | "answer" | "problem">): Label {
  const [expected, given] = [readMath(gold), readMath(answer)];
  if (expected.kind === "malformed") throw new Error(`the gold ${gold} cannot be read: ${expected.reason}`);
  return given.kind === "malformed" ? "unread" : compareMath(expected.answer, given.answer, undefined, problem).kind;
}

const found = pairs.map((pair) => ({ ...pair, judged: judged(pair) }));
const shown = ({ gold, answer, verdict, judged: now, why }: (typeof found)[number]): string =>
  `${gold} and ${answer}: ${verdict}, found ${now} (${why})`;

test("there are many pairs, and half of them are no equal ones", () => {
  expect(pairs.length).toBeGreaterThanOrEqual(600);
  expect(pairs.filter(({ verdict }) => verdict !== "equal").length).toBeGreaterThanOrEqual(pairs.length * 0.45);
});

test("no pair is called equal that is not", () => {
  expect(found.filter((pair) => pair.judged === "equal" && pair.verdict !== "equal").map(shown)).toEqual([]);
});

test("nearly all have the verdict that is right, and the others the one that is written down", () => {
  const disagreeing = found.filter((pair) => pair.judged !== pair.verdict);
  expect(disagreeing.filter((pair) => pair.judged !== pair.found).map(shown)).toEqual([]);
  for (const line of disagreeing.map(shown)) console.info(line);
  expect(1 - disagreeing.length / found.length).toBeGreaterThanOrEqual(AGREEMENT_MIN);
});

/** Number of generated pairs whose verdict is known; the variable TRUTH_PAIRS changes it. */
const TRUTH_PAIRS = Number(process.env["TRUTH_PAIRS"] ?? 1200);

test("of pairs of known truth none that is different is equal, and those that are equal are", () => {
  const pairs = [...knownPairs(TRUTH_PAIRS, rngFor("known-truth", "test"))];
  const verdicts = pairs.map((pair) => ({
    ...pair,
    verdict: judged({ ...pair, ...(pair.how === "stretch" && { problem: "Solve the inequality." }) }),
  }));
  expect(verdicts.filter(({ isEqual, verdict }) => !isEqual && verdict === "equal")).toEqual([]);
  const equal = verdicts.filter(({ isEqual, isCompared }) => isEqual && isCompared);
  expect(equal.length).toBeGreaterThan(200);
  expect(equal.filter(({ verdict }) => verdict === "equal").length).toBeGreaterThan(0.97 * equal.length);
  // No equal pair is called different, whether there is a rule for it or not.
  expect(verdicts.filter(({ isEqual, verdict }) => isEqual && verdict === "different")).toEqual([]);
});
