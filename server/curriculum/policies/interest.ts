/**
 * Success and practice that the frontier policy measures for an arm, or for a level of an arm that grows, and the
 * interest that follows from them.
 */
import { FormatError, type Json, readList, readNumber, readNumbers } from "../json.ts";

/** Factor by which the sums of the fast average are multiplied before a group of weight 1 is added. */
const FAST = 0.9;
/** Factor by which the sums of the slow average are multiplied before a group of weight 1 is added. */
const SLOW = 0.98;
/** Prior of an arm's expected success: 0.15 successes in 0.3 groups, which are added to the fast average. */
const PRIOR = 0.15;
/**
 * Minimum number of an arm's groups (slowCount), where older ones count less, before the arm's progress is measured.
 */
const SETTLED = 8;
/** Minimum change of the slow average of success that counts as progress. */
const MOVED = 0.15;
/** Maximum of m² (1 − m)⁵, reached at m = 2/7, where m is the expected success. Interest is divided by it. */
const PEAK = power(2 / 7, 2) * power(5 / 7, 5);

/** Success and practice of an arm. Each average of success is kept as a weighted sum and the sum of its weights. */
export interface Practised {
  /** Sum of successes over about the last ten groups. Older groups count less. */
  readonly fast: number;
  /** Sum of the weights in `fast`: the number of groups, where older groups count less. */
  readonly fastCount: number;
  /** Sum of successes over about the last fifty groups. Older groups count less. */
  readonly slow: number;
  /** Sum of the weights in `slow`: the number of groups, where older groups count less. */
  readonly slowCount: number;
  /**
   * Practice without progress: sum of q (1 − q) over the groups since the slow average last changed by MOVED, where q
   * is a group's success.
   */
  readonly practice: number;
  /**
   * Slow average of success when it was first measured, or when it last changed by MOVED. Null: the arm has had too few
   * groups.
   */
  readonly reference: number | null;
}

export const fresh: Practised = Object.freeze({
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

/** Returns an arm's success and practice after one more group with success `q`, in [0, 1]. */
export function practised(arm: Practised, q: number, weight: number): Practised {
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

/** Returns the success, in [0, 1], that is expected of an arm's next group. */
export function expected({ fast, fastCount }: Practised): number {
  return (fast + PRIOR) / (fastCount + 2 * PRIOR);
}

/**
 * Returns how fast an arm's success rises, in [0, 1]. 0: it does not rise. 1: it rises fast, or the arm has had no
 * groups.
 */
export function riseOf({ fast, fastCount, slow, slowCount }: Practised): number {
  if (fastCount === 0) return 1;
  return Math.min(1, Math.max(0, (fast / fastCount - slow / slowCount) / MOVED));
}

export function interestOf(arm: Practised, scale: number): number {
  const m = expected(arm);
  const worn = arm.practice / scale;
  return ((power(m, 2) * power(1 - m, 5)) / PEAK) * ((0.3 + 0.7 * riseOf(arm)) / (1 + worn * worn));
}

export function encodeArm({ fast, fastCount, slow, slowCount, practice, reference }: Practised): Json {
  return [fast, fastCount, slow, slowCount, practice, reference];
}

export function decodeArm(json: Json): Practised {
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
