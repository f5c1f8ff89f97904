import { improve, wake } from "./lin-kernighan.ts";
import type { LinKernighan } from "./lin-kernighan.ts";
import { reversePath, setTour, tourCost } from "./tour.ts";

const segmentMax = 10;

/**
 * Iterated Lin-Kernighan: swap two short neighbouring segments (a double bridge), repair,
 * keep what is not longer. Stops after `kicks`, or when the cost is at most `enough`.
 */
export function kickTour(search: LinKernighan, random: () => number, kicks: number, enough: number): number {
  const { tour, cost } = search;
  for (let v = 0; v < tour.n; v++) wake(search, v);
  improve(search);
  let best = tourCost(cost, tour.city);
  if (tour.n < 8) return best;
  const kept = tour.city.slice();
  for (let kick = 0; kick < kicks && best > enough; kick++) {
    swapSegments(search, random);
    improve(search);
    const now = tourCost(cost, tour.city);
    if (now <= best) {
      best = now;
      kept.set(tour.city);
    } else setTour(tour, kept);
  }
  return best;
}

function swapSegments(search: LinKernighan, random: () => number): void {
  const { tour } = search;
  const { n, city } = tour;
  const longest = Math.min(segmentMax, (n >> 1) - 1);
  const start = random() % n;
  const first = 1 + (random() % longest);
  const second = 1 + (random() % longest);
  const at = (offset: number): number => city[(start + offset) % n]!;
  const ends = [at(0), at(1), at(first), at(first + 1), at(first + second), at(first + second + 1)];
  reversePath(tour, ends[1]!, ends[4]!);
  reversePath(tour, ends[4]!, ends[3]!);
  reversePath(tour, ends[2]!, ends[1]!);
  for (const end of ends) wake(search, end);
}

/** Xorshift with a fixed seed: kicks vary, results do not. */
export function generator(): () => number {
  let state = 0x9e3779b9 | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 1;
  };
}
