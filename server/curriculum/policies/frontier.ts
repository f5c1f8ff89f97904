/**
 * Default policy, which needs no order of levels (SPEC section 7, our own design). It prefers arms from which most can
 * be learned: interest is greatest at a success share of 2/7, and it falls with practice without progress. If no arm is
 * of interest, all arms are drawn equally often.
 */
import { LIMITS } from "../../../proto/limits.ts";
import { IMPROVEMENT, type MeasureName, measures } from "../signals.ts";
import { FormatError, isList, type Json, readList, readNumber, readNumbers, readObject, readOrNull } from "../json.ts";
import { invalid } from "../types.ts";
import { fieldsOf } from "./fields.ts";
import { first, type ObservedGroup, type PolicyDefinition, positive, type View } from "./policy.ts";

const DEFAULT_EXPLORATION = 0.1;
/** Minimum of a practice scale that is not given, in groups. It suits models that learn within tens of groups. */
const PRACTICE_SCALE_MIN = 8;
/** Practice scale that follows the practice which progress takes: the default. */
const AUTO = "auto";
/** Share by which each progress of an arm moves the mean practice that progress takes. */
const PACE_RATE = 0.2;
/** Factors by which a fast and a slow average are multiplied before each group is added. */
const FAST = 0.9;
const SLOW = 0.98;
/** Prior for an arm without groups: 0.15 successes in 0.3 groups. */
const PRIOR = 0.15;
/** Progress is measured once the slow average has SETTLED groups. A change of it by MOVED counts as progress. */
const SETTLED = 8;
const MOVED = 0.15;
/**
 * Sum of the interest of up to 20 arms below which part of a batch is spread evenly. With more arms the limit grows in
 * proportion.
 */
const INTEREST = 0.1;
const INTEREST_ARMS = 20;
/** Maximum of m² (1 − m)⁵, reached at m = 2/7. Interest is divided by it. */
const PEAK = power(2 / 7, 2) * power(5 / 7, 5);

export interface FrontierConfig {
  /** Measure of a group's success, e.g. QUALITY. */
  readonly measure: MeasureName;
  /** Success measures of arms that do not use `measure`, by arm id. */
  readonly armMeasures: Readonly<Record<string, MeasureName>>;
  /** Share of each update batch that is always spread evenly over all arms, in (0, 1]. */
  readonly exploration: number;
  /**
   * Amount of practice without progress, in groups, that halves an arm's interest, or "auto". Undefined: the default of
   * servers before "auto", which their journals leave out. See `scaleOf`.
   */
  readonly practiceScale: number | typeof AUTO | undefined;
}

/** Knowledge about an arm. Each average is kept as a weighted sum and the sum of its weights. */
interface Practised {
  /** Sum of successes, and number of groups, over about the last ten groups. */
  readonly fast: number;
  readonly fastCount: number;
  /** Sum of successes, and number of groups, over about the last fifty groups. */
  readonly slow: number;
  readonly slowCount: number;
  /** Sum of q (1 − q) over the groups since the slow average last changed by MOVED, where q is a group's success. */
  readonly practice: number;
  /** Slow average at the last such change. Null: the arm has had too few groups. */
  readonly reference: number | null;
}

export interface FrontierState {
  /** Knowledge about each arm, by arm index. */
  readonly arms: readonly Practised[];
  /**
   * Mean practice, in groups, that the run's arms take for a change of the slow average by MOVED. Null: no arm has
   * changed by MOVED yet. Undefined: the practice scale is not "auto".
   */
  readonly pace: number | null | undefined;
}

const fresh: Practised = Object.freeze({
  fast: 0,
  fastCount: 0,
  slow: 0,
  slowCount: 0,
  practice: 0,
  reference: null,
});

/** Computes a power by multiplication, because Math.pow may differ in the last bits between machines. */
function power(base: number, exponent: number): number {
  let product = 1;
  for (let i = 0; i < exponent; i++) product *= base;
  return product;
}

/** Returns the knowledge about an arm after one more group with success `q`. */
function practised(arm: Practised, q: number, weight: number): Practised {
  const { fast, fastCount, slow, slowCount, practice, reference } = arm;
  const keptFast = 1 - (1 - FAST) * weight;
  const keptSlow = 1 - (1 - SLOW) * weight;
  const next = {
    fast: keptFast * fast + weight * q,
    fastCount: keptFast * fastCount + weight,
    slow: keptSlow * slow + weight * q,
    slowCount: keptSlow * slowCount + weight,
    practice: practice + weight * q * (1 - q),
    reference,
  };
  const settled = (next.slow + 0.5) / (next.slowCount + 1);
  if (reference === null) return next.slowCount > SETTLED ? { ...next, reference: settled } : next;
  return Math.abs(settled - reference) > MOVED ? { ...next, reference: settled, practice: 0 } : next;
}

