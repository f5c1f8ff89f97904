/**
 * Computes an upper bound on attendance without search, by prices. A right is a permission that each meeting of a set
 * needs in every time slot it occupies, and each slot has a limited supply of it. Of meetings that pairwise exclude
 * each other, a slot supplies one; of meetings that need so many seats, as many as there are such rooms. For any prices
 * of these rights, no schedule is worth more than the following sum. The sum has the price of all rights, and for each
 * meeting its value beyond its price at the cheapest start. This is the Lagrangian relaxation of the time-indexed
 * formulation (Sousa and Wolsey 1992). Subgradient steps search for prices that make the sum small.
 */
import type { Placement } from "../generate.ts";
import type { Grid } from "./grid.ts";
import type { Model } from "./model.ts";

/** Value of one attendee, in price units. Prices are integers, so that all sums are exact. */
const UNIT = 2 ** 16;
const ROUNDS = 1500;
const SHRINK = 0.997;

interface Prices {
  readonly model: Model;
  readonly grid: Grid;
  /** Rights that each meeting uses. */
  readonly uses: readonly (readonly number[])[];
  /** Number of meetings that may use each right at the same time. */
  readonly supply: readonly number[];
  /** Price of each right in each slot, at right · slots + slot. */
  readonly price: Float64Array;
  /**
   * Number of meetings, each at its cheapest start, that use a right in a slot beyond the supply (negative if below).
   * The index is that of `price`.
   */
  readonly excess: Float64Array;
  /** Scratch memory: total price of a meeting's rights in all slots before each slot. */
  readonly upTo: Float64Array;
}

function pricesOf(model: Model, grid: Grid): Prices {
  const { jobs, seatsFrom, roomsAtLeast } = model;
  const all = [...jobs.keys()];
  const rights = [
    ...rivals(model).map((meetings) => ({ supply: 1, meetings })),
    ...seatsFrom.map((seats) => ({
      supply: roomsAtLeast[seats]!,
      meetings: all.filter((m) => jobs[m]!.size >= seats),
    })),
  ];
  const uses = all.map((meeting) => [...rights.keys()].filter((right) => rights[right]!.meetings.includes(meeting)));
  const each = (): Float64Array => new Float64Array(rights.length * grid.slots);
  const scratch = { price: each(), excess: each(), upTo: new Float64Array(grid.slots + 1) };
  return { model, grid, uses, supply: rights.map(({ supply }) => supply), ...scratch };
}

/**
 * Returns sets of meetings of which no two can be held at the same time. Each set grows from an attendee's meetings or
 * from a single meeting.
 */
function rivals({ jobs, meetingsOf, roomsAtLeast }: Model): readonly (readonly number[])[] {
  const clash = jobs.map((one) =>
    jobs.map(
      (other) =>
        one.attendees.some((person) => other.attendees.includes(person)) ||
        roomsAtLeast[Math.min(one.size, other.size)]! < 2,
    ),
  );
  const byMinutes = [...jobs.keys()].sort((a, b) => jobs[b]!.minutes - jobs[a]!.minutes || a - b);
  const sets = [...meetingsOf, ...byMinutes.map((meeting) => [meeting])].flatMap((start) =>
    [byMinutes, byMinutes.toReversed()].map((order) => {
      const set = [...start];
      for (const meeting of order) {
        if (!set.includes(meeting) && set.every((other) => clash[meeting]![other]!)) set.push(meeting);
      }
      return set.sort((a, b) => a - b);
    }),
  );
  return [...new Map(sets.map((set) => [set.join(" "), set])).values()];
}

/** Upper bounds on attendance that prices give, for a whole day and for the rest of a day. */
export interface Pricing {
  /** Upper bound on the attendance of a whole day. */
  readonly bound: number;
  /**
   * Returns an upper bound on the attendance of the meetings still to be held after these placements. Each of these
   * meetings starts at the start of its option or later.
   */
  readonly left: (placements: readonly Placement[], options: readonly Placement[]) => number;
}

/**
 * Searches for prices (Lagrange multipliers of the constraints) that give a small upper bound on attendance. Stops when
 * the bound reaches `found`, the attendance of a known schedule.
 */
