import { describe, expect, test } from "vitest";
import type { Parameters } from "../../envs/environment.ts";
import { ATTEMPTS_MAX, makeGenerated, restore } from "../../envs/instances.ts";
import type { TspInstance } from "../../envs/np/tsp/generate.ts";
import { tsp } from "../../envs/np/tsp/index.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { instanceHash, splitOf } from "../../envs/splits.ts";

const SMALL: Parameters = { cities_min: 5, cities_max: 7, distance_min: 1, distance_max: 9 };

function issue(
  seed: bigint,
  split: "train" | "eval" | "bench" = "eval",
  parameters = SMALL,
): TaskKey & { readonly instance: TspInstance } {
  const result = makeGenerated(tsp, { parameters, seed, split });
  if (result.kind !== "made") throw new Error(result.message);
  return { ...result.key, instance: result.instance };
}

test("80% of instances are train, 10% eval, 10% bench", () => {
  const counts = { train: 0, eval: 0, bench: 0 };
  for (let i = 0; i < 10_000; i++) {
    counts[splitOf(tsp, { cities: 3, distances: Int32Array.of(i, i, i) })]++;
  }
  expect(counts.train / 10_000).toBeCloseTo(0.8, 1);
  expect(counts.eval / 10_000).toBeCloseTo(0.1, 1);
  expect(counts.bench / 10_000).toBeCloseTo(0.1, 1);
});

test("instances are redrawn until one lies in the split, and restored from the draw that did", () => {
  const attempts = Array.from({ length: 50 }, (_, i) => {
    const { origin, instance, hash } = issue(BigInt(i));
    expect(splitOf(tsp, instance)).toBe("eval");
    expect(instanceHash(tsp, instance)).toBe(hash);
    expect(restore(tsp, origin, new Map())).toEqual({ kind: "ok", instance });
    return origin.kind === "generated" ? origin.attempt : -1;
  });
  expect(Math.max(...attempts)).toBeGreaterThan(0);
  expect(Math.min(...attempts)).toBeGreaterThanOrEqual(0);
});

test("neighbouring seeds, 0 and the largest give different instances", () => {
  const seeds = [0n, 1n, 11n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n];
  expect(new Set(seeds.map((seed) => issue(seed).hash)).size).toBe(seeds.length);
});

test("the order of the parameters does not matter", () => {
  const reversed = Object.fromEntries(Object.entries(SMALL).reverse());
  expect(issue(7n, "train", reversed).hash).toBe(issue(7n, "train").hash);
});

test("says so where there are no such instances", () => {
  const one = { cities_min: 3, cities_max: 3, distance_min: 1, distance_max: 1 };
  const split = splitOf(tsp, { cities: 3, distances: Int32Array.of(1, 1, 1) });
  expect(issue(1n, split, one).baseline).toEqual({ value: 3, bound: 3, proven: true });
  const other = split === "eval" ? "bench" : "eval";
  const result = makeGenerated(tsp, { parameters: one, seed: 1n, split: other });
  expect(result).toMatchObject({ kind: "exhausted" });
  expect(result.kind === "exhausted" && result.message).toContain(`none of ${ATTEMPTS_MAX} attempts`);
});

describe("restore refuses", () => {
  test("a row of a pool that is not there", () => {
    const origin = { kind: "row", pool: "none", row: 3, contentHash: "0".repeat(16) } as const;
    const message =
      "this server's pool 'none' of np/tsp does not hold the task of row 3 as it was issued: start the server with that pool";
    expect(restore(tsp, origin, new Map())).toEqual({ kind: "invalid", message });
  });
  test("an inline task", () => {
    const message = "np/tsp has no tasks whose instance travels in the task id";
    expect(restore(tsp, { kind: "inline", instance: new Uint8Array(3) }, new Map())).toEqual({
      kind: "invalid",
      message,
    });
  });
});