function observe(_: FrontierConfig, state: FrontierState, groups: readonly ObservedGroup[]): FrontierState {
  const arms = [...state.arms];
  let { pace } = state;
  for (const { arm, signal, weight } of groups) {
    if (signal === undefined) continue;
    const before = arms[arm] ?? fresh;
    const after = practised(before, signal, weight);
    arms[arm] = after;
    const progressed = before.reference !== null && after.reference !== before.reference;
    if (pace !== undefined && progressed) pace = pacedBy(pace, before.practice + weight * signal * (1 - signal));
  }
  return { arms, pace };
}

/** Returns the mean practice that progress takes, after one more progress that took `practice`. */
function pacedBy(pace: number | null, practice: number): number {
  return pace === null ? practice : pace + PACE_RATE * (practice - pace);
}

/** Returns the share of success that is expected of an arm's next group. */
function expected({ fast, fastCount }: Practised): number {
  return (fast + PRIOR) / (fastCount + 2 * PRIOR);
}

/**
 * Returns how fast an arm's success rises, in [0, 1]. 0: it does not rise. 1: it rises fast, or the arm has had no
 * groups.
 */
function riseOf({ fast, fastCount, slow, slowCount }: Practised): number {
  if (fastCount === 0) return 1;
  return Math.min(1, Math.max(0, (fast / fastCount - slow / slowCount) / MOVED));
}

function interestOf(arm: Practised, scale: number): number {
  const m = expected(arm);
  const worn = arm.practice / scale;
  return ((power(m, 2) * power(1 - m, 5)) / PEAK) * ((0.3 + 0.7 * riseOf(arm)) / (1 + worn * worn));
}

/**
 * Returns the amount of practice that halves an arm's interest. A model changes less with each group of a large batch,
 * so a scale that is not given grows with the batch. "auto" also grows with the practice that progress takes.
 */
function scaleOf(practiceScale: FrontierConfig["practiceScale"], promptsPerUpdate: number, pace = 0): number {
  return typeof practiceScale === "number" ? practiceScale : Math.max(PRACTICE_SCALE_MIN, promptsPerUpdate, pace);
}

function probabilities(config: FrontierConfig, { arms, pace }: FrontierState, { arms: records, progress }: View) {
  const { exploration } = config;
  const scale = scaleOf(config.practiceScale, progress.promptsPerUpdate, pace ?? 0);
  const interest = records.map(({ weight }, i) => (weight > 0 ? interestOf(arms[i] ?? fresh, scale) : 0));
  const drawable = records.filter(({ weight }) => weight > 0).length;
  let total = 0;
  for (const each of interest) total += each;
  const whole = Math.max(total, INTEREST * Math.max(1, drawable / INTEREST_ARMS));
  const alike = 1 - ((1 - exploration) * total) / whole;
  return records.map(({ weight }, i) =>
    weight > 0 ? alike / drawable + ((1 - exploration) * (interest[i] ?? 0)) / whole : 0,
  );
}

function measureOf({ measure, armMeasures }: FrontierConfig, armId: string): MeasureName {
  return Object.hasOwn(armMeasures, armId) ? (armMeasures[armId] ?? measure) : measure;
}

function isSameMeasure(a: FrontierConfig, b: FrontierConfig): boolean {
  const ids = [...Object.keys(a.armMeasures), ...Object.keys(b.armMeasures)];
  return a.measure === b.measure && ids.every((id) => measureOf(a, id) === measureOf(b, id));
}

function encodeArm({ fast, fastCount, slow, slowCount, practice, reference }: Practised): Json {
  return [fast, fastCount, slow, slowCount, practice, reference];
}

function decodeArm(json: Json): Practised {
  const fields = readList(json);
  const [fast, fastCount, slow, slowCount, practice] = readNumbers(fields.slice(0, 5)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const last = fields[5] ?? null;
  if (fields.length !== 6) throw new FormatError("the state of an arm must have six numbers");
  return { fast, fastCount, slow, slowCount, practice, reference: last === null ? null : readNumber(last) };
}

/** Reads the configuration. `practiceScale` is the default of the practice scale. */
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

/** Encodes the state. Without a pace it has the form of servers before "auto": a list of the arms. */
function encode({ arms, pace }: FrontierState): Json {
  const encoded = arms.map(encodeArm);
  return pace === undefined ? encoded : { arms: encoded, pace };
}

function decode(json: Json): FrontierState {
  if (isList(json)) return { arms: json.map(decodeArm), pace: undefined };
  const { arms, pace } = readObject(json);
  return { arms: readList(arms).map(decodeArm), pace: readOrNull(pace, readNumber) };
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
        return unknown === undefined ? undefined : invalid(`arm_measures["${unknown}"]`, "is not an arm of the run");
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
   * Returns the state after a change of configuration. The knowledge is discarded only if a success measure changes,
   * and the pace also if the practice scale was not "auto".
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
  probabilities,
  sharing: () => [],
  observe,
  /** Returns the share of success expected of each arm. 0: the arm has had no groups. */
  values: (_, { arms }) => arms.map((arm) => (arm.fastCount > 0 ? expected(arm) : 0)),
};
