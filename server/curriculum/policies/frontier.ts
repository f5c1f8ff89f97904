/**
 * Default policy, which needs no order of levels (SPEC section 7, our own design). It prefers arms from which most can
 * be learned. Its interest in an arm is greatest when 2/7 of the answers succeed, and falls as groups are sampled
 * without progress. If no arm is of interest, all arms are drawn equally often.
 */
import { LIMITS } from "../../../proto/limits.ts";
import { IMPROVEMENT, type MeasureName, measures } from "../signals.ts";
import type { Levels } from "../growth.ts";
import { isList, type Json, readList, readNumber, readObject, readOrNull } from "../json.ts";
import { invalid } from "../types.ts";
import { fieldsOf } from "./fields.ts";
import { decodeGrowing, encodeGrowing, type Growing, grown, growingOf, isOpen, peeksOf, topOf } from "./growing.ts";
import { type Advance, first, type ObservedGroup, type PolicyDefinition, positive, type View } from "./policy.ts";
import { decodeArm, encodeArm, expected, fresh, interestOf, type Practised, practised, riseOf } from "./interest.ts";

const DEFAULT_EXPLORATION = 0.1;
/**
 * Minimum of the default practice scale: the practice without progress, in groups, that halves the interest in an arm.
 * 8 suits models that learn within tens of groups.
 */
const PRACTICE_SCALE_MIN = 8;
/**
 * Default of `practiceScale`. The scale then follows the measured practice that arms of this run need to make progress.
 */
const AUTO = "auto";
/**
 * Rate of the moving average `pace`, the practice that an arm needs for progress. The average is updated each time an
 * arm makes progress.
 */
const PACE_RATE = 0.2;
/**
 * Minimum sum of the interest in all open levels. Interest says how much can be learned from a level. Below this sum,
 * more draws than the share `exploration` are spread evenly over the open levels. With more than INTEREST_ARMS open
 * levels, the minimum grows in proportion to their number.
 */
const INTEREST = 0.1;
const INTEREST_ARMS = 20;

export interface FrontierConfig {
  /** Measure of a group's success, e.g. QUALITY. */
  readonly measure: MeasureName;
  /** Success measures of arms that do not use `measure`, by arm id. */
  readonly armMeasures: Readonly<Record<string, MeasureName>>;
  /** Share of each update batch that is always spread evenly over all arms, in (0, 1]. */
  readonly exploration: number;
  /**
   * Practice without progress that halves the interest in an arm, or "auto" to measure it. Practice is counted in
   * groups: a group with the success q adds q (1 − q). Undefined: the journal is by a server that did not know "auto",
   * and the default of that time applies (see `scaleOf`).
   */
  readonly practiceScale: number | typeof AUTO | undefined;
}

export interface FrontierState {
  /**
   * Success and practice of each arm, by arm index. An arm that grows has these numbers for each of its levels, once
   * the arm has had a group.
   */
  readonly arms: readonly (Practised | Growing)[];
  /**
   * Mean practice, in groups, that an arm needs for progress, i.e. until its slow average of success has changed by
   * MOVED. Null: no arm has made progress yet. Undefined: the practice scale is not "auto".
   */
  readonly pace: number | null | undefined;
}

/** Returns the success and practice of an arm, or of one level of an arm that grows. */
function knownOf(arm: Practised | Growing | undefined, level: number | undefined): Practised {
  if (level !== undefined) return growingOf(arm).levels[level] ?? fresh;
  return arm === undefined || "levels" in arm ? fresh : arm;
}

/** Returns the success and practice that clients are shown: those of the highest open level of an arm that grows. */
function shownOf(arm: Practised | Growing): Practised {
  return knownOf(arm, "levels" in arm ? arm.top : undefined);
}

