import { expect, test } from "vitest";
import type { Environment } from "../../envs/environment.ts";
import { createRegistry, environments } from "../../envs/registry.ts";

const registry = createRegistry(environments);

test("no version of an environment is registered twice", () => {
  const keys = environments.map(({ id, version }) => `${id} ${version}`);
  expect(new Set(keys).size).toBe(keys.length);
  const [first] = environments as readonly [Environment, ...Environment[]];
  expect(() => createRegistry([...environments, first])).toThrow(`a version of ${first.id} comes twice`);
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
  const other = "np/tsp has no version 99 here; it has: 2";
  expect(registry.find("np/tsp", 99)).toEqual({ kind: "unknown_version", message: other });
});
