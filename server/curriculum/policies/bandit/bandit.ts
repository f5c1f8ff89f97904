/**
 * Bandit policy over a run's arms (ADSC 3.3 and others). Its rule, e.g. EXP3.S, turns learning signals into arm values,
 * and values into probabilities.
 */
import {
  type Codec,
  isList,
  type Json,
  readList,
  readNumber,
  readNumbers,
  readObject,
  readOrNull,
  readText,
} from "../../json.ts";
import type { ObservedGroup, PolicyDefinition } from "../policy.ts";
import { type BanditConfig, checkConfig, readConfig, rules, writeConfig } from "./config.ts";
import { noTracks, resizeTracks, track, type Tracks } from "./progress.ts";
import { rescaled, windowFromText, windowToText } from "./rescale.ts";
import type { Columns, Lesson, Rule } from "./rule.ts";

interface BanditState {
  /** Numbers that the bandit's rule keeps: lists (columns) with one number for each arm. */
  readonly columns: Columns;
  /** Moving averages from which learning progress is computed. Undefined: the bandit uses another signal. */
  readonly tracks: Tracks | undefined;
  /** Last signals as 12-bit codes, oldest first. Undefined: signals are not rescaled. */
  readonly window: readonly number[] | undefined;
}

function initial({ rule, signal, rescale }: BanditConfig, armCount: number): BanditState {
  return {
    columns: rules[rule].initial.map((number) => new Array<number>(armCount).fill(number)),
    tracks: signal === "LEARNING_PROGRESS" ? noTracks(armCount) : undefined,
    window: rescale === undefined ? undefined : [],
  };
}

function lessonsOf(groups: readonly ObservedGroup[]): readonly Lesson[] {
  return groups.flatMap(({ arm, signal, weight, probability }) =>
    signal === undefined ? [] : [{ arm, signal, weight, probability }],
  );
}

function observe(config: BanditConfig, state: BanditState, groups: readonly ObservedGroup[]): BanditState {
  let lessons = lessonsOf(groups);
  // If draws do not wait for feedback, a draw may come before any group has closed. Then there is nothing to learn.
  if (lessons.length === 0) return state;
  let { tracks, window } = state;
  if (tracks !== undefined) ({ tracks, lessons } = track(config, tracks, lessons));
  if (config.rescale !== undefined) ({ window, lessons } = rescaled(config.rescale, window ?? [], lessons));
  return { columns: rules[config.rule].observe(config, state.columns, lessons), tracks, window };
}

/**
 * Returns the columns (numbers by arm) of the new rule after a change of rule. If both rules keep the same kind of
 * numbers (`keeps`), the columns stay. Otherwise they are computed from each arm's mean signal, if both rules support
 * that. If not, the new rule starts with `begin`.
 */
function columnsAfter(from: Rule, to: Rule, columns: Columns, begin: Columns): Columns {
  if (from.keeps === to.keeps) return columns;
  if (from.fromMean === undefined || to.fromMean === undefined) return begin;
  const byArm = from.values(columns).map((mean) => to.fromMean?.(mean) ?? []);
  return to.initial.map((_, column) => byArm.map((numbers) => numbers[column] ?? 0));
}

/**
 * Returns the state after a change of the bandit's configuration. Arm values are discarded if the signal changes, or if
 * its rescaling is turned on or off.
 */
function inherit(config: BanditConfig, state: BanditState, before: BanditConfig): BanditState {
  const armCount = state.columns[0]?.length ?? 0;
  const fresh = initial(config, armCount);
  if (config.signal !== before.signal) return fresh;
  const tracks = state.tracks;
  if ((config.rescale === undefined) !== (before.rescale === undefined)) return { ...fresh, tracks };
  const columns = columnsAfter(rules[before.rule], rules[config.rule], state.columns, fresh.columns);
  return { columns, tracks, window: config.rescale && state.window?.slice(-config.rescale.window) };
}

/**
 * Returns the state after arms were added. If the rule keeps means, a new arm starts at the mean of the other arms, so
 * that it is drawn neither too rarely nor too often.
 */
function resize({ rule }: BanditConfig, { columns, tracks, window }: BanditState, armCount: number): BanditState {
  const { keeps, initial: begin } = rules[rule];
  const extended = columns.map((numbers, column) => {
    const mean = numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
    const fill = keeps === "means" ? mean : (begin[column] ?? 0);
    return [...numbers, ...new Array<number>(Math.max(0, armCount - numbers.length)).fill(fill)];
  });
  return { columns: extended, tracks: tracks && resizeTracks(tracks, armCount), window };
}

function readAverages(json: Json | undefined): readonly (number | null)[] {
  return readList(json).map((average) => readOrNull(average, readNumber));
}

/**
 * Codec of the bandit's state. It writes little, because the journal stores the state with each draw. A single column
 * without other state, as in EMA-softmax, is written as a list of numbers.
 */
const stateCodec: Codec<BanditState> = {
  encode({ columns, tracks, window }) {
    const [only] = columns;
    if (only !== undefined && columns.length === 1 && tracks === undefined && window === undefined) return only;
    return {
      columns,
      ...(tracks && { fast: tracks.fast, slow: tracks.slow }),
      ...(window && { window: windowToText(window) }),
    };
  },
  decode(json) {
    if (isList(json)) return { columns: [readNumbers(json)], tracks: undefined, window: undefined };
    const { columns, fast, slow, window } = readObject(json);
    return {
      columns: readList(columns).map(readNumbers),
      tracks: fast === undefined ? undefined : { fast: readAverages(fast), slow: readAverages(slow) },
      window: window === undefined ? undefined : windowFromText(readText(window)),
    };
  },
};

export const bandit: PolicyDefinition<BanditConfig, BanditState> = {
  kind: "bandit",
  read: readConfig,
  write: writeConfig,
  check: checkConfig,
  takesFeedback: true,
  signal: ({ signal }) => signal,
  sharing: () => [],
  needsSolved: ({ signal }) => (signal === "ABSOLUTE_ADVANTAGE" ? undefined : "signal"),
  initial,
  inherit,
  resize,
  state: stateCodec,
  /**
   * Returns (1 − ε) times the rule's probabilities plus ε/n, for the n arms of weight above 0. Arms of weight 0 get 0;
   * the rule does not see them.
   */
  probabilities(config, { columns }, view) {
    const { epsilon } = config;
    const drawn = view.arms.flatMap(({ weight }, arm) => (weight > 0 ? [arm] : []));
    const ofDrawn = <T>(numbers: readonly T[]): readonly T[] => drawn.map((arm) => numbers[arm] as T);
    const seen = { ...view, arms: ofDrawn(view.arms) };
    const shares = rules[config.rule].probabilities(config, columns.map(ofDrawn), seen);
    const probabilities = new Array<number>(view.arms.length).fill(0);
    for (const [i, arm] of drawn.entries())
      probabilities[arm] = (1 - epsilon) * (shares[i] ?? 0) + epsilon / drawn.length;
    return probabilities;
  },
  observe,
  values: (config, { columns }) => rules[config.rule].values(columns),
};
