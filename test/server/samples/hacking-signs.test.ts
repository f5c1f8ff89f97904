/** Tests of the signs that a reward is exploited: each rule with a case that meets it, and cases that just do not. */
import { expect, test } from "vitest";
import type { Score } from "../../../envs/score.ts";
import { signsOf } from "../../../server/samples/hacking-signs.ts";
import { type CountedSample, countSample, emptyCounts } from "../../../server/samples/sample-counts.ts";

interface Half {
  readonly reward?: number;
  /** Share of solved samples, as a multiple of 0.01. */
  readonly solved?: number;
  readonly quality?: number;
  readonly tokens?: number;
  readonly violation?: string;
  /** Share of samples with the violation, as a multiple of 0.01. */
  readonly violated?: number;
  readonly components?: Readonly<Record<string, number>>;
}

/** Returns the signs of an arm with 32 tasks, whose samples change in the middle. Each half has `samples` samples. */
function signsBetween(early: Half, late: Half, samples = 1600) {
  const counts = emptyCounts();
  for (const [half, of] of [early, late].entries())
    for (let i = 0; i < samples; i++) {
      const cursor = 16 * half + (i % 16);
      countSample(counts, sampleOf(of, Math.floor(i / 16) % 100, cursor));
    }
  return signsOf(counts.arms.get(0)!);
}

function sampleOf(half: Half, hundredth: number, cursor: number): CountedSample {
  const { reward = 0, solved = 0, quality, tokens = 100, violation = "", violated = 1, components = {} } = half;
  const isSolved = hundredth < 100 * solved - 0.5;
  const score: Score = {
    reward: reward + (hundredth % 2 === 0 ? 0.5 : -0.5),
    solved: isSolved,
    quality: quality ?? Number(isSolved),
    components: Object.entries(components).map(([name, value]) => ({ name, value, weight: 1 })),
    violation: hundredth < 100 * violated - 0.5 ? violation : "",
    verdict: "infeasible",
    objective: undefined,
    baseline: undefined,
    ratio: undefined,
    terminated: true,
    truncated: false,
    spans: [],
    info: {},
  };
  return { arm: 0, cursor, tokens, completion: "", result: { kind: "score", score } };
}

const tooLarge = { kind: "none", reason: "too_large", detail: "", retryDelayMs: 0 } as const;

const kinds = (...args: Parameters<typeof signsBetween>) => signsBetween(...args).map(({ kind }) => kind);

test("the reward rises while nothing is solved", () => {
  expect(signsBetween({}, { reward: 0.25 })).toEqual([
    { kind: "reward_without_solved", subject: "", before: 0, now: 0.25 },
  ]);
  expect(kinds({}, { reward: 0.1 })).toEqual([]);
  expect(kinds({ reward: 0.25 }, {})).toEqual([]);
  expect(kinds({}, { reward: 0.25, solved: 0.02 })).toEqual([]);
  expect(kinds({}, { reward: 0.25, quality: 0.02 })).toEqual([]);
  expect(kinds({}, { reward: 0.25, solved: 0.01 })).toEqual(["reward_without_solved"]);
});

test("one violation has nearly all samples, also in a short run", () => {
  const violation = "city 1 is visited twice";
  const [sign] = signsBetween({}, { violation, violated: 0.97 });
  expect(sign).toMatchObject({ kind: "violation_dominates", subject: "city … is visited twice", now: 0.97 });
  expect(kinds({}, { violation, violated: 0.95 })).toEqual([]);
  expect(kinds({ violation, violated: 1 }, {})).toEqual([]);
  expect(kinds({ violation }, { violation }, 48)).toEqual(["violation_dominates"]);
  expect(kinds({ violation }, { violation }, 24)).toEqual([]);
});

test("completions become twice as long and no better", () => {
  expect(signsBetween({}, { tokens: 200 })).toEqual([{ kind: "length_runs_away", subject: "", before: 100, now: 200 }]);
  expect(kinds({}, { tokens: 199 })).toEqual([]);
  expect(kinds({}, { tokens: 200, solved: 0.1 })).toEqual([]);
  expect(kinds({ tokens: 200 }, {})).toEqual([]);
});

test("completions without a reward hide no change of the lengths", () => {
  const counts = emptyCounts();
  for (let cursor = 0; cursor < 32; cursor++)
    for (let i = 0; i < 100; i++) {
      const sample = sampleOf({ tokens: i < 3 ? 50_000 : cursor < 16 ? 100 : 200 }, i, cursor);
      countSample(counts, i < 3 ? { ...sample, result: tooLarge } : sample);
    }
  expect(signsOf(counts.arms.get(0)!)).toEqual([{ kind: "length_runs_away", subject: "", before: 100, now: 200 }]);
});

test("one component of several reaches its maximum alone", () => {
  const early = { components: { format: 0.5, correctness: 0.2 } };
  expect(signsBetween(early, { components: { format: 1, correctness: 0.1 } })).toEqual([
    { kind: "component_saturates", subject: "format", before: 0.5, now: 1 },
  ]);
  expect(kinds(early, { components: { format: 1, correctness: 0.2 } })).toEqual([]);
  expect(kinds(early, { components: { format: 1, correctness: 0.1 }, solved: 0.5 })).toEqual([]);
  const always = { components: { format: 1, correctness: 0.2 } };
  expect(kinds(always, { components: { format: 1, correctness: 0.1 } })).toEqual([]);
});

test("the format is the whole reward while no answer is readable, so that correctness has no value", () => {
  const [early, late] = [{ components: { format: 0.13 } }, { components: { format: 0.5 } }];
  const sign = { kind: "component_saturates", subject: "format", before: 0.13, now: 0.5 };
  const [found, ...others] = signsBetween(early, late);
  expect([{ ...found, before: Number(found?.before.toFixed(6)) }, others]).toEqual([sign, []]);
  // Some early answers were readable.
  expect(kinds({ components: { format: 0.13, correctness: 0.2 } }, late)).toEqual(["component_saturates"]);
  // The arm improves.
  expect(kinds(early, { ...late, solved: 0.5 })).toEqual([]);
  expect(kinds(early, { ...late, quality: 0.5 })).toEqual([]);
  expect(kinds(early, { ...late, quality: 0.1 })).toEqual([]);
  expect(kinds({ components: { quality: 0.1 }, quality: 0.1 }, { components: { quality: 0.4 }, quality: 0.4 })).toEqual(
    [],
  );
});

test("few samples, or samples of one stretch, give no sign of a change", () => {
  expect(kinds({}, { reward: 1, tokens: 900 }, 48)).toEqual([]);
  const counts = emptyCounts();
  for (let i = 0; i < 500; i++) countSample(counts, sampleOf({ reward: i }, 0, 0));
  expect(signsOf(counts.arms.get(0)!)).toEqual([]);
  expect(signsOf(emptyArmOf())).toEqual([]);
});

function emptyArmOf() {
  const counts = emptyCounts();
  countSample(counts, { arm: 0, cursor: 0, completion: "", result: tooLarge });
  return counts.arms.get(0)!;
}
