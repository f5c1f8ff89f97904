/** Tests of counts of samples: templates, merging, limits, and the store in which they are. */
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { binWords } from "../../../clients/ts/src/public.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Score } from "../../../envs/score.ts";
import { RewardBinSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { violationKind } from "../../../envs/lib/violation-kind.ts";
import { createRunCounter, totalOf } from "../../../server/samples/counted-runs.ts";
import {
  ALL,
  BIN,
  BINS,
  type CountedSample,
  countSample,
  emptyCounts,
  flatten,
  made,
  type FlatArm,
  mergeFlat,
  OTHERS,
  REASON,
  type RunCounts,
  STRETCHES_MAX,
  tallyOf,
  TEMPLATES_MAX,
  trimArm,
  violationsOf,
} from "../../../server/samples/sample-counts.ts";
import { commonWords, templateOf } from "../../../server/samples/violation-template.ts";
import { memorySampleStore } from "../../../server/stores/memory.ts";
import type { SampleStore } from "../../../server/stores/sample-store.ts";

interface Given {
  readonly arm?: number;
  readonly cursor?: number;
  readonly violation?: string;
  readonly reward?: number;
  readonly tokens?: number;
}

function sampleOf({ arm = 0, cursor = 0, violation = "", reward = 0, tokens }: Given): CountedSample {
  const score: Score = {
    reward,
    components: [{ name: "format", value: reward, weight: 1 }],
    verdict: "infeasible",
    solved: false,
    objective: undefined,
    baseline: undefined,
    ratio: undefined,
    quality: 0,
    violation,
    terminated: true,
    truncated: false,
    spans: [],
    info: {},
  };
  return { arm, cursor, tokens, completion: "ten signs.", result: { kind: "score", score } };
}

const withoutReward: CountedSample = {
  ...sampleOf({}),
  result: { kind: "none", reason: "too_large", detail: "", retryDelayMs: 0 },
};

function countsOf(samples: readonly CountedSample[]): RunCounts {
  const counts = emptyCounts();
  for (const sample of samples) countSample(counts, sample);
  return counts;
}

/** Adds counts to others as if they had been written to the store and read. */
function mergeCounts(into: RunCounts, { width, arms }: RunCounts): void {
  const names = new Map<string, number>();
  const text = JSON.stringify(
    [...arms].map(([index, arm]) => flatten(index, arm, (name) => made(names, name, () => names.size))),
  );
  mergeFlat(into, width, JSON.parse(text) as FlatArm[], [...names.keys()]);
}

/** Returns counts as plain data in one order, to compare them. Sums of fractions depend on their order. */
function plain({ width, arms }: RunCounts): unknown {
  const sorted = (value: unknown): unknown => {
    if (value instanceof Map)
      return [...(value as Map<unknown, unknown>)]
        .map(([key, one]) => [String(key), sorted(one)] as const)
        .sort(([one], [other]) => (one < other ? -1 : 1));
    return (value as readonly number[]).map((number) => Number(number.toFixed(6)));
  };
  return { width, arms: sorted(arms) };
}

describe("templates of violations", () => {
  test.each([
    ["city 3 is visited twice", "city … is visited twice"],
    ["vertices 3 and 14 are not joined", "vertices … are not joined"],
    ["evaluates to 7/3, not 24", "evaluates to …, not …"],
    ["\\frac{x}{2} is not equal to the expected answer", "… is not equal to the expected answer"],
    ["x + 1 is not equal to the expected answer", "… is not equal to the expected answer"],
    ["there is no option F: the last one is D", "there is no option …: the last one is …"],
    ["expected '[' but found 'abc'", "expected … but found …"],
    ["Ann and Bob are in meeting 3 at the same time", "Ann and … are in meeting … at the same time"],
    ["it is not a JSON list", "it is not a JSON list"],
    ["the code is another one: 2 in place, 1 elsewhere", "the code is another one: … in place, … elsewhere"],
    ["", ""],
  ])("%s", (violation, template) => {
    expect(templateOf(violationKind(violation))).toBe(template);
    expect(violation).toContain(commonWords(template));
  });

  test("have at most 160 bytes, and the words that find their samples are the longest", () => {
    expect(Buffer.byteLength(templateOf("wörds ".repeat(80)))).toBeLessThanOrEqual(160);
    expect(commonWords("city … is visited twice")).toBe("is visited twice");
    expect(commonWords("…")).toBe("");
  });
});

/** Random samples of three arms. Their cursors reach far enough that stretches widen. */
function randomSamples(count: number): readonly CountedSample[] {
  const rng = rngFor("test/samples", "counts");
  return Array.from({ length: count }, () => {
    if (rng.int(0, 9) === 0) return { ...withoutReward, arm: rng.int(0, 2), cursor: rng.int(0, 3000) };
    const violation = rng.pick(["", "city 1 is visited twice", "no answer was found", "it is 'x'"]);
    const tokens = rng.int(0, 1) === 0 ? { tokens: rng.int(1, 9) } : {};
    return sampleOf({
      arm: rng.int(0, 2),
      cursor: rng.int(0, 3000),
      violation,
      reward: rng.int(-12, 9) / 4,
      ...tokens,
    });
  });
}

test("counts of parts add up to those of all samples, in any order", () => {
  const samples = randomSamples(2000);
  const whole = countsOf(samples);
  expect(whole.width).toBe(128);
  for (const parts of [2, 7]) {
    const each = Array.from({ length: parts }, (_, part) => countsOf(samples.filter((_each, i) => i % parts === part)));
    for (const order of [each, [...each].reverse()]) {
      const merged = emptyCounts();
      for (const counts of order) mergeCounts(merged, counts);
      expect(plain(merged)).toEqual(plain(whole));
    }
  }
});

test("lengths are those of samples with a reward, and counts of older servers with all lengths still open", () => {
  const counts = countsOf([sampleOf({ tokens: 7 }), sampleOf({}), { ...withoutReward, tokens: 900 }, withoutReward]);
  const lengths = { tokens: 7, tokenSamples: 1, characters: 10, characterSamples: 1 };
  expect(tallyOf(counts.arms.get(0)?.get(ALL))).toMatchObject({ samples: 4, scored: 2, ...lengths });
  mergeFlat(counts, 1, [[0, ALL, 1, 11, 0, 3, 907, 2, 10, 1, 1, 0, 0, 0.5, 0.25, 0]], []);
  expect(tallyOf(counts.arms.get(0)?.get(ALL))).toMatchObject({ samples: 7, scored: 3, tokens: 914, tokenSamples: 3 });
});

test("stretches stay few, and cover all cursors", () => {
  const counts = countsOf([0, 31, 32, 1_000_000, 2 ** 40].map((cursor) => sampleOf({ cursor })));
  expect(2 ** 40 / counts.width).toBeLessThan(STRETCHES_MAX);
  expect(tallyOf(counts.arms.get(0)?.get(ALL)).samples).toBe(5);
});

test("rewards beyond the histogram are in its end bins, and missing rewards are in none", () => {
  const arm = countsOf([...[-99, -2.5, 0, 1, 2, 99].map((reward) => sampleOf({ reward })), withoutReward]).arms.get(0);
  const counted = (prefix: string): unknown =>
    [...(arm ?? [])]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, series]) => [name, tallyOf(series).samples]);
  expect(counted(BIN)).toEqual([
    [`${BIN}0`, 2],
    [`${BIN}10`, 1],
    [`${BIN}14`, 1],
    [`${BIN}17`, 2],
  ]);
  expect(counted(REASON)).toEqual([[`${REASON}too_large`, 1]]);
  const words = [0, 10, BINS.count - 1].map((bin) => {
    const lower = BINS.from + bin * BINS.width;
    return binWords(create(RewardBinSchema, { lower, upper: lower + BINS.width }));
  });
  expect(words).toEqual(["below -2.25", "0 to 0.25", "1.75 or more"]);
});

