/** Rows as a bench has them: pass rates from Beta(.4, .4), which rise over the run, and groups that are sampled by them. */
import { rngFor, type Rng } from "../../envs/lib/rng.ts";

export const SAMPLES = 8;

/** By how much the log odds of every row rise from the run's first draw to its last. */
const RISE = 2;

/** Of a gamma distribution of a shape below 1 (Marsaglia and Tsang 2000, with their boost). */
function gamma(shape: number, rng: Rng): number {
  const d = shape + 1 - 1 / 3;
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - rng.float()) < 0.5 * x * x + d - d * v + d * Math.log(v))
      return d * v * (1 - rng.float()) ** (1 / shape);
  }
}

export interface World {
  readonly size: number;
  readonly draws: number;
  /** What a column says of each row: its rate at first, with noise of a deviation of .15. */
  readonly column: Float64Array;
  /** How many of a group's samples are solved, at a draw counted from 0. */
  readonly group: (row: number, draw: number) => number;
}

export function world(size: number, draws: number, seed: number): World {
  const rng = rngFor("rows", size, draws, seed);
  const odds = new Float64Array(size);
  const column = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    const [a, b] = [gamma(0.4, rng), gamma(0.4, rng)];
    const rate = Math.min(1 - 1e-9, Math.max(1e-9, a / (a + b)));
    odds[row] = Math.log(rate / (1 - rate));
    const noise = Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
    column[row] = Math.min(1, Math.max(0, rate + 0.15 * noise));
  }
  return {
    size,
    draws,
    column,
    group(row, draw) {
      const rate = 1 / (1 + Math.exp(-(odds[row]! + (RISE * draw) / draws)));
      let solved = 0;
      for (let i = 0; i < SAMPLES; i++) solved += Number(rng.float() < rate);
      return solved;
    },
  };
}

export const isUseful = (solved: number): boolean => solved > 0 && solved < SAMPLES;
