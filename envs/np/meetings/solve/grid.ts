/**
 * A task as slots of time. Of the best schedules one has no meeting that could be held earlier: there each starts with
 * an interval, or as another ends. So all starts lie on the grid of all times and lengths, and no others are looked at.
 */
import type { Interval } from "../generate.ts";
import type { Model } from "./model.ts";

export interface Grid {
  /** Minutes of a slot. */
  readonly unit: number;
  /** How many the day has. */
  readonly slots: number;
  /** By meeting: its length in slots, and the slots that it can start at, ascending. */
  readonly lengths: readonly number[];
  readonly starts: readonly (readonly number[])[];
}

/** Days of quarters of an hour have 32. */
const SLOTS_MAX = 128;

/** Undefined: there are too many slots, or no meeting can be held. */
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