function observe(_: FrontierConfig, state: FrontierState, groups: readonly ObservedGroup[]): FrontierState {
  const arms = [...state.arms];
  let { pace } = state;
  for (const { arm, signal, weight, place } of groups) {
    if (signal === undefined) continue;
    const before = knownOf(arms[arm], place?.level);
    const after = practised(before, signal, weight);
    arms[arm] = place === undefined ? after : grown(growingOf(arms[arm]), after, place);
    const progressed = before.reference !== null && after.reference !== before.reference;
    if (pace !== undefined && progressed) pace = pacedBy(pace, before.practice + weight * signal * (1 - signal));
  }
  return { arms, pace };
}

/**
 * Returns the moving average `pace` after an arm has made progress. `practice` is the practice that this arm needed for
 * it: the sum of q (1 − q) over the arm's groups since its last progress, where q is a group's success.
 */
function pacedBy(pace: number | null, practice: number): number {
  return pace === null ? practice : pace + PACE_RATE * (practice - pace);
}

/**
 * Returns the practice without progress that halves the interest in an arm. In large batches a model learns less from
 * each group, so a scale that is not given grows with the number of prompts in an update batch. "auto" also grows with
 * `pace`, the practice that arms of the run need for progress.
 */
function scaleOf(practiceScale: FrontierConfig["practiceScale"], promptsPerUpdate: number, pace = 0): number {
  return typeof practiceScale === "number" ? practiceScale : Math.max(PRACTICE_SCALE_MIN, promptsPerUpdate, pace);
}

/** Share of all draws that the retired (solved) levels of a run get together. */
const RETIRED_SHARE = 0.05;
/**
 * Share of draws for peeks, which are trial tasks of levels that are not open yet. The peeks of one arm get PEEK_SHARE
 * / n of all draws, where n is the number of arms with a weight above 0.
 */
const PEEK_SHARE = 0.1;

/**
 * Minimum difference of expected success at which a level that an arm tries (a peek) counts as easier to learn than the
 * highest open level. A smaller difference may be noise of the verdicts.
 */
const LEARNABLE = 0.05;

function isLearnable(peeked: Practised, top: Practised): boolean {
  return peeked.fast > 0 && expected(peeked) - expected(top) > LEARNABLE;
}

/** A level of an arm, with its share of all draws. An arm that does not grow has one level, 0. */
interface LevelShare {
  readonly arm: number;
  readonly level: number;
  readonly share: number;
}

/**
 * Adds each share of draws in `given` to its level. First the shares of all levels are lowered in proportion, so that
 * their sum stays 1.
 */
function give(shares: readonly number[][], given: readonly LevelShare[]): void {
  if (given.length === 0) return;
  const rest = 1 - given.reduce((total, { share }) => total + share, 0);
  for (const of of shares) for (let level = 0; level < of.length; level++) of[level]! *= rest;
  for (const { arm, level, share } of given) shares[arm]![level]! += share;
}

/**
 * Returns the interest in each open level, the shares of retired (solved) levels, and the shares of levels that arms
 * try before they open (peeks).
 */
function levelsToDraw({ arms }: FrontierState, records: View["arms"], scale: number) {
  const drawable = records.filter(({ weight }) => weight > 0).length;
  const open: LevelShare[] = [];
  const retired: LevelShare[] = [];
  const peeks: LevelShare[] = [];
  for (const [arm, { weight, levels: count, guess = 0 }] of records.entries()) {
    if (weight <= 0) continue;
    const growing = growingOf(arms[arm]);
    const top = count === undefined ? 0 : topOf(growing, count);
    for (let level = 0; level <= top; level++) {
      const share = interestOf(knownOf(arms[arm], count === undefined ? undefined : level), scale);
      (level === top || isOpen(growing, level) ? open : retired).push({ arm, level, share });
    }
    const peeked = count === undefined ? [] : peeksOf(growing, count, guess);
    for (const level of peeked) {
      peeks.push({ arm, level, share: PEEK_SHARE / drawable / peeked.length });
      const known = knownOf(arms[arm], level);
      // The model may never solve the highest open level. If it solves a level above more often, that level is drawn
      // like an open one, because a few trial tasks are not enough.
      if (isLearnable(known, knownOf(arms[arm], top))) open.push({ arm, level, share: interestOf(known, scale) });
    }
  }
  return { open, peeks, retired: retired.map((of) => ({ ...of, share: RETIRED_SHARE / retired.length })) };
}

