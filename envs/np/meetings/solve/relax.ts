/**
 * A bound without search. In each slot of time, of meetings that no two of can be held at once a schedule holds one at
 * most, and of those that need so many seats no more than there are such rooms. Whatever prices these rights have, no schedule is worth more than what all of them cost
 * together and what each meeting, held when it is cheapest, is worth beyond its price (the Lagrangian relaxation of the
 * time-indexed formulation; Sousa and Wolsey 1992). Subgradient steps look for prices that make this small.
 */
import type { Placement } from "../generate.ts";
import type { Grid } from "./grid.ts";
import type { Model } from "./model.ts";

/** Prices are whole numbers, so many to an attendee: all sums are exact. */
const UNIT = 2 ** 16;
const ROUNDS = 1500;
const SHRINK = 0.997;

interface Prices {
  readonly model: Model;
  readonly grid: Grid;
  /** By meeting: the rights that it uses. */
  readonly uses: readonly (readonly number[])[];
  /** How many meetings may use each at once. */
  readonly supply: readonly number[];
  /** At right · slots + slot. */
  readonly price: Float64Array;
  /** Likewise: how often the meetings, each at its cheapest, use it beyond its supply. */
  readonly excess: Float64Array;
  /** Scratch: what a meeting's resources cost together up to each slot. */
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

/** Sets of meetings that no two of can be held at once: those of each attendee, and of each meeting, and what joins them. */
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

/** What prices say of a whole day, and of what is left of one. */
export interface Pricing {
  /** No schedule has more attendance. */
  readonly bound: number;
  /** No more attend what may still be held, each from its option's start on, when these are placed. */
  readonly left: (placements: readonly Placement[], options: readonly Placement[]) => number;
}

/** Looks for prices of a small bound, which need not be below `found`, the attendance of a schedule. */
export function priced(model: Model, grid: Grid, found: number): Pricing {
  const prices = pricesOf(model, grid);
  const { price, excess } = prices;
  let kept = price.slice();
  let [best, step] = [Infinity, 1];
  for (let round = 0; round < ROUNDS && Math.floor(best / UNIT) > found; round++) {
    const value = evaluate(prices);
    if (value < best) [best, kept] = [value, price.slice()];
    else step *= SHRINK;
    // A price of 0 does not fall.
    const steepness = excess.reduce((sum, each, at) => sum + (each < 0 && price[at] === 0 ? 0 : each * each), 0);
    if (steepness === 0) break;
    const stride = (step * (value - found * UNIT)) / steepness;
    for (let at = 0; at < price.length; at++) price[at] = Math.max(0, Math.round(price[at]! + stride * excess[at]!));
  }
  price.set(kept);
  return { bound: Math.floor(best / UNIT), left: leftBy(prices) };
}

/** The bound of what is left, by tables that hold what prices say of each meeting and slot. */
function leftBy(prices: Prices): Pricing["left"] {
  const { model, grid, supply, price } = prices;
  const { slots, unit, lengths, starts } = grid;
  const slotOf = ({ start }: Placement): number => (start - model.dayStart) / unit;
  // What all that there is costs from each slot on.
  const from = new Float64Array(slots + 1);
  for (let slot = slots - 1; slot >= 0; slot--) {
    from[slot] = from[slot + 1]! + supply.reduce((sum, amount, at) => sum + amount * price[at * slots + slot]!, 0);
  }
  const costs = model.jobs.map((_, meeting) => costUpTo(prices, meeting).slice());
  // What each meeting is worth beyond its price, started at a slot or later.
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

/** What the prices bound the attendance by, in units. */
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

/** What a meeting costs at the start where it costs least; Infinity: it has none. */
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

/** What all that a meeting uses costs together before each slot. */
function costUpTo({ grid, uses, price, upTo }: Prices, meeting: number): Float64Array {
  const { slots } = grid;
  for (let slot = 0, sum = 0; slot < slots; slot++) {
    for (const right of uses[meeting]!) sum += price[right * slots + slot]!;
    upTo[slot + 1] = sum;
  }
  return upTo;
}
