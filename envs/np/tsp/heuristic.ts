/**
 * Finds a short tour much as the papers' public code does. Takes the best nearest-neighbour tour over all start cities,
 * then applies the best 2-opt move while one helps. Between the two, that code runs annealing until a time limit; this
 * file omits it.
 */
import { distanceBetween, tourLength, type TspInstance } from "./generate.ts";
import type { Tour } from "./verify.ts";

export function heuristic(instance: TspInstance): Tour {
  const tours = Array.from({ length: instance.cities }, (_, start) => nearestNeighbour(instance, start));
  const lengths = tours.map((tour) => tourLength(instance, tour));
  return twoOpt(instance, tours[lengths.indexOf(Math.min(...lengths))] as number[]);
}

function nearestNeighbour(instance: TspInstance, start: number): number[] {
  const tour = [start];
  const left = new Set(Array.from({ length: instance.cities }, (_, city) => city));
  left.delete(start);
  while (left.size > 0) {
    const from = tour.at(-1) as number;
    let [next, least] = [-1, Infinity];
    for (const city of left) {
      const distance = distanceBetween(instance, from, city);
      if (distance < least) [next, least] = [city, distance];
    }
    left.delete(next);
    tour.push(next);
  }
  return tour;
}

/**
 * Applies 2-opt moves while one shortens the tour. Each move shortens it by at least one, so that there are at most as
 * many moves as the tour is long.
 */
function twoOpt(instance: TspInstance, tour: number[]): Tour {
  for (;;) {
    const move = bestMove(instance, tour);
    if (move === undefined) return tour;
    const [i, j] = move;
    tour.splice(i + 1, j - i, ...tour.slice(i + 1, j + 1).reverse());
  }
}

/**
 * Returns the two positions after which to cut the tour and reverse the part between. Returns undefined if no such move
 * shortens the tour.
 */
function bestMove(instance: TspInstance, tour: readonly number[]): readonly [number, number] | undefined {
  const { length } = tour;
  const at = (place: number): number => tour[place % length] as number;
  const between = (one: number, other: number): number => distanceBetween(instance, at(one), at(other));
  let [best, move]: [number, readonly [number, number] | undefined] = [0, undefined];
  for (let i = 0; i < length - 2; i++) {
    // Skip the pair of the first and the last edge, because they share a city.
    const end = i === 0 ? length - 1 : length;
    for (let j = i + 2; j < end; j++) {
      const change = between(i, j) + between(i + 1, j + 1) - between(i, i + 1) - between(j, j + 1);
      if (change < best) [best, move] = [change, [i, j]];
    }
  }
  return move;
}