/** Returns the share of all draws that each level of each arm gets. An arm that does not grow has one level. */
function sharesOf(config: FrontierConfig, state: FrontierState, { arms: records, progress }: View) {
  const { exploration } = config;
  const scale = scaleOf(config.practiceScale, progress.promptsPerUpdate, state.pace ?? 0);
  const { open, retired, peeks } = levelsToDraw(state, records, scale);
  let total = 0;
  for (const { share: interest } of open) total += interest;
  const whole = Math.max(total, INTEREST * Math.max(1, open.length / INTEREST_ARMS));
  const alike = 1 - ((1 - exploration) * total) / whole;
  const shares = records.map(({ levels: count = 1 }) => new Array<number>(count).fill(0));
  for (const { arm, level, share: interest } of open)
    shares[arm]![level] = alike / open.length + ((1 - exploration) * interest) / whole;
  give(shares, retired);
  give(shares, peeks);
  return shares;
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function levels(config: FrontierConfig, state: FrontierState, view: View): readonly (Levels | undefined)[] {
  return sharesOf(config, state, view).map((shares, arm): Levels | undefined => {
    const { levels: count } = view.arms[arm] ?? {};
    if (count === undefined) return undefined;
    const growing = growingOf(state.arms[arm]);
    const [total, top] = [sum(shares), topOf(growing, count)];
    const knownAt = (level: number): Practised => growing.levels[level] ?? fresh;
    return {
      top,
      shares: total > 0 ? shares.map((share) => share / total) : shares,
      success: shares.map((_, level) => (knownAt(level).fastCount > 0 ? expected(knownAt(level)) : 0)),
      retired: shares.map((_, level) => level < top && !isOpen(growing, level)),
    };
  });
}

/** Opens the next level of an arm that grows, or refuses if all levels are open. */
function open({ arms, ...state }: FrontierState, arm: number, count: number): Advance<FrontierState> {
  const growing = growingOf(arms[arm]);
  const top = topOf(growing, count);
  if (top >= count - 1) return { kind: "refused", message: "all levels of the arm are open: raise its cap" };
  return { kind: "advanced", state: { ...state, arms: arms.with(arm, { ...growing, top: top + 1 }) } };
}

function measureOf({ measure, armMeasures }: FrontierConfig, armId: string): MeasureName {
  return Object.hasOwn(armMeasures, armId) ? (armMeasures[armId] ?? measure) : measure;
}

function isSameMeasure(a: FrontierConfig, b: FrontierConfig): boolean {
  const ids = [...Object.keys(a.armMeasures), ...Object.keys(b.armMeasures)];
  return a.measure === b.measure && ids.every((id) => measureOf(a, id) === measureOf(b, id));
}

/** Reads the configuration. If its field practice_scale is unset, `practiceScale` is used. */
function read(parameters: Json, practiceScale: FrontierConfig["practiceScale"]): FrontierConfig {
  const fields = fieldsOf(parameters, ["measure", "arm_measures", "exploration", "practice_scale"]);
  return {
    measure: fields.choice("measure", measures, "SUCCESS_MEASURE_", "QUALITY"),
    armMeasures: fields.choices("arm_measures", measures, "SUCCESS_MEASURE_", "QUALITY"),
    exploration: fields.number("exploration") ?? DEFAULT_EXPLORATION,
    practiceScale: fields.numberOr("practice_scale", AUTO) ?? practiceScale,
  };
}

function write(config: FrontierConfig): { readonly [name: string]: Json } {
  const { measure, armMeasures, exploration, practiceScale } = config;
  return {
    measure: `SUCCESS_MEASURE_${measure}`,
    ...(Object.keys(armMeasures).length > 0 && {
      arm_measures: Object.fromEntries(
        Object.entries(armMeasures).map(([id, name]) => [id, `SUCCESS_MEASURE_${name}`]),
      ),
    }),
    exploration,
    ...(practiceScale !== undefined && { practice_scale: practiceScale }),
  };
}

function initial({ practiceScale }: FrontierConfig, armCount: number): FrontierState {
  return { arms: new Array<Practised>(armCount).fill(fresh), pace: practiceScale === AUTO ? null : undefined };
}

/**
 * Encodes the policy's state. Without `pace` the result is a list of the arms, as servers that did not know the
 * practice scale "auto" wrote it.
 */
function encode({ arms, pace }: FrontierState): Json {
  const encoded = arms.map((arm) => ("levels" in arm ? encodeGrowing(arm) : encodeArm(arm)));
  return pace === undefined ? encoded : { arms: encoded, pace };
}

function decode(json: Json): FrontierState {
  const decodeEach = (arm: Json) => (isList(arm) ? decodeArm(arm) : decodeGrowing(arm));
  if (isList(json)) return { arms: json.map(decodeEach), pace: undefined };
  const { arms, pace } = readObject(json);
  return { arms: readList(arms).map(decodeEach), pace: readOrNull(pace, readNumber) };
}

export const frontier: PolicyDefinition<FrontierConfig, FrontierState> = {
  kind: "frontier",
  read: (parameters) => read(parameters, AUTO),
  readFormer: (parameters) => read(parameters, undefined),
  write,
  tell: ({ practiceScale, ...config }, promptsPerUpdate) => {
    const given = practiceScale ?? (promptsPerUpdate && scaleOf(undefined, promptsPerUpdate));
    return write({ ...config, practiceScale: given === AUTO ? undefined : given });
  },
  check: ({ armMeasures, exploration, practiceScale }, { armIds }) =>
    first([
      () => {
        const unknown = Object.keys(armMeasures).find((id) => !armIds.includes(id));
        if (unknown === undefined) return undefined;
        return invalid(`arm_measures["${unknown.slice(0, 64)}"]`, "is not an arm of the run");
      },
      () => positive("exploration", exploration, 1),
      () =>
        typeof practiceScale === "number"
          ? positive("practice_scale", practiceScale, LIMITS.FrontierPolicy.practice_scale.max)
          : undefined,
    ]),
  takesFeedback: true,
  signal: measureOf,
  reads: ({ measure, armMeasures }) =>
    [measure, ...Object.values(armMeasures)].includes("IMPROVEMENT") ? [IMPROVEMENT] : [],
  needsSolved: ({ measure, armMeasures }) => {
    const arm = Object.keys(armMeasures).find((id) => armMeasures[id] === "SOLVED");
    return measure === "SOLVED" ? "measure" : arm && `arm_measures["${arm}"]`;
  },
  initial,
  /**
   * Returns the state after a change of configuration. Success and practice of the arms are discarded only if a success
   * measure changes. `pace` is also reset if the practice scale changes to or from "auto".
   */
  inherit(config, state, before) {
    const anew = initial(config, state.arms.length);
    if (!isSameMeasure(config, before)) return anew;
    return { arms: state.arms, pace: anew.pace === null ? (state.pace ?? null) : undefined };
  },
  resize: (_, { arms, pace }, armCount) => ({
    arms: Array.from({ length: armCount }, (__, i) => arms[i] ?? fresh),
    pace,
  }),
  state: { encode, decode },
  probabilities: (config, state, view) => sharesOf(config, state, view).map(sum),
  levels,
  top: ({ arms }, arm, count) => topOf(growingOf(arms[arm]), count),
  open,
  sharing: () => [],
  observe,
  /**
   * Returns the expected success of each arm's next group, or of the highest open level of an arm that grows. 0: it has
   * had no groups.
   */
  values: (_, { arms }) =>
    arms.map((arm) => {
      const known = shownOf(arm);
      return known.fastCount > 0 ? expected(known) : 0;
    }),
  practised: ({ arms }) =>
    arms.map((arm) => {
      const known = shownOf(arm);
      return { rise: riseOf(known), practice: known.practice };
    }),
};
