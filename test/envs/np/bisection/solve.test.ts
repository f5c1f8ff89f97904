/** Balanced sides of the stated value, and a bound that does not exceed it. */
import { describe, expect, test } from "vitest";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { type BisectionInstance, cutWeight } from "../../../../envs/np/bisection/generate.ts";
import { relaxationOf, rootBound } from "../../../../envs/np/bisection/solve/bound.ts";
import { rootSpins, solve } from "../../../../envs/np/bisection/solve/index.ts";
import { agreementOf, cutOf, nodeOf, problemOf } from "../../../../envs/np/bisection/solve/problem.ts";
import { explore, searchOf } from "../../../../envs/np/bisection/solve/search.ts";
import { generated, kinds, relabelled } from "./instances.ts";
import { share } from "../../../support/share.ts";
import { bruteForce, russianDoll } from "./russian-doll.ts";

function expectSound(instance: BisectionInstance, { answer, value, bound, proven }: ReturnType<typeof solve>): void {
  const [first, second] = answer;
  expect([...first, ...second].sort((a, b) => a - b)).toEqual(Array.from({ length: instance.vertices }, (_, v) => v));
  expect(Math.abs(first.length - second.length)).toBeLessThanOrEqual(1);
  const spins = Int8Array.from({ length: instance.vertices }, (_, v) => (first.includes(v) ? 1 : -1));
  expect(cutWeight(instance, spins)).toBe(value);
  expect(Number.isInteger(bound) && bound >= 0 && bound <= value).toBe(true);
  expect(proven).toBe(bound === value);
}

describe.each(Object.entries(kinds))("%s", (name, draw) => {
  test("matches every division up to 11 vertices, with any budget", () => {
    for (let seed = 0; seed < 20; seed++) {
      const instance = draw(2 + (seed % 10), rngFor("small", name, seed));
      const optimum = bruteForce(instance);
      const solution = solve(instance);
      expectSound(instance, solution);
      expect(solution).toMatchObject({ value: optimum, bound: optimum, proven: true });
      for (const nodesMax of [0, 1, 3]) {
        const cut = solve(instance, nodesMax);
        expectSound(instance, cut);
        expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
        expect(cut.bound).toBeLessThanOrEqual(optimum);
        expect(cut.value).toBeGreaterThanOrEqual(optimum);
      }
    }
  });

  test("matches the Russian dolls at 18 vertices", () => {
    for (let seed = 0; seed < 2; seed++) {
      const instance = draw(18 + (seed % 2), rngFor("middle", name, seed));
      expect(solve(instance)).toMatchObject({ value: russianDoll(instance), proven: true });
    }
  });

  test("has one value whatever the vertices are called, at 30 of them", () => {
    for (let seed = 0; seed < 2; seed++) {
      const instance = draw(30 + seed, rngFor("large", name, seed));
      const solution = solve(instance, 200);
      const renamed = solve(relabelled(instance, seed), 200);
      expectSound(instance, solution);
      if (solution.proven && renamed.proven) expect(renamed.value).toBe(solution.value);
      expect(renamed.value).toBeGreaterThanOrEqual(solution.bound);
      expect(solution.value).toBeGreaterThanOrEqual(renamed.bound);
    }
  });
});

/** A search of its own that starts from sides that are not good, where the solver's would start from the best. */
function searchFromTrivial(instance: BisectionInstance): number {
  const problem = problemOf(instance);
  const spins = Int8Array.from({ length: problem.n }, (_, v) => (v < problem.n / 2 ? 1 : -1));
  const first = { spins, agreement: agreementOf(problem, spins) };
  const search = searchOf(problem, relaxationOf(problem, rngFor("test")), first, 10_000);
  explore(search, rootSpins(problem));
  expect(search.open).toBe(false);
  expect(agreementOf(problem, search.best.spins)).toBe(search.best.agreement);
  return cutOf(problem, search.best.agreement);
}

test.each(Object.entries(kinds))(
  "%s: the search alone finds the optimum, and the root's bound is none",
  (name, draw) => {
    for (let seed = 0; seed < 20; seed++) {
      const instance = draw(6 + (seed % 7), rngFor("search", name, seed));
      const optimum = bruteForce(instance);
      expect(searchFromTrivial(instance)).toBe(optimum);
      const problem = problemOf(instance);
      const root = nodeOf(problem, rootSpins(problem));
      if (problem.total === 0) continue;
      expect(rootBound(relaxationOf(problem, rngFor("test")), root, 0, problem.total)).toBeLessThanOrEqual(optimum);
    }
  },
);

test("the search alone finds the optimum of tasks", () => {
  for (const level of ["easy", "medium", "hard", "benchmark"]) {
    for (let seed = 0; seed < 4; seed++) {
      const instance = generated(level, seed);
      expect(searchFromTrivial(instance)).toBe(solve(instance).value);
    }
  }
});

test.each([
  ["easy", 8],
  ["medium", 1],
])("%s tasks match the Russian dolls", (level, count) => {
  for (let seed = 0; seed < count; seed++) {
    const instance = generated(level, seed);
    expect(solve(instance)).toMatchObject({ value: russianDoll(instance), proven: true });
  }
});

/** Optima of the first tasks by the Russian dolls, which take seconds for each: too long to search here. */
const OPTIMA = [
  [
    "hard",
    "337 383 330 312 380 331 539 378 373 395 284 352 384 352 377 328 423 249 446 395 466 297 306 316 417 358 349 409 413 292 378 509 320 322 377 379 339 285 401 337 314 366 321 399 386 346 276 369 390 447 461 458 439 385 337 312 361 439 360 469 324 423 285 300 255 305 300 459 403 342",
  ],
  [
    "benchmark",
    "499 510 815 572 641 453 460 684 368 472 616 664 511 635 491 709 508 691 506 747 476 428 548 407 577 340 523 727 747 710 620 478 758 616 547 570 727 819 408 540 866 517 601 583 520 710 597 540 414 875 837 534 512 529 641 570 387 871 701 507 654 682 367 719 525 835 525 584 865 589",
  ],
] as const;

test.each(OPTIMA)("%s tasks have the optima that the Russian dolls found", (level, optima) => {
  const known = optima.split(" ");
  const values = known.slice(0, share(known.length)).map((_, seed) => solve(generated(level, seed)).value);
  expect(values.join(" ")).toBe(known.slice(0, values.length).join(" "));
});

test.each(["easy", "medium", "hard", "benchmark"])(
  "every %s task is proven, and its value survives renaming",
  (level) => {
    for (let seed = 100; seed < 100 + share(20); seed++) {
      const instance = generated(level, seed);
      const solution = solve(instance);
      expectSound(instance, solution);
      expect(solution.proven).toBe(true);
      expect(solve(relabelled(instance, seed))).toMatchObject({ value: solution.value, proven: true });
    }
  },
);

test("a spent budget leaves a certified bound at benchmark size", () => {
  let open = 0;
  for (let seed = 0; seed < share(15); seed++) {
    const instance = generated("benchmark", seed);
    const optimum = solve(instance).value;
    for (const nodesMax of [0, 1, 10]) {
      const cut = solve(instance, nodesMax);
      expectSound(instance, cut);
      expect(cut.bound).toBeLessThanOrEqual(optimum);
      // Not the bound that every cut has.
      expect(cut.bound).toBeGreaterThan(optimum / 3);
      if (!cut.proven) open++;
    }
  }
  expect(open).toBeGreaterThan(0);
});
