import { expect, test } from "vitest";
import type { Environment } from "../../envs/environment.ts";
import { makeGenerated } from "../../envs/instances.ts";
import { createRegistry, environments } from "../../envs/registry.ts";

const registry = createRegistry(environments);

test("no version of an environment is registered twice", () => {
  const keys = environments.map(({ id, version }) => `${id} ${version}`);
  expect(new Set(keys).size).toBe(keys.length);
  const [first] = environments as readonly [Environment, ...Environment[]];
  expect(() => createRegistry([...environments, first])).toThrow(`two environments ${first.id} have the same version`);
});

test("each is found by its id and version, and the newest by its id", () => {
  for (const environment of environments) {
    const { id, version } = environment;
    expect(registry.find(id, version)).toEqual({ kind: "found", environment });
    const newest = Math.max(...environments.filter((each) => each.id === id).map((each) => each.version));
    expect(registry.find(id)).toMatchObject({ kind: "found", environment: { id, version: newest } });
  }
});

test("an unknown id gets the nearest one, an unknown version those there are", () => {
  const message = "unknown environment 'np/tps'; did you mean 'np/tsp'?";
  expect(registry.find("np/tps")).toEqual({ kind: "unknown", message });
  expect(registry.find("")).toEqual({ kind: "unknown", message: "unknown environment ''" });
  const other = "np/tsp has no version 99; it has: 3, 2";
  expect(registry.find("np/tsp", 99)).toEqual({ kind: "unknown_version", message: other });
});

test("an earlier version is found as the one that judges its tasks, and has the same tasks", () => {
  const judged = environments.filter(({ earlier = [] }) => earlier.length > 0);
  expect(judged.map(({ id }) => id).sort()).toEqual(
    environments
      .flatMap(({ id }) => (["code", "games/mastermind", "games/maze", "tools/ledger"].includes(id) ? [] : [id]))
      .sort(),
  );
  for (const environment of judged) {
    const { id, version, earlier = [] } = environment;
    for (const before of earlier) {
      expect(before).toBeLessThan(version);
      expect(registry.find(id, before)).toEqual({ kind: "found", environment });
    }
    const [level] = environment.levels;
    if (environment.generator === undefined || level === undefined) continue;
    const { earlier: _, ...rest } = environment;
    const old = { ...rest, version: earlier[0] } as Environment;
    for (const seed of [0n, 7n]) {
      const [now, then] = [environment, old].map((each) =>
        makeGenerated(each, { parameters: level.parameters, split: "eval", seed }),
      );
      expect(now).toEqual(then);
      expect(now?.kind).toBe("made");
    }
  }
});
