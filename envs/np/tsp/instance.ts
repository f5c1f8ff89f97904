/** What a TSP task is. */

/** Cities 0 … cities − 1 and the distances between them, the same both ways. */
export interface TspInstance {
  readonly cities: number;
  /** The matrix above its diagonal, row by row: 0 to 1, 0 to 2, …, 1 to 2, … */
  readonly distances: Int32Array;
}

/** Where row `from` would start in distances if it began with city 0: the distance to city j > from is j further. */
export function rowStart(cities: number, from: number): number {
  return (from * (2 * cities - from - 3)) / 2 - 1;
}

/** The distance between two different cities. */
export function distanceBetween({ cities, distances }: TspInstance, a: number, b: number): number {
  return distances[a < b ? rowStart(cities, a) + b : rowStart(cities, b) + a] as number;
}

/** The length of the closed tour that visits these cities in this order. */
export function tourLength(instance: TspInstance, tour: readonly number[]): number {
  let length = 0;
  let from = tour.at(-1) as number;
  for (const to of tour) {
    length += distanceBetween(instance, from, to);
    from = to;
  }
  return length;
}
