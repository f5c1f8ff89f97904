/** The papers' distributions at other sizes than the level's: every environment makes whole instances at the smallest too. */
import { expect, test } from "vitest";
import type { Environment } from "../../../../envs/environment.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { environments } from "../../../../envs/registry.ts";
import { draw } from "../draws.ts";

const switched = environments.filter(({ generator }) => generator?.parameters.some(({ later }) => later === true));

/** The smallest sizes that are not refused. */
function smallest(environment: Environment): Readonly<Record<string, number>> {
  const sizes =
    environment.generator?.parameters.filter(({ name }) => /^(vertices|items|numbers)_min$/.test(name)) ?? [];
  for (let size = 2; size < 20; size++) {
    const given = Object.fromEntries(sizes.map(({ name }) => [name.replace("_min", "_max"), size]));
    const resolved = resolveParameters(environment, { ...given, reference: 1 });
    if (resolved.kind === "ok") return resolved.parameters;
  }
  throw new Error(`${environment.id} refuses all sizes`);
}

test("all but np/tsp, whose level has other distances alone, have the switch", () => {
  expect(switched.map(({ id }) => id)).toHaveLength(9);
});

test.each(switched.map((environment) => [environment.id, environment] as const))(
  "%s makes instances of the smallest size, and leaves the switch out of the parameters where it is off",
  (_, environment) => {
    const parameters = smallest(environment);
    expect(parameters["reference"]).toBe(1);
    for (let seed = 0; seed < 20; seed++) {
      const instance = draw(environment, parameters, seed);
      expect(environment.canonical(instance)).not.toContain("NaN");
      expect(environment.solver?.solve(instance).value).toBeGreaterThanOrEqual(0);
    }
    for (const given of [{}, { reference: 0 }]) {
      const resolved = resolveParameters(environment, given);
      expect(resolved.kind === "ok" && Object.keys(resolved.parameters)).not.toContain("reference");
    }
  },
);