export function priced(model: Model, grid: Grid, found: number): Pricing {
  const prices = pricesOf(model, grid);
  const { price, excess } = prices;
  let kept = price.slice();
  let [best, step] = [Infinity, 1];
  for (let round = 0; round < ROUNDS && Math.floor(best / UNIT) > found; round++) {
    const value = evaluate(prices);
    if (value < best) [best, kept] = [value, price.slice()];
    else step *= SHRINK;
    // Leave out prices of 0 that would fall, because no price is negative.
    const steepness = excess.reduce((sum, each, at) => sum + (each < 0 && price[at] === 0 ? 0 : each * each), 0);
    if (steepness === 0) break;
    const stride = (step * (value - found * UNIT)) / steepness;
    for (let at = 0; at < price.length; at++) price[at] = Math.max(0, Math.round(price[at]! + stride * excess[at]!));
  }
  price.set(kept);
  return { bound: Math.floor(best / UNIT), left: leftBy(prices) };
}

/** Returns the function that bounds the attendance of the rest of a day. Its tables hold prices by meeting and slot. */
function leftBy(prices: Prices): Pricing["left"] {
  const { model, grid, supply, price } = prices;
  const { slots, unit, lengths, starts } = grid;
  const slotOf = ({ start }: Placement): number => (start - model.dayStart) / unit;
  // Price of the whole supply from each slot to the day's end.
  const from = new Float64Array(slots + 1);
  for (let slot = slots - 1; slot >= 0; slot--) {
    from[slot] = from[slot + 1]! + supply.reduce((sum, amount, at) => sum + amount * price[at * slots + slot]!, 0);
  }
  const costs = model.jobs.map((_, meeting) => costUpTo(prices, meeting).slice());
  // Largest value of each meeting beyond its price, if it starts at the slot or later.
  const gains = model.jobs.map(({ size }, meeting) => {
    const [cost, gain] = [costs[meeting]!, new Float64Array(slots + 1)];
    for (const start of starts[meeting]!) {
      gain[start] = Math.max(0, size * UNIT - (cost[start + lengths[meeting]!]! - cost[start]!));
    }
    for (let slot = slots - 1; slot >= 0; slot--) gain[slot] = Math.max(gain[slot]!, gain[slot + 1]!);
    return gain;
  });
  const first = new Int32Array(model.jobs.length);
  return (placements, options) => {
    const last = placements.at(-1);
    const now = last === undefined ? 0 : slotOf(last);
    let value = from[now]!;
    for (const placed of placements) {
      const cost = costs[placed.meeting]!;
      const end = slotOf(placed) + lengths[placed.meeting]!;
      if (end > now) value -= cost[end]! - cost[now]!;
    }
    first.fill(slots);
    for (const option of options) first[option.meeting] = Math.min(first[option.meeting]!, slotOf(option));
    for (const [meeting, slot] of first.entries()) value += gains[meeting]![slot]!;
    return Math.floor(value / UNIT);
  };
}

/** Computes the bound that the prices give, in price units, and fills `excess`. */
function evaluate(prices: Prices): number {
  const { grid, uses, supply, price, excess, model } = prices;
  const { slots } = grid;
  let value = 0;
  for (const [right, amount] of supply.entries()) {
    for (let at = right * slots; at < (right + 1) * slots; at++) {
      value += amount * price[at]!;
      excess[at] = -amount;
    }
  }
  for (const [meeting, { size }] of model.jobs.entries()) {
    const [cost, start] = cheapest(prices, meeting);
    if (cost >= size * UNIT) continue;
    value += size * UNIT - cost;
    const length = grid.lengths[meeting]!;
    for (const right of uses[meeting]!) {
      for (let at = right * slots + start; at < right * slots + start + length; at++) excess[at] = excess[at]! + 1;
    }
  }
  return value;
}

/**
 * Returns the price of a meeting at its cheapest start, and that start. The price is Infinity if the meeting has no
 * start.
 */
function cheapest(prices: Prices, meeting: number): readonly [cost: number, start: number] {
  const { grid } = prices;
  const upTo = costUpTo(prices, meeting);
  const length = grid.lengths[meeting]!;
  let [least, chosen] = [Infinity, -1];
  for (const start of grid.starts[meeting]!) {
    const cost = upTo[start + length]! - upTo[start]!;
    if (cost < least) [least, chosen] = [cost, start];
  }
  return [least, chosen];
}

/** Returns the total price of a meeting's rights in all slots before each slot. */
function costUpTo({ grid, uses, price, upTo }: Prices, meeting: number): Float64Array {
  const { slots } = grid;
  for (let slot = 0, sum = 0; slot < slots; slot++) {
    for (const right of uses[meeting]!) sum += price[right * slots + slot]!;
    upTo[slot + 1] = sum;
  }
  return upTo;
}
