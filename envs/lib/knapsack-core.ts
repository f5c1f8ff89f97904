/**
 * Chooses items of the largest total value within a capacity, or of exactly that weight. Uses dynamic programming over
 * a core (Pisinger, "A minimal algorithm for the 0-1 knapsack problem", 1997). The greedy choice takes items by falling
 * value per weight until one does not fit: the break item. Then the search decides for the items on both sides of the
 * break item, nearest first, whether to change the greedy choice. A state is a weight, with the largest value found for
 * that weight. Bounds leave few states. The solvers of knapsack and subset sum use this file.
 */

export interface CoreProblem {
  /** Weights of the items, positive integers. The items are in the order of falling value per weight. */
  readonly weights: ArrayLike<number>;
  /** Values of the items, positive integers. */
  readonly values: ArrayLike<number>;
  /**
   * Maximum weight of a choice, an integer. The product of the sum of all weights and any value is below 2^53, so that
   * all bounds are exact.
   */
  readonly capacity: number;
  /** True if the weight must equal the capacity. Otherwise it must not exceed the capacity. */
  readonly exact: boolean;
}

export interface CoreResult {
  /**
   * Positions of the chosen items, or undefined if no choice is better than the incumbent (the best value known
   * before).
   */
  readonly chosen: readonly number[] | undefined;
  /** Value of the chosen items. If `chosen` is undefined, the value of the incumbent. */
  readonly value: number;
  /** Upper bound on the value of any choice. Equals `value` unless the search ran out of states. */
  readonly bound: number;
  readonly states: number;
}

interface Core extends CoreProblem {
  readonly items: number;
  /** Index of the first item that does not fit. */
  readonly breakItem: number;
  /** Weight of the items before the break item. */
  readonly breakWeight: number;
  /** Value of the items before the break item. */
  readonly breakValue: number;
  /** Next item to remove from the greedy choice. The index falls. */
  left: number;
  /** Next item to add to the greedy choice. The index rises. */
  right: number;
  best: number;
  bestMark: number;
  /** Log of changes: the item that each change added or removed. */
  readonly changed: number[];
  /** For each change in the log, the index of the change before it on the way to its state. */
  readonly before: number[];
}

/** States of the dynamic program in the order of rising weight. The buffers grow. */
interface States {
  weight: Float64Array;
  value: Float64Array;
  /** For each state, the index in the log of the last change that leads to it. */
  mark: Int32Array;
  count: number;
}

const NO_CHANGE = -1;
const NOT_FOUND = -2;

/**
 * Finds the best choice with a larger value than the incumbent, or proves that there is none. Visits at most
 * `statesMax` states.
 */
export function solveCore(problem: CoreProblem, incumbent: number, statesMax: number): CoreResult {
  const core = openCore(problem, incumbent);
  let [states, spare] = [newStates(64), newStates(64)];
  let used = 0;
  offer(core, states, core.breakWeight, core.breakValue, NO_CHANGE, undefined);
  while (states.count > 0 && (core.left >= 0 || core.right < core.items)) {
    if (used + 2 * states.count > statesMax) return { ...resultOf(core, used), bound: openBound(core, states) };
    used += 2 * states.count;
    change(core, states, spare, takeNext(core));
    [states, spare] = [spare, states];
  }
  return resultOf(core, used);
}

function openCore(problem: CoreProblem, incumbent: number): Core {
  const { weights, values, capacity } = problem;
  const items = weights.length;
  let breakItem = 0;
  let breakWeight = 0;
  let breakValue = 0;
  for (; breakItem < items && breakWeight + (weights[breakItem] as number) <= capacity; breakItem++) {
    breakWeight += weights[breakItem] as number;
    breakValue += values[breakItem] as number;
  }
  const next = { left: breakItem, right: breakItem - 1 };
  const found = { best: incumbent, bestMark: NOT_FOUND, changed: [], before: [] };
  const core: Core = { ...problem, items, breakItem, breakWeight, breakValue, ...next, ...found };
  moveLeft(core);
  moveRight(core);
  return core;
}

function moveLeft(core: Core): void {
  do core.left--;
  while (core.left >= 0 && isSettled(core, core.left));
}

function moveRight(core: Core): void {
  do core.right++;
  while (core.right < core.items && isSettled(core, core.right));
}

/** Takes the undecided item that is nearest to the break item. */
function takeNext(core: Core): number {
  const { left, right, breakItem, items } = core;
  if (right < items && (left < 0 || right - breakItem < breakItem - left)) {
    moveRight(core);
    return right;
  }
  moveLeft(core);
  return left;
}

