import { choose, computeGains, descend, isCovered, record } from "./state.ts";
import type { Search } from "./state.ts";

/** A first cover: always the subset that covers most of what is left. */
export function coverGreedily(s: Search): void {
  descend(s, 0);
  let count = 0;
  while (!isCovered(s, 1)) {
    computeGains(s, 1);
    const subset = s.gain.reduce((best, gain, candidate) => (gain > s.gain[best]! ? candidate : best), 0);
    s.chosen[count++] = subset;
    choose(s, 1, subset);
  }
  record(s, count);
}
