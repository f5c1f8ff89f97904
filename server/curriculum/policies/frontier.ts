/**
 * Default policy, which needs no order of levels (SPEC section 7, our own design). It prefers arms from which most can
 * be learned: interest is greatest at a success share of 2/7, and it falls with practice without progress. If no arm is
 * of interest, all arms are drawn equally often.
 */
import { LIMITS } from "../../../proto/limits.ts";
import { IMPROVEMENT, type MeasureName, measures } from "../signals.ts";
import { FormatError, type Json, readList, readNumber, readNumbers } from "../json.ts";
import { invalid } from "../types.ts";
import { fieldsOf } from "./fields.ts";
import { first, type ObservedGroup, type PolicyDefinition, positive, type View } from "./policy.ts";

const DEFAULT_EXPLORATION = 0.1;
/** Minimum of the default practice scale, in groups. It suits models that learn within tens of groups. */
const PRACTICE_SCALE_MIN = 8;
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
  /** Amount of practice without progress, in groups, that halves an arm's interest. Undefined: see `scaleOf`. */
  readonly practiceScale: number | undefined;
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
  for (const { arm, signal, weight } of groups)
    if (signal !== undefined) arms[arm] = practised(arms[arm] ?? fresh, signal, weight);
  return { arms };
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
 * so the default grows with the batch.
 */
function scaleOf({ practiceScale }: FrontierConfig, promptsPerUpdate: number): number {
  return practiceScale ?? Math.max(PRACTICE_SCALE_MIN, promptsPerUpdate);
}

function probabilities(config: FrontierConfig, { arms }: FrontierState, { arms: records, progress }: View) {
  const { exploration } = config;
  const scale = scaleOf(config, progress.promptsPerUpdate);
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

export const frontier: PolicyDefinition<FrontierConfig, FrontierState> = {
  kind: "frontier",
  read(parameters) {
    const fields = fieldsOf(parameters, ["measure", "arm_measures", "exploration", "practice_scale"]);
    return {
      measure: fields.choice("measure", measures, "SUCCESS_MEASURE_", "QUALITY"),
      armMeasures: fields.choices("arm_measures", measures, "SUCCESS_MEASURE_", "QUALITY"),
      exploration: fields.number("exploration") ?? DEFAULT_EXPLORATION,
      practiceScale: fields.number("practice_scale"),
    };
  },
  write: ({ measure, armMeasures, exploration, practiceScale }) => ({
    measure: `SUCCESS_MEASURE_${measure}`,
    ...(Object.keys(armMeasures).length > 0 && {
      arm_measures: Object.fromEntries(
        Object.entries(armMeasures).map(([id, name]) => [id, `SUCCESS_MEASURE_${name}`]),
      ),
    }),
    exploration,
    ...(practiceScale !== undefined && { practice_scale: practiceScale }),
  }),
  check: ({ armMeasures, exploration, practiceScale }, { armIds }) =>
    first([
      () => {
        const unknown = Object.keys(armMeasures).find((id) => !armIds.includes(id));
        return unknown === undefined ? undefined : invalid(`arm_measures["${unknown}"]`, "is not an arm of the run");
      },
      () => positive("exploration", exploration, 1),
      () =>
        practiceScale === undefined
          ? undefined
          : positive("practice_scale", practiceScale, LIMITS.FrontierPolicy.practice_scale.max),
    ]),
  takesFeedback: true,
  signal: measureOf,
  reads: ({ measure, armMeasures }) =>
    [measure, ...Object.values(armMeasures)].includes("IMPROVEMENT") ? [IMPROVEMENT] : [],
  needsSolved: ({ measure, armMeasures }) => {
    const arm = Object.keys(armMeasures).find((id) => armMeasures[id] === "SOLVED");
    return measure === "SOLVED" ? "measure" : arm && `arm_measures["${arm}"]`;
  },
  initial: (_, armCount) => ({ arms: new Array<Practised>(armCount).fill(fresh) }),
  /**
   * Returns the state after a change of configuration. The knowledge is discarded only if a success measure changes.
   */
  inherit: (config, state, before) => (isSameMeasure(config, before) ? state : { arms: state.arms.map(() => fresh) }),
  resize: (_, { arms }, armCount) => ({ arms: Array.from({ length: armCount }, (__, i) => arms[i] ?? fresh) }),
  state: {
    encode: ({ arms }) => arms.map(encodeArm),
    decode: (json) => ({ arms: readList(json).map(decodeArm) }),
  },
  probabilities,
  sharing: () => [],
  observe,
  /** Returns the share of success expected of each arm. 0: the arm has had no groups. */
  values: (_, { arms }) => arms.map((arm) => (arm.fastCount > 0 ? expected(arm) : 0)),
};
