/**
 * Counts of a run's samples by arm: violations, missing rewards, rewards, lengths, and components of the reward. Counts
 * from several processes or several times are merged by addition, in any order.
 *
 * A run is divided into at most STRETCHES_MAX stretches: ranges of cursors (task positions) of equal width. The width
 * is a power of 2, and doubles as the run goes on. So all processes divide a run alike.
 */
import type { Verdict } from "../../envs/score.ts";
import { violationKind } from "../../envs/lib/violation-kind.ts";
import type { SampleResult } from "../tasks/scoring/results.ts";
import { templateOf } from "./violation-template.ts";

export const STRETCHES_MAX = 32;
/** Maximum number of violation templates that are counted per arm. Violations of rarer ones are counted as OTHERS. */
export const TEMPLATES_MAX = 64;
/** Maximum number of components of an arm's reward that are counted. */
const COMPONENTS_MAX = 16;

/** Bins of the histogram of rewards, which span [-2.5, 2]. The first and the last bin also count rewards beyond. */
export const BINS = { from: -2.5, width: 0.25, count: 18 } as const;

/** Names of the series of an arm. ALL and OTHERS are whole names; the others are prefixes, e.g. of "bin 3". */
export const [ALL, OTHERS, BIN, REASON, COMPONENT] = ["all", "others", "bin ", "reason ", "component "] as const;
export const VIOLATION = "violation ";
/** Index of the greatest value among a component's three numbers: sum of values, number of values, greatest value. */
const GREATEST = 2;

/** Sums by the index of the stretch (a part of the run). A histogram bin has all its sums under the index 0. */
export type Series = Map<number, number[]>;
/**
 * An arm's series of sums, by name. ALL (all samples) and each histogram bin have the sums of `Tally`. A violation, a
 * reason for a missing reward, and OTHERS have one sum: their number of samples. A component has the sum of its values,
 * their number and the greatest value.
 */
export type ArmCounts = Map<string, Series>;

/** Counts of an arm as one flat list, in the order that `flatten` describes. It is fast to write and read as JSON. */
export type FlatArm = readonly (string | number)[];

export interface RunCounts {
  /** Number of tasks in a stretch (a part of the run): a power of 2. */
  width: number;
  /** Counts by the arm's index. */
  readonly arms: Map<number, ArmCounts>;
}

export const emptyCounts = (): RunCounts => ({ width: 1, arms: new Map() });

/** Sums over samples. `samples` counts all of them; all other sums are over samples with a reward. */
export interface Tally {
  readonly samples: number;
  readonly tokens: number;
  readonly tokenSamples: number;
  /** Total length in UTF-16 code units of the completions without reported tokens. */
  readonly characters: number;
  readonly characterSamples: number;
  readonly scored: number;
  readonly solved: number;
  readonly truncated: number;
  readonly reward: number;
  readonly rewardSquares: number;
  readonly quality: number;
}

export interface CountedSample {
  /** Index of the sample's arm among the run's training arms. */
  readonly arm: number;
  readonly cursor: number;
  readonly tokens?: number | undefined;
  readonly completion: string;
  readonly result: SampleResult;
}

const emptyTally = (): number[] => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/**
 * Adds a sample to the sums of a stretch: the numbers of `Tally`, in the order of its members. Lengths of samples
 * without a reward are left out, because a few oversized completions would hide a change of the other lengths. Counts
 * that older servers stored include the lengths of all samples.
 */
function addSample(series: Series, stretch: number, { tokens, completion, result }: CountedSample): void {
  const sums = made(series, stretch, emptyTally);
  sums[0]! += 1;
  if (result.kind === "none") return;
  const isInTokens = tokens !== undefined;
  sums[isInTokens ? 1 : 3]! += isInTokens ? tokens : completion.length;
  sums[isInTokens ? 2 : 4]! += 1;
  const { reward, solved, truncated, quality } = result.score;
  sums[5]! += 1;
  sums[6]! += Number(solved);
  sums[7]! += Number(truncated);
  sums[8]! += reward;
  sums[9]! += reward * reward;
  sums[10]! += quality;
}

/** Returns the sums of the series ALL, or of a bin, over the stretches that `isMeant` selects. Defaults to all. */
export function tallyOf(series: Series | undefined, isMeant?: (stretch: number) => boolean): Tally {
  const [samples = 0, tokens = 0, tokenSamples = 0, characters = 0, characterSamples = 0, ...scores] = sumsOf(
    series,
    isMeant,
  );
  const [scored = 0, solved = 0, truncated = 0, reward = 0, rewardSquares = 0, quality = 0] = scores;
  const lengths = { tokens, tokenSamples, characters, characterSamples };
  return { samples, ...lengths, scored, solved, truncated, reward, rewardSquares, quality };
}

