/** Seeded instances of every kind that the solver must stand. */
import { type Rng, rngFor } from "../../../../envs/lib/rng.ts";
import type { BisectionInstance, Edge } from "../../../../envs/np/bisection/generate.ts";
import { bisection } from "../../../../envs/np/bisection/index.ts";

/** The edges that get a weight above 0. */
function weighted(vertices: number, weightOf: (a: number, b: number) => number): BisectionInstance {
  const edges: Edge[] = [];
  for (let a = 0; a < vertices; a++) {
    for (let b = a + 1; b < vertices; b++) {
      const weight = weightOf(a, b);
      if (weight > 0) edges.push({ a, b, weight });
    }
  }
  return { vertices, edges };
}

function random(n: number, density: number, max: number, rng: Rng): BisectionInstance {
  return weighted(n, () => (rng.float() < density ? rng.int(1, max) : 0));
}

/** Generators by name, one for each kind. */
export const kinds: Readonly<Record<string, (n: number, rng: Rng) => BisectionInstance>> = {
  sparse: (n, rng) => random(n, 0.2, 10, rng),
  dense: (n, rng) => random(n, 0.9, 10, rng),
  "weights up to 10,000": (n, rng) => random(n, 0.5, 10_000, rng),
  "all weights 1": (n, rng) => random(n, 0.5, 1, rng),
  "no edges": (n) => weighted(n, () => 0),
  complete: (n) => weighted(n, () => 3),
  star: (n, rng) => weighted(n, (a) => (a === 0 ? rng.int(1, 5) : 0)),
  circle: (n) => weighted(n, (a, b) => Number(b - a === 1 || b - a === n - 1)),
  "three lots": (n, rng) => weighted(n, (a, b) => (a % 3 === b % 3 ? rng.int(3, 9) : rng.int(0, 1))),
  "parts without edges between them": (n, rng) => weighted(n, (a, b) => (a % 4 === b % 4 ? rng.int(1, 9) : 0)),
  "one heavy edge": (n, rng) => weighted(n, (a, b) => (a === 0 && b === 1 ? 10_000 : rng.int(0, 2))),
};

export function generated(level: string, seed: number): BisectionInstance {
  const { parameters } = bisection.levels.find(({ name }) => name === level)!;
  return bisection.generator!.generate(parameters, rngFor("test", level, seed))!;
}

/** The instance with its vertices called otherwise. */
export function relabelled({ vertices, edges }: BisectionInstance, seed: number): BisectionInstance {
  const names = rngFor("relabel", seed).shuffle(Array.from({ length: vertices }, (_, v) => v));
  const renamed = edges.map(({ a, b, weight }) => {
    const [one, other] = [names[a]!, names[b]!];
    return { a: Math.min(one, other), b: Math.max(one, other), weight };
  });
  return { vertices, edges: renamed.sort((x, y) => x.a - y.a || x.b - y.b) };
}
