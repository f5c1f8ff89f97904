/**
 * Divides the day into time slots. Some optimal schedule has no meeting that could be held earlier. In that schedule
 * each meeting starts at the start of an interval, or when another meeting ends. All starts are therefore multiples of
 * the slot's length, and the solver tries no others.
 */
import type { Interval } from "../generate.ts";
import type { Model } from "./model.ts";

export interface Grid {
  /** Length of a slot, in minutes. */
  readonly unit: number;
  /** Number of slots in the day. */
  readonly slots: number;
  /** Length of each meeting in slots, and the slots at which it can start, ascending. */
  readonly lengths: readonly number[];
  readonly starts: readonly (readonly number[])[];
}

/** Maximum number of slots. A day in quarters of an hour has 32. */
const SLOTS_MAX = 128;

/** Returns the grid, or undefined if there are too many slots or no meeting can be held. */
export function gridOf({ jobs, dayStart, dayEnd }: Model): Grid | undefined {
  const unit = jobs
    .flatMap(({ minutes, intervals }) => [
      ...(intervals.length === 0 ? [] : [minutes]),
      ...intervals.flatMap(({ start, end }) => [start - dayStart, end - dayStart]),
    ])
    .reduce(commonDivisor, 0);
  const slots = (dayEnd - dayStart) / unit;
  if (!(slots > 0 && slots <= SLOTS_MAX)) return undefined;
  const startsIn = ({ start, end }: Interval, minutes: number): readonly number[] =>
    Array.from({ length: (end - start - minutes) / unit + 1 }, (_, k) => (start - dayStart) / unit + k);
  return {
    unit,
    slots,
    lengths: jobs.map(({ minutes }) => minutes / unit),
    starts: jobs.map(({ minutes, intervals }) => intervals.flatMap((interval) => startsIn(interval, minutes))),
  };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