/**
 * Returns the sums of any series over the stretches that `isMeant` selects. Defaults to all stretches. `ArmCounts` says
 * which sums a series has.
 */
export function sumsOf(series: Series | undefined, isMeant = (_stretch: number): boolean => true): readonly number[] {
  const sums: number[] = [];
  for (const [stretch, numbers] of series ?? [])
    if (isMeant(stretch)) numbers.forEach((number, i) => (sums[i] = (sums[i] ?? 0) + number));
  return sums;
}

/** Returns the value at a key. If the map has no such key, makes the value and stores it. */
export function made<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key);
  if (there !== undefined) return there;
  const value = make();
  map.set(key, value);
  return value;
}

/**
 * Adds `length` numbers of a list, beginning at index `from`, to the sums of a stretch. The greatest value of a
 * component is not added: the greater of the two values is kept.
 */
function add(
  series: Series,
  stretch: number,
  list: FlatArm,
  isComponent = false,
  from = 0,
  length = list.length,
): void {
  const sums = series.get(stretch);
  if (sums === undefined) return void series.set(stretch, list.slice(from, from + length) as number[]);
  const summed = isComponent ? GREATEST : length;
  for (let i = 0; i < summed; i++) sums[i]! += list[from + i] as number;
  if (isComponent) sums[GREATEST] = Math.max(sums[GREATEST]!, list[from + GREATEST] as number);
}

const emptyArm = (): ArmCounts => new Map();
const emptySeries = (): Series => new Map();

/**
 * Returns the series with this name. If it is missing, makes it, unless the arm already has `max` series whose names
 * begin with `prefix`; then returns undefined.
 */
function seriesWithin(arm: ArmCounts, name: string, prefix: string, max: number): Series | undefined {
  const there = arm.get(name);
  if (there !== undefined) return there;
  let count = 0;
  if (arm.size >= max) for (const each of arm.keys()) if (each.startsWith(prefix)) count++;
  return count < max ? made(arm, name, emptySeries) : undefined;
}

const ONE = [1] as const;
const bins = Array.from({ length: BINS.count }, (_, bin) => `${BIN}${bin}`);

/** Maximum number of texts for which a series name is cached. When it is reached, the cache is emptied. */
const KNOWN_MAX = 2048;

/** Returns `nameOf` with a cache. Map lookups are faster with a cached string, because its hash is known already. */
function remembering(nameOf: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (known.size >= KNOWN_MAX) known.clear();
    return made(known, text, () => nameOf(text));
  };
}

const componentName = remembering((name) => `${COMPONENT}${name}`);
const violationName = (verdict: Verdict) => remembering((kind) => `${VIOLATION}${verdict} ${templateOf(kind)}`);
/** Functions that return the name of a violation's series from the violation's kind, by the sample's verdict. */
const violationNames: Readonly<Record<Verdict, (kind: string) => string>> = {
  malformed: violationName("malformed"),
  infeasible: violationName("infeasible"),
  feasible: violationName("feasible"),
  graded: violationName("graded"),
};

export function countSample(counts: RunCounts, sample: CountedSample): void {
  if (sample.cursor >= counts.width * STRETCHES_MAX) widen(counts, sample.cursor);
  const arm = made(counts.arms, sample.arm, emptyArm);
  const stretch = Math.floor(sample.cursor / counts.width);
  const { result } = sample;
  addSample(made(arm, ALL, emptySeries), stretch, sample);
  if (result.kind === "none") return add(made(arm, `${REASON}${result.reason}`, emptySeries), stretch, ONE);
  const { reward, components, verdict, violation } = result.score;
  const bin = Math.floor((reward - BINS.from) / BINS.width);
  addSample(made(arm, bins[Math.min(BINS.count - 1, Math.max(0, bin))]!, emptySeries), 0, sample);
  for (const { name, value, weight } of components) {
    if (value === undefined || weight === 0) continue;
    const series = seriesWithin(arm, componentName(name), COMPONENT, COMPONENTS_MAX);
    if (series !== undefined) add(series, stretch, [value, 1, value], true);
  }
  if (violation === "") return;
  const name = violationNames[verdict](violationKind(violation));
  add(seriesWithin(arm, name, VIOLATION, TEMPLATES_MAX) ?? made(arm, OTHERS, emptySeries), stretch, ONE);
}

