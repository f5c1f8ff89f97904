/** Finds good sides quickly, by tabu search over swaps of two vertices. */
import type { Rng } from "../../../lib/rng.ts";
import { type Problem, pullOn } from "./problem.ts";

const STARTS = 2;
/** Number of swaps per vertex that the search makes after each random start. */
const SWAPS_PER_VERTEX = 6;
const TENURE_MIN = 3;
const TENURE_MAX = 8;

export interface Found {
  readonly spins: Int8Array;
  readonly agreement: number;
}

interface Tabu {
  readonly problem: Problem;
  readonly rng: Rng;
  readonly spins: Int8Array;
  /** Agreement (the sum of weight · spin · spin) over the edges at each vertex. Each edge counts at both ends. */
  readonly share: Int32Array;
  /** Step until which each vertex may not move, unless its swap leads to a new best agreement. */
  readonly heldUntil: Int32Array;
  agreement: number;
  best: number;
}

interface Swap {
  readonly up: number;
  readonly down: number;
  readonly gain: number;
}

/** Returns the balanced spins of the greatest agreement found, from a few random starts. */
export function searchTabu(problem: Problem, rng: Rng): Found {
  let best: Found | undefined;
  for (let start = 0; start < STARTS; start++) {
    const found = searchFrom(problem, randomSpins(problem.n, rng), rng);
    if (best === undefined || found.agreement > best.agreement) best = found;
  }
  return best!;
}

function randomSpins(n: number, rng: Rng): Int8Array {
  const order = rng.shuffle(Array.from({ length: n }, (_, v) => v));
  const spins = new Int8Array(n).fill(-1);
  for (let k = 0; k < n / 2; k++) spins[order[k]!] = 1;
  return spins;
}

function searchFrom(problem: Problem, spins: Int8Array, rng: Rng): Found {
  const { n } = problem;
  const share = Int32Array.from(spins, (spin, v) => spin * pullOn(problem, spins, v));
  const agreement = share.reduce((sum, each) => sum + each, 0) / 2;
  const tabu: Tabu = { problem, rng, spins, share, heldUntil: new Int32Array(n), agreement, best: agreement };
  const kept = spins.slice();
  for (let step = 1; step <= SWAPS_PER_VERTEX * n; step++) {
    const swap = bestSwap(tabu, step);
    if (swap === undefined) continue;
    for (const v of [swap.up, swap.down]) {
      flip(tabu, v);
      tabu.heldUntil[v] = step + rng.int(TENURE_MIN, TENURE_MAX);
    }
    tabu.agreement += swap.gain;
    if (tabu.agreement <= tabu.best) continue;
    tabu.best = tabu.agreement;
    kept.set(spins);
  }
  return { spins: kept, agreement: tabu.best };
}

/**
 * Returns the swap that gains most, or loses least. Of equal swaps, returns the first one after a random position.
 * Returns undefined if every swap is forbidden.
 */
function bestSwap({ problem, rng, spins, share, heldUntil, agreement, best }: Tabu, step: number): Swap | undefined {
  const { n, weight } = problem;
  const from = rng.int(0, n - 1);
  let [up, down, gain] = [-1, -1, -Infinity];
  for (let k = 0; k < n; k++) {
    const a = from + k < n ? from + k : from + k - n;
    if (spins[a]! < 0) continue;
    for (let b = 0; b < n; b++) {
      if (spins[b]! > 0) continue;
      // Correct for the edge between the two vertices: both shares count it as gained, but it stays cut.
      const change = -2 * (share[a]! + share[b]!) - 4 * weight[a * n + b]!;
      if (change <= gain) continue;
      const held = heldUntil[a]! > step || heldUntil[b]! > step;
      if (held && agreement + change <= best) continue;
      [up, down, gain] = [a, b, change];
    }
  }
  return up < 0 ? undefined : { up, down, gain };
}

function flip({ problem, spins, share }: Tabu, v: number): void {
  const { n, weight, neighbours } = problem;
  for (const u of neighbours[v]!) share[u] = share[u]! - 2 * weight[v * n + u]! * spins[v]! * spins[u]!;
  share[v] = -share[v]!;
  spins[v] = -spins[v]!;
}
