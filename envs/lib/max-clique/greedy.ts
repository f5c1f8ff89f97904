import { firstCandidate, narrow, record } from "./state.ts";
import type { Search } from "./state.ts";

/** A first clique: from each vertex, the first candidate as long as there is one; the largest is kept. */
export function cliqueGreedily(s: Search): void {
  for (let v = 0; v < s.vertices; v++) {
    s.chosen[0] = v;
    let size = 1;
    for (let more = narrow(s, 0, v); more; size++) {
      const next = firstCandidate(s, size);
      s.chosen[size] = next;
      more = narrow(s, size, next);
    }
    if (size > s.size) record(s, size);
  }
}
