/** A closed tour in an array: which city is at a position, and at which position a city is. */
export interface Tour {
  readonly n: number;
  readonly city: Int32Array;
  readonly at: Int32Array;
}

export function tourOf(order: ArrayLike<number>): Tour {
  const n = order.length;
  const tour = { n, city: new Int32Array(n), at: new Int32Array(n) };
  setTour(tour, order);
  return tour;
}

export function setTour(tour: Tour, order: ArrayLike<number>): void {
  for (let i = 0; i < tour.n; i++) {
    tour.city[i] = order[i]!;
    tour.at[order[i]!] = i;
  }
}

export function next(tour: Tour, city: number): number {
  const position = tour.at[city]! + 1;
  return tour.city[position === tour.n ? 0 : position]!;
}

export function previous(tour: Tour, city: number): number {
  const position = tour.at[city]!;
  return tour.city[(position === 0 ? tour.n : position) - 1]!;
}

/** Reverses the path that runs forward from one city to another. */
export function reversePath(tour: Tour, from: number, to: number): void {
  const { n, city, at } = tour;
  let i = at[from]!;
  let j = at[to]!;
  const length = (j >= i ? j - i : j - i + n) + 1;
  for (let swaps = length >> 1; swaps > 0; swaps--) {
    const a = city[i]!;
    const b = city[j]!;
    city[i] = b;
    at[b] = i;
    city[j] = a;
    at[a] = j;
    if (++i === n) i = 0;
    if (--j < 0) j = n - 1;
  }
}

export function tourCost(cost: Int32Array, order: ArrayLike<number>): number {
  const n = order.length;
  let sum = cost[order[n - 1]! * n + order[0]!]!;
  for (let i = 1; i < n; i++) sum += cost[order[i - 1]! * n + order[i]!]!;
  return sum;
}
