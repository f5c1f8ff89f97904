/**
 * Choosing items of the largest total value within a capacity, or of exactly that weight: dynamic programming from the
 * core outwards (Pisinger, "A minimal algorithm for the 0-1 knapsack problem", 1997). Items by falling value per weight
 * are taken until one does not fit, the break item; then the items on both sides of it, the nearest first, are put in
 * or taken out, or not. A state is a weight and the largest value that reaches it; bounds leave few of them.
 */

export interface CoreProblem {
  /** Whole numbers from 1, in the order of falling value per weight. */
  readonly weights: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** A whole number. The product of all weights' sum and any value is below 2^53, so that all bounds are exact. */
  readonly capacity: number;
  /** Whether the weight must equal the capacity, rather than stay within it. */
  readonly exact: boolean;
}

export interface CoreResult {
  /** Positions of the items chosen; undefined: none better than the incumbent was found. */
  readonly chosen: readonly number[] | undefined;
  /** Their value; the incumbent's where there are none. */
  readonly value: number;
  /** No choice is worth more; equal to value unless the states ran out. */
  readonly bound: number;
  /** States looked at. */
  readonly states: number;
}

interface Core extends CoreProblem {
  readonly items: number;
  /** The first item that does not fit, and what those before it weigh and are worth. */
  readonly breakItem: number;
  readonly breakWeight: number;
  readonly breakValue: number;
  /** The next item to be taken out, going down, and the next to be put in, going up. */
  left: number;
  right: number;
  best: number;
  bestMark: number;
  /** By mark: the item that was changed, and the mark of the changes before it. */
  readonly changed: number[];
  readonly before: number[];
}

/** States by rising weight, in buffers that grow. */
interface States {
  weight: Float64Array;
  value: Float64Array;
  /** The changes that lead to the state. */
  mark: Int32Array;
  count: number;
}

const NO_CHANGE = -1;
const NOT_FOUND = -2;

/** The best choice worth more than an incumbent, or a proof that there is none, looking at no more than so many states. */
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

/** Takes the item nearest to the break that is still to be decided. */
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
 * Whether changing this item cannot lead to a better choice, by Dantzig's bound: weight is priced at the break item's
 * value per weight, and so no choice with the change is worth more than the choice before the break with it.
 */
function isSettled(core: Core, item: number): boolean {
  const { weights, values, breakItem } = core;
  if (breakItem === core.items) return false;
  const sign = item < breakItem ? -1 : 1;
  const slack = core.capacity - core.breakWeight - sign * (weights[item] as number);
  const value = core.breakValue + sign * (values[item] as number);
  return slack * (values[breakItem] as number) < (core.best + 1 - value) * (weights[breakItem] as number);
}

/** All states, without and with one more item changed, merged by weight. */
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

/** Adds a state after those of less weight, unless another is as good or it leads nowhere better. */
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
 * Whether the items to be decided may make this better than the best: what is free is filled at the next item's value
 * per weight, or what is too much given away at that of the next to be taken out.
 */
function leadsFurther(core: Core, weight: number, value: number): boolean {
  const { weights, values, capacity } = core;
  const next = weight <= capacity ? core.right : core.left;
  if (next < 0 || next >= core.items) return false;
  return (capacity - weight) * (values[next] as number) >= (core.best + 1 - value) * (weights[next] as number);
}

/** The bound of the best choice that is still open. */
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

/** Makes room for so many states; those that were there are lost. */
function grow(states: States, room: number): void {
  if (states.weight.length < room) Object.assign(states, newStates(2 * room));
}
