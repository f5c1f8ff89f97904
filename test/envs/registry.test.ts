import { expect, test } from "vitest";
import { environments, findEnvironment } from "../../envs/registry.ts";

test("no version of an environment is registered twice", () => {
  const keys = environments.map(({ id, version }) => `${id} ${version}`);
  expect(new Set(keys).size).toBe(keys.length);
});

test("each is found by its id and version, and the newest by its id", () => {
  for (const environment of environments) {
    const { id, version } = environment;
    expect(findEnvironment(id, version)).toEqual({ kind: "found", environment });
    const newest = Math.max(...environments.filter((each) => each.id === id).map((each) => each.version));
    expect(findEnvironment(id)).toMatchObject({ kind: "found", environment: { id, version: newest } });
  }
});

test("an unknown id gets the nearest one, an unknown version those there are", () => {
  const message = "unknown environment 'np/tps'; did you mean 'np/tsp'?";
  expect(findEnvironment("np/tps")).toEqual({ kind: "unknown", message });
  expect(findEnvironment("")).toEqual({ kind: "unknown", message: "unknown environment ''" });
  const other = "np/tsp has no version 99 here; it has: 2";
  expect(findEnvironment("np/tsp", 99)).toEqual({ kind: "unknown_version", message: other });
});
