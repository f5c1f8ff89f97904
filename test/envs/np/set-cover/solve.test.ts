import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import { bitMatrix, hasBit, setBit } from "../../../../envs/lib/bit-matrix.ts";
import type { IndexList as Cover } from "../../../../envs/lib/parse-lists.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import type { SetCoverInstance } from "../../../../envs/np/set-cover/generate.ts";
import { setCover } from "../../../../envs/np/set-cover/index.ts";
import { draw, drawBenchmark, levelOf, randomOrder } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { coverByDeepening, coverByTable } from "./cover-methods.ts";
import { share } from "../../../support/share.ts";

const solver = setCover.solver as Solver<SetCoverInstance, Cover>;

/** Subsets of every size, empty and equal ones too. */
function randomCover(seed: number): SetCoverInstance {
  const rng = rngFor("cover", seed);
  const subsets = bitMatrix(rng.int(1, 12), rng.int(1, 11));
  const share = rng.pick([0.05, 0.15, 0.3, 0.5, 0.9]);
  for (let e = 0; e < subsets.columns; e++) {
    for (let s = 0; s < subsets.rows; s++) if (rng.float() < share) setBit(subsets, s, e);
    setBit(subsets, rng.int(0, subsets.rows - 1), e);
  }
  return { subsets };
}

/** Subset s called order[s]. */
function renamed({ subsets }: SetCoverInstance, order: readonly number[]): SetCoverInstance {
  const other = bitMatrix(subsets.rows, subsets.columns);
  for (let s = 0; s < subsets.rows; s++) {
    for (let e = 0; e < subsets.columns; e++) if (hasBit(subsets, s, e)) setBit(other, order[s]!, e);
  }
  return { subsets: other };
}

test("instances of up to 11 elements match the table over all sets of elements, with any budget", () => {
  for (let seed = 0; seed < share(2000); seed++) {
    const instance = randomCover(seed);
    const optimum = coverByTable(instance.subsets);
    expect(solver.solve(instance)).toMatchObject({ value: optimum, bound: optimum, proven: true });
    for (const nodesMax of [0, 1, 2]) {
      const cut = solver.solve(instance, nodesMax);
      expectSound(setCover, instance, cut, optimum);
      expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
    }
  }
});

test("benchmark instances match trying each count, whatever the subsets are called", () => {
  for (let seed = 0; seed < share(150); seed++) {
    const instance = drawBenchmark(setCover, seed);
    const solution = solver.solve(instance);
    expectSound(setCover, instance, solution, coverByDeepening(instance.subsets));
    expect(solution.proven).toBe(true);
    expect(solver.solve(instance)).toEqual(solution);
    const other = solver.solve(renamed(instance, randomOrder(instance.subsets.rows, seed)));
    expect(other).toMatchObject({ value: solution.value, proven: true });
    for (const nodesMax of [0, 1, 3, 10]) {
      expectSound(setCover, instance, solver.solve(instance, nodesMax), solution.value);
    }
  }
});

test("large instances end, with a sound answer", () => {
  for (const subset_size_factor of [0.05, 0.2]) {
    const sizes = { elements_min: 70, elements_max: 70, subsets_min: 70, subsets_max: 70 };
    const instance = draw(setCover, { ...levelOf(setCover, "easy"), ...sizes, subset_size_factor }, 1);
    const cut = solver.solve(instance, 200);
    expectSound(setCover, instance, cut, cut.value);
    expect(cut.nodes).toBeLessThanOrEqual(200);
    expect(cut.bound).toBeGreaterThan(0.5 * cut.value);
  }
});
