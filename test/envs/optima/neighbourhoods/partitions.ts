/** Answers that put every vertex somewhere: colourings, and the two sides of a bisection. */
import type { Graph } from "../../../../envs/lib/graph.ts";
import { type Rng, sample } from "../../../../envs/lib/rng.ts";
import type { BisectionInstance } from "../../../../envs/np/bisection/generate.ts";
import type { Sides } from "../../../../envs/np/bisection/verify.ts";
import { anyPosition, type List, repeated, replaced, swapped, without } from "./lists.ts";
import { anyOf, type Neighbourhood } from "./neighbourhood.ts";

/** A vertex takes the colour of another, or has none; a colour is given up for another; two vertices exchange theirs. */
export const colorings: Neighbourhood<Graph, List> = {
  move: anyOf(
    (_, colors, rng) => replaced(colors, anyPosition(colors, rng), rng.pick(colors)),
    (_, colors, rng) => {
      const [old, other] = [rng.pick(colors), rng.pick(colors)];
      return colors.map((color) => (color === old ? other : color));
    },
    (_, colors, rng) => swapped(colors, rng),
    (_, colors, rng) => without(colors, anyPosition(colors, rng)),
  ),
  random: ({ vertices }, rng) => {
    const colors = rng.int(1, vertices);
    return Array.from({ length: vertices }, () => rng.int(1, colors));
  },
  start: ({ vertices }) => [...Array(vertices).keys()],
};

/** Returns the vertices in random order, cut in two after the first `cut`. */
function anySides(vertices: number, cut: number, rng: Rng): Sides {
  const order = sample(vertices, vertices, rng);
  return [order.slice(0, cut), order.slice(cut)];
}

function exchanged([one, other]: Sides, rng: Rng): Sides {
  const [i, j] = [anyPosition(one, rng), anyPosition(other, rng)];
  return [replaced(one, i, other[j] as number), replaced(other, j, one[i] as number)];
}

function movedOver([one, other]: Sides, rng: Rng): Sides {
  const [from, to] = one.length > other.length ? [one, other] : [other, one];
  const position = anyPosition(from, rng);
  return [without(from, position), [...to, from[position] as number]];
}

export const sides: Neighbourhood<BisectionInstance, Sides> = {
  move: anyOf(
    (_, both, rng) => exchanged(both, rng),
    (_, both, rng) => exchanged(exchanged(both, rng), rng),
    (_, both, rng) => movedOver(both, rng),
    (_, [one, other], rng) => [repeated(one, rng), other],
    (_, [one, other], rng) => [one, without(other, anyPosition(other, rng))],
  ),
  random: ({ vertices }, rng) => anySides(vertices, (vertices >> 1) + rng.int(-1, 2), rng),
  start: ({ vertices }, rng) => anySides(vertices, vertices >> 1, rng),
};