/** Doubles the width of the stretches, and merges their counts, until STRETCHES_MAX stretches include the cursor. */
function widen(counts: RunCounts, cursor: number): void {
  if (cursor < counts.width * STRETCHES_MAX) return;
  const before = counts.width;
  while (cursor >= counts.width * STRETCHES_MAX) counts.width *= 2;
  for (const [index, arm] of counts.arms) {
    const merged: ArmCounts = new Map();
    mergeArm(merged, arm, counts.width / before);
    counts.arms.set(index, merged);
  }
}

/**
 * Returns an arm's counts as one list. It begins with the arm's index. Each series follows as: the index of its name,
 * its number of stretches, the number of sums per stretch, then the index and the sums of each stretch.
 */
export function flatten(index: number, arm: ArmCounts, indexOf: (name: string) => number): FlatArm {
  const flat: number[] = [index];
  for (const [name, series] of arm) {
    flat.push(indexOf(name), series.size, series.values().next().value?.length ?? 0);
    for (const [stretch, numbers] of series) flat.push(stretch, ...numbers);
  }
  return flat;
}

/**
 * Adds the counts of arms, as `flatten` wrote them, to `into`. `width` is the number of cursors in each of their
 * stretches. Each series begins with the index of its name in `names`; in rows of older servers, it begins with the
 * name itself. The result may have more than TEMPLATES_MAX violation templates (see `trimArm`).
 */
export function mergeFlat(into: RunCounts, width: number, arms: readonly FlatArm[], names: readonly string[]): void {
  widen(into, width * STRETCHES_MAX - 1);
  const times = into.width / width;
  for (const flat of arms) {
    const arm = made(into.arms, flat[0] as number, emptyArm);
    for (let at = 1; at < flat.length;) {
      const [key, size, length] = [flat[at]!, flat[at + 1] as number, flat[at + 2] as number];
      const name = typeof key === "number" ? names[key]! : key;
      const series = seriesOf(arm, name);
      const isComponent = name.startsWith(COMPONENT);
      at += 3;
      for (const end = at + size * (length + 1); at < end; at += length + 1)
        if (series !== undefined)
          add(series, Math.floor((flat[at] as number) / times), flat, isComponent, at + 1, length);
    }
  }
}

/**
 * Adds the counts of an arm to `into`, whose stretches are `times` as wide. The result may have more than TEMPLATES_MAX
 * violation templates (see `trimArm`).
 */
export function mergeArm(into: ArmCounts, from: ArmCounts, times = 1): void {
  for (const [name, series] of from) {
    const sums = seriesOf(into, name);
    if (sums === undefined) continue;
    for (const [stretch, numbers] of series)
      add(sums, Math.floor(stretch / times), numbers, name.startsWith(COMPONENT));
  }
}

/** Returns the series with this name, and makes it if it is missing. Undefined: the arm has too many components. */
function seriesOf(arm: ArmCounts, name: string): Series | undefined {
  if (name.startsWith(COMPONENT)) return seriesWithin(arm, name, COMPONENT, COMPONENTS_MAX);
  return made(arm, name, emptySeries);
}

export interface CountedViolation {
  readonly verdict: string;
  readonly template: string;
  readonly series: Series;
  readonly count: number;
}

/** Returns the violations of an arm except OTHERS, the most frequent first. */
export function violationsOf(arm: ArmCounts): readonly CountedViolation[] {
  const found = [...arm].filter(([name]) => name.startsWith(VIOLATION));
  return found
    .map(([name, series]) => {
      const end = name.indexOf(" ", VIOLATION.length);
      const [verdict, template] = [name.slice(VIOLATION.length, end), name.slice(end + 1)];
      return { verdict, template, series, count: sumsOf(series)[0] ?? 0 };
    })
    .sort((one, other) => other.count - one.count || (one.template < other.template ? -1 : 1));
}

/** Keeps the TEMPLATES_MAX most frequent violation templates of an arm, and adds the counts of all others to OTHERS. */
export function trimArm(arm: ArmCounts): void {
  if (arm.size <= TEMPLATES_MAX) return;
  for (const { verdict, template, series } of violationsOf(arm).slice(TEMPLATES_MAX)) {
    mergeArm(arm, new Map([[OTHERS, series]]));
    arm.delete(`${VIOLATION}${verdict} ${template}`);
  }
}
