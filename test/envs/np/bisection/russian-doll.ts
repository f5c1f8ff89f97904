/** Independent exact methods, to check the solver against. */
import { type BisectionInstance, cutWeight } from "../../../../envs/np/bisection/generate.ts";

/** Every division; for up to about 16 vertices. */
export function bruteForce(instance: BisectionInstance): number {
  const { vertices } = instance;
  const side = new Uint8Array(vertices);
  let best = Infinity;
  const place = (v: number, ones: number): void => {
    if (v === vertices) {
      if (Math.abs(2 * ones - vertices) <= 1) best = Math.min(best, cutWeight(instance, side));
      return;
    }
    for (const each of [0, 1]) {
      side[v] = each;
      place(v + 1, ones + each);
    }
  };
  place(0, 0);
  return best;
}

/**
 * Russian doll search (Verfaillie, Lemaître and Schiex 1996): lightest cuts of ever more vertices, for every size of a
 * side, where the cuts of fewer vertices bound those among the vertices not yet placed. No floating point, and nothing
 * of the solver's.
 */
export function russianDoll(instance: BisectionInstance): number {
  const { vertices: n } = instance;
  const weight = ordered(instance);
  /** Lightest cut of the last `count` vertices with k of them on side 0, as lightest[count][k]. */
  const lightest: number[][] = [[0]];
  const pull = [new Int32Array(n), new Int32Array(n)] as const;
  let best = Infinity;

  // Places vertex v and those after it, `room` of them on side 0.
  const place = (v: number, room: number, cut: number): void => {
    const left = n - v;
    const low = lightest[left];
    if (left === 0) {
      best = Math.min(best, cut);
      return;
    }
    if (low !== undefined && cut + low[room]! + pulled(v, room) >= best) return;
    const first = pull[0][v]! >= pull[1][v]! ? 0 : 1;
    for (const side of [first, 1 - first] as const) {
      const roomAfter = room - (1 - side);
      if (roomAfter < 0 || roomAfter > left - 1) continue;
      for (let u = v + 1; u < n; u++) pull[side]![u]! += weight[v * n + u]!;
      place(v + 1, roomAfter, cut + pull[1 - side]![v]!);
      for (let u = v + 1; u < n; u++) pull[side]![u]! -= weight[v * n + u]!;
    }
  };

  // The least that the edges to placed vertices cost, with `room` of the others on side 0.
  const pulled = (v: number, room: number): number => {
    let cost = 0;
    const gains: number[] = [];
    for (let u = v; u < n; u++) {
      cost += pull[0][u]!;
      gains.push(pull[1][u]! - pull[0][u]!);
    }
    gains.sort((a, b) => a - b);
    for (let k = 0; k < room; k++) cost += gains[k]!;
    return cost;
  };

  for (let count = 1; count <= n; count++) {
    const row: number[] = [];
    for (let k = 0; k <= count; k++) {
      if (k > count / 2) row.push(row[count - k]!);
      else if (count === n && k !== Math.floor(n / 2)) row.push(0);
      else {
        best = Infinity;
        place(n - count, k, 0);
        row.push(best);
      }
    }
    lightest.push(row);
  }
  return lightest[n]![Math.floor(n / 2)]!;
}

/** The weights with the vertices in such an order that the last are close, and each the closest to those after it. */
function ordered({ vertices: n, edges }: BisectionInstance): Int32Array {
  const weight = new Int32Array(n * n);
  for (const { a, b, weight: w } of edges) weight[a * n + b] = weight[b * n + a] = w;
  const close = new Int32Array(n);
  const order: number[] = [];
  const rest = new Set(Array.from({ length: n }, (_, v) => v));
  while (rest.size > 0) {
    const next = [...rest].reduce((a, b) => (close[b]! > close[a]! ? b : a));
    rest.delete(next);
    order.unshift(next);
    for (const v of rest) close[v]! += weight[next * n + v]!;
  }
  return Int32Array.from({ length: n * n }, (_, i) => weight[order[Math.floor(i / n)]! * n + order[i % n]!]!);
}
