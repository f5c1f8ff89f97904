import { lowestBit } from "../../../lib/bit-matrix.ts";
import { computeGains, isIn } from "./state.ts";
import type { Search } from "./state.ts";

/** Weights are whole numbers of these units: those of 200 elements fit 32 bits, and rounding down keeps a bound valid. */
const UNIT = 2 ** 22;

/**
 * How many more subsets a node takes at least; 0 only if all is covered. Each uncovered element weighs 1 over the largest
 * gain of a subset that holds it. So no subset covers a weight above 1, and it takes as many as all weigh together (a
 * dual solution of the linear relaxation).
 */
export function subsetsAtLeast(s: Search, depth: number): number {
  computeGains(s, depth);
  const { weight: most, elementWords: words, uncovered, holds, gain } = s;
  most.fill(0);
  for (let subset = 0; subset < s.subsets; subset++) {
    const own = gain[subset]!;
    for (let w = 0; own > 0 && w < words; w++) {
      for (let word = holds[subset * words + w]! & uncovered[depth * words + w]!; word !== 0; word &= word - 1) {
        const e = w * 32 + lowestBit(word);
        if (own > most[e]!) most[e] = own;
      }
    }
  }
  let sum = 0;
  for (const gainMost of most) if (gainMost > 0) sum += Math.floor(UNIT / gainMost);
  return Math.ceil(sum / UNIT);
}

const ROUNDS = 300;

/**
 * How many subsets any cover takes at least, by subgradient ascent on the Lagrangian dual: whatever the weights of the
 * elements, a cover takes their sum less what each subset holds beyond 1 (Beasley, "A Lagrangian heuristic for
 * set-covering problems", 1990). The weights are whole numbers, so the sum is exact; `upper` is the size of a cover.
 */
export function subsetsAtLeastOverall(s: Search, upper: number): number {
  const { subsets, elements, elementWords, holds, weight } = s;
  const lists = Array.from({ length: subsets }, (_, subset) =>
    Array.from({ length: elements }, (_, e) => e).filter((e) => isIn(holds, elementWords, subset, e)),
  );
  const slope = new Int32Array(elements);
  weight.fill(Math.floor((UNIT * upper) / elements));
  let best = 0;
  let step = 1;
  for (let round = 0; round < ROUNDS; round++) {
    const value = dual(lists, weight, slope);
    if (value > best) best = value;
    else step *= 0.98;
    const steepness = slope.reduce((sum, g) => sum + g * g, 0);
    if (steepness === 0) break;
    const stride = (step * (upper * UNIT - value)) / steepness;
    for (let e = 0; e < elements; e++)
      weight[e] = Math.min(UNIT, Math.max(0, Math.round(weight[e]! + stride * slope[e]!)));
  }
  return Math.ceil(best / UNIT);
}

/** The dual's value at these weights, in units; its slope says how often each element is left out of what pays. */
function dual(lists: readonly (readonly number[])[], weight: Int32Array, slope: Int32Array): number {
  slope.fill(1);
  let value = weight.reduce((sum, each) => sum + each, 0);
  for (const list of lists) {
    const beyond = list.reduce((sum, e) => sum + weight[e]!, 0) - UNIT;
    if (beyond <= 0) continue;
    value -= beyond;
    for (const e of list) slope[e]!--;
  }
  return value;
}
