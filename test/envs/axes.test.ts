/** Tests of growth axes: every value resolves, no parameter falls, and there are as many instances as is said. */
import { describe, expect, test } from "vitest";
import type { GrowthAxis, SyncEnvironment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { resolveParameters } from "../../envs/parameters.ts";
import { synchronous } from "./every.ts";

interface Along {
  readonly title: string;
  readonly environment: SyncEnvironment;
  readonly axis: GrowthAxis;
}

const all: readonly Along[] = synchronous.flatMap((environment) =>
  (environment.generator?.axes ?? []).map((axis) => ({ title: `${environment.id}, ${axis.name}`, environment, axis })),
);

/** Maximum number of levels of an arm (contract: Growth.cap). */
const LEVELS_MAX = 256;

function valuesOf({ first, last }: GrowthAxis): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Returns the instance at a value, or undefined if the seed gives none. */
function instanceAt({ environment, axis }: Along, value: number, seed: bigint): unknown {
  const resolved = resolveParameters(environment, axis.parametersAt(value));
  if (resolved.kind !== "ok") throw new Error(resolved.message);
  const made = makeGenerated(environment, { parameters: resolved.parameters, seed, split: "train" });
  return made.kind === "made" ? made.instance : undefined;
}

test("np, countdown, math and sequence have axes", () => {
  const families = new Set(all.map(({ environment }) => environment.id));
  for (const environment of synchronous.filter(({ id }) => /^(np|sequence)\//.test(id) || id === "countdown"))
    expect(families).toContain(environment.id);
  expect(families).toContain("math/arithmetic");
  expect(families).toContain("math/linear");
});

describe.each(all)("$title", (along) => {
  const { environment, axis } = along;

  test("has at most as many values as an arm has levels, from 1 on, and a name of its own", () => {
    expect(axis.first).toBeGreaterThanOrEqual(1);
    expect(axis.last).toBeGreaterThan(axis.first);
    expect(axis.last - axis.first + 1).toBeLessThanOrEqual(LEVELS_MAX);
    expect(environment.generator?.axes?.filter(({ name }) => name === axis.name)).toHaveLength(1);
  });

  test("sets parameters that fit at each value, and none falls", () => {
    const set = valuesOf(axis).map((value) => axis.parametersAt(value));
    for (const parameters of set) {
      expect(resolveParameters(environment, parameters)).toMatchObject({ kind: "ok" });
      expect(Object.keys(parameters)).toEqual(Object.keys(set[0] ?? {}));
    }
    for (const [i, parameters] of set.slice(1).entries())
      for (const [name, value] of Object.entries(parameters))
        expect([name, value]).toEqual([name, Math.max(value, set[i]?.[name] ?? 0)]);
  });

  test("gives tasks at its first value and beyond", () => {
    for (const value of [axis.first, axis.first + 1])
      expect([value, [1n, 2n, 3n].some((seed) => instanceAt(along, value, seed) !== undefined)]).toEqual([value, true]);
  });

  test("says up to which value there are fewer than 1,000 instances", () => {
    for (const value of [axis.first, axis.smallThrough ?? axis.first, (axis.smallThrough ?? axis.first) + 1]) {
      const instance = instanceAt(along, value, 1n);
      const isSmall = environment.inEverySplit?.(instance) ?? false;
      expect([value, isSmall]).toEqual([value, value <= (axis.smallThrough ?? 0)]);
    }
  });
});