/**
 * Returns whether changing this item cannot lead to a better choice, by Dantzig's bound. The bound is the value of the
 * greedy choice with that change, plus its free weight times the break item's value per weight.
 */
function isSettled(core: Core, item: number): boolean {
  const { weights, values, breakItem } = core;
  if (breakItem === core.items) return false;
  const sign = item < breakItem ? -1 : 1;
  const slack = core.capacity - core.breakWeight - sign * (weights[item] as number);
  const value = core.breakValue + sign * (values[item] as number);
  return slack * (values[breakItem] as number) < (core.best + 1 - value) * (weights[breakItem] as number);
}

/**
 * Decides about one item: builds the next states, i.e. each state with and without the item changed, merged by weight.
 */
function change(core: Core, from: States, into: States, item: number): void {
  const sign = item < core.breakItem ? -1 : 1;
  const addedWeight = sign * (core.weights[item] as number);
  const addedValue = sign * (core.values[item] as number);
  const { weight, value, mark, count } = from;
  into.count = 0;
  grow(into, 2 * count);
  for (let kept = 0, moved = 0; kept < count || moved < count;) {
    const keptWeight = kept < count ? (weight[kept] as number) : Infinity;
    const movedWeight = moved < count ? (weight[moved] as number) + addedWeight : Infinity;
    const movedValue = (value[moved] as number) + addedValue;
    if (keptWeight < movedWeight || (keptWeight === movedWeight && (value[kept] as number) >= movedValue)) {
      offer(core, into, keptWeight, value[kept] as number, mark[kept] as number, undefined);
      kept++;
    } else {
      offer(core, into, movedWeight, movedValue, mark[moved] as number, item);
      moved++;
    }
  }
}

/**
 * Appends a state, whose weight is at least that of the states before. Skips a state that another one dominates or that
 * cannot lead to a better choice.
 */
function offer(core: Core, into: States, weight: number, value: number, mark: number, item: number | undefined): void {
  const last = into.count - 1;
  const sameKind = !core.exact || into.weight[last] === weight;
  if (last >= 0 && sameKind && value <= (into.value[last] as number)) return;
  const better = value > core.best && (weight === core.capacity || (weight < core.capacity && !core.exact));
  if (better) core.best = value;
  const leads = leadsFurther(core, weight, value);
  if (!better && !leads) return;
  const ownMark = item === undefined ? mark : core.changed.push(item) - 1;
  if (item !== undefined) core.before.push(mark);
  if (better) core.bestMark = ownMark;
  if (!leads) return;
  into.weight[last + 1] = weight;
  into.value[last + 1] = value;
  into.mark[last + 1] = ownMark;
  into.count++;
}

/**
 * Returns whether decisions about the remaining items may make this state better than the best known choice. The bound
 * fills free weight at the value per weight of the next item to add. It removes excess weight at the value per weight
 * of the next item to remove.
 */
function leadsFurther(core: Core, weight: number, value: number): boolean {
  const { weights, values, capacity } = core;
  const next = weight <= capacity ? core.right : core.left;
  if (next < 0 || next >= core.items) return false;
  return (capacity - weight) * (values[next] as number) >= (core.best + 1 - value) * (weights[next] as number);
}

/** Returns an upper bound on the value of every choice that the remaining states can lead to. */
function openBound({ weights, values, capacity, left, right, best }: Core, { weight, value, count }: States): number {
  let bound = best;
  for (let state = 0; state < count; state++) {
    const slack = capacity - (weight[state] as number);
    const next = slack >= 0 ? right : left;
    const added = Math.floor((slack * (values[next] as number)) / (weights[next] as number));
    bound = Math.max(bound, (value[state] as number) + added);
  }
  return bound;
}

function resultOf({ best, bestMark, changed, before, breakItem, items }: Core, states: number): CoreResult {
  const rest = { value: best, bound: best, states };
  if (bestMark === NOT_FOUND) return { chosen: undefined, ...rest };
  const flipped = new Uint8Array(items);
  for (let mark = bestMark; mark !== NO_CHANGE; mark = before[mark] as number) flipped[changed[mark] as number] = 1;
  const chosen: number[] = [];
  for (let item = 0; item < items; item++) if (item < breakItem !== (flipped[item] === 1)) chosen.push(item);
  return { chosen, ...rest };
}

function newStates(room: number): States {
  return { weight: new Float64Array(room), value: new Float64Array(room), mark: new Int32Array(room), count: 0 };
}

/** Makes room for `room` states and discards the contents. */
function grow(states: States, room: number): void {
  if (states.weight.length < room) Object.assign(states, newStates(2 * room));
}
