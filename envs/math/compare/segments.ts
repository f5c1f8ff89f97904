/** Stretches of real numbers, of which sets are made. */
import type { Num } from "../numbers/arithmetic.ts";

/** An end of a segment; undefined: it has none on this side. */
export interface End {
  readonly value: Num | undefined;
  readonly closed: boolean;
}

export interface Segment {
  readonly low: End;
  readonly high: End;
}

/** Apart from each other, in order. */
export type Reals = readonly Segment[];

export const OPEN: End = { value: undefined, closed: false };
export const ALL: Reals = [{ low: OPEN, high: OPEN }];