test("an arm has its most frequent templates, and counts the others together", () => {
  const words = Array.from(
    { length: 100 },
    (_, i) => `w${[...String(i)].map((digit) => "abcdefghij"[Number(digit)]).join("")} is wrong so`,
  );
  const parts = words.map((violation, i) => countsOf(Array.from({ length: i + 1 }, () => sampleOf({ violation }))));
  const merged = emptyCounts();
  for (const part of parts) mergeCounts(merged, part);
  const arm = merged.arms.get(0)!;
  trimArm(arm);
  expect(violationsOf(arm).map(({ count }) => count)).toEqual(Array.from({ length: TEMPLATES_MAX }, (_, i) => 100 - i));
  expect(tallyOf(arm.get(OTHERS)).samples).toBe((36 * 37) / 2);
  const atOnce = countsOf(words.map((violation) => sampleOf({ violation }))).arms.get(0)!;
  expect(tallyOf(atOnce.get(OTHERS)).samples).toBe(100 - TEMPLATES_MAX);
});

describe("counts in a store", () => {
  const warnings: unknown[] = [];
  const log = { info: () => undefined, warn: (about: unknown) => void warnings.push(about), error: () => undefined };
  const issued = (given: Given, incarnation = "first", evaluationRound?: number) => ({
    ...sampleOf(given),
    incarnation,
    evaluationRound,
  });
  const samplesOf = async (counter: ReturnType<typeof createRunCounter>, ...incarnations: readonly string[]) => {
    return tallyOf((await totalOf(await counter.of("run", incarnations))).get(ALL)).samples;
  };

  test("of two servers add up, and their rows stay few", async () => {
    const store = memorySampleStore();
    const [one, other] = [createRunCounter(store, log), createRunCounter(store, log)];
    for (let i = 0; i < 200; i++) {
      one.add("run", [issued({ cursor: i, violation: "city 1 is visited twice" })]);
      other.add("run", [issued({ arm: 1, cursor: 7 * i }), issued({ arm: 1, cursor: 0 }, "first", 3)]);
      await Promise.all([one.flush(), other.flush()]);
    }
    expect((await store.counts("run")).length).toBeLessThanOrEqual(2 * 64 + 2);
    for (const counter of [one, other]) {
      expect(await samplesOf(counter, "first")).toBe(400);
      expect(await samplesOf(counter, "another")).toBe(0);
    }
    await store.close();
  });

  /** Returns a word of letters alone, which templates keep. */
  const wordOf = (arm: number): string => [...String(arm)].map((digit) => "abcdefghij"[Number(digit)]).join("");

  test("of many arms are in several rows, and those of the newest incarnations stay", async () => {
    const store = memorySampleStore();
    const counter = createRunCounter(store, log);
    const many = Array.from({ length: 900 }, (_, arm) =>
      issued({ arm, violation: `an error ${"of words ".repeat(9)}${wordOf(arm)}` }),
    );
    counter.add("run", many);
    expect(await samplesOf(counter, "first")).toBe(900);
    const rows = await store.counts("run");
    expect(rows.length).toBeGreaterThan(2);
    for (const { body } of rows) expect(body.length).toBeLessThan(128 * 1024);
    const names = Array.from({ length: 100 }, (_, i) => `incarnation ${i}`);
    for (const name of names) {
      counter.add("run", [issued({}, name)]);
      await counter.flush();
    }
    const kept = await samplesOf(counter, ...names);
    expect(kept).toBeGreaterThanOrEqual(32);
    expect(kept).toBeLessThanOrEqual(32 + 64);
    await store.close();
  });

  test("are lost, and a warning says so, if the store fails or too many arms wait", async () => {
    const store = memorySampleStore();
    const failing: SampleStore = { ...store, addCounts: () => Promise.reject(new Error("the disk is full")) };
    const counter = createRunCounter(failing, log);
    counter.add("run", [issued({})]);
    await counter.flush();
    expect(warnings.splice(0)).toMatchObject([{ run: "run" }]);
    expect(await samplesOf(counter, "first")).toBe(0);
    const sound = createRunCounter(store, log);
    sound.add(
      "run",
      Array.from({ length: 1100 }, (_, arm) => issued({ arm })),
    );
    sound.add("run", [issued({ arm: 5 })]);
    expect(await samplesOf(sound, "first")).toBe(1025);
    expect(warnings.splice(0)).toEqual([{ samples: 76 }]);
    await store.close();
  });

  test("are announced with their run, once they are written", async () => {
    const store = memorySampleStore();
    const written: string[] = [];
    const counter = createRunCounter(store, log, (run) => written.push(run));
    counter.add("run", [issued({}), issued({})]);
    expect(written).toEqual([]);
    await counter.flush();
    await counter.flush();
    expect(written).toEqual(["run"]);
    await store.close();
  });

  test("of a deleted run are forgotten", async () => {
    const store = memorySampleStore();
    const counter = createRunCounter(store, log);
    counter.add("run", [issued({})]);
    counter.forget("run");
    await counter.flush();
    expect(await store.counts("run")).toEqual([]);
    await store.close();
  });
});
