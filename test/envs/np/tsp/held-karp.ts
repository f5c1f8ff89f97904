/** Independent exact methods for small instances, to check the solver against. */

type Matrix = readonly (readonly number[])[];

/** Dynamic programming over subsets (Held and Karp 1962): 2^(n-1) · (n-1)² steps. */
export function heldKarp(distances: Matrix): number {
  const m = distances.length - 1;
  const full = (1 << m) - 1;
  // shortest[set · m + last]: from city m through `set`, ending in `last`.
  const shortest = new Float64Array((full + 1) * m).fill(Infinity);
  for (let v = 0; v < m; v++) shortest[(1 << v) * m + v] = distances[m]![v]!;
  for (let set = 1; set <= full; set++) {
    for (let last = 0; last < m; last++) {
      const so = shortest[set * m + last]!;
      if (so === Infinity) continue;
      for (let v = 0; v < m; v++) {
        if ((set >> v) & 1) continue;
        const slot = (set | (1 << v)) * m + v;
        shortest[slot] = Math.min(shortest[slot]!, so + distances[last]![v]!);
      }
    }
  }
  let best = Infinity;
  for (let v = 0; v < m; v++) best = Math.min(best, shortest[full * m + v]! + distances[v]![m]!);
  return best;
}

/** Every permutation; for n up to 8. */
export function bruteForce(distances: Matrix): number {
  const n = distances.length;
  const used = new Array<boolean>(n).fill(false);
  let best = Infinity;
  const extend = (at: number, visited: number, length: number): void => {
    if (visited === n) best = Math.min(best, length + distances[at]![0]!);
    for (let v = 1; v < n; v++) {
      if (used[v]) continue;
      used[v] = true;
      extend(v, visited + 1, length + distances[at]![v]!);
      used[v] = false;
    }
  };
  extend(0, 1, 0);
  return best;
}
