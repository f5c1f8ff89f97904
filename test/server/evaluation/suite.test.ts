import { describe, expect, test } from "vitest";
import { deriveSeed } from "../../../envs/lib/rng.ts";
import { environments } from "../../../envs/registry.ts";
import { readSuite } from "../../../server/evaluation/suite-files.ts";
import { openSuite, partOf, seedOf, type SuiteDefinition } from "../../../server/evaluation/suite.ts";
import { registry } from "../../support/registry.ts";
import { suiteDefinitions } from "../../../server/evaluation/suites.ts";

function shipped(id: string): SuiteDefinition {
  const found = suiteDefinitions.find((suite) => suite.id === id);
  if (found === undefined) throw new Error(`no suite ${id}`);
  return found;
}

function opened(definition: SuiteDefinition) {
  const result = openSuite(registry, definition);
  if (result.kind !== "open") throw new Error(result.message);
  return result.suite;
}

describe("forge-bench", () => {
  const { parts, version, overall } = shipped("forge-bench");

  test("is the papers' ten tasks in five categories, 100 of each at benchmark level", () => {
    expect(version).toBe(2);
    expect(overall).toBe("categories");
    expect(parts.map(({ environment, category }) => `${category as string}: ${environment}`)).toEqual([
      "graph: np/clique",
      "graph: np/independent-set",
      "graph: np/coloring",
      "schedule: np/meetings",
      "partition: np/bisection",
      "selection: np/subset-sum",
      "selection: np/set-cover",
      "selection: np/knapsack",
      "planning: np/tsp",
      "planning: np/hamiltonian",
    ]);
    for (const part of parts)
      expect(part).toMatchObject({ level: "benchmark", split: "bench", tasks: 100, version: 2 });
  });

  test("can be issued when all ten are here; until then it says which are not", () => {
    const here = new Set(environments.map(({ id }) => id));
    const missing = parts.map(({ environment }) => environment).filter((id) => !here.has(id));
    const result = openSuite(registry, shipped("forge-bench"));
    if (missing.length === 0) expect(result).toMatchObject({ kind: "open", suite: { tasks: 1000 } });
    else expect(result.kind).toBe("unavailable");
    for (const id of missing) expect(result).toMatchObject({ message: expect.stringContaining(`'${id}'`) as string });
  });

  test("its seeds are fixed by suite, version, environment and place", () => {
    const tsp = opened({
      ...shipped("forge-bench"),
      parts: parts.filter(({ environment }) => environment === "np/tsp"),
    });
    expect(seedOf(tsp, partOf(tsp, 17), 17)).toBe(deriveSeed("forge-bench", 2, "np/tsp", 17));
  });
});

test("seeds of an environment go on from part to part, so that no task is asked for twice", () => {
  const suite = opened(shipped("countdown"));
  const seeds = Array.from({ length: suite.tasks }, (_, ordinal) => seedOf(suite, partOf(suite, ordinal), ordinal));
  expect(new Set(seeds).size).toBe(500);
  expect(seeds[499]).toBe(deriveSeed("countdown", 1, "countdown", 499));
});

test("a suite that is changed has another digest", () => {
  const [suite, changed] = [
    shipped("countdown"),
    { ...shipped("countdown"), parts: shipped("countdown").parts.slice(1) },
  ];
  expect(opened(suite).digest).toBe(opened({ ...suite }).digest);
  expect(opened(suite).digest).not.toBe(opened(changed).digest);
});

test("an environment of another version is not the suite's", () => {
  const parts = shipped("countdown").parts.map((part) => ({ ...part, version: 7 }));
  expect(openSuite(registry, { ...shipped("countdown"), parts })).toMatchObject({
    kind: "unavailable",
    message: expect.stringContaining("countdown has no version 7 here") as string,
  });
});

describe("a suite file", () => {
  const part = { environment: "np/tsp", parameters: { cities_min: 5, cities_max: 5 }, tasks: 3 };

  test("is read, with what is left out filled in", () => {
    const newest = Math.max(...environments.filter(({ id }) => id === "np/tsp").map(({ version }) => version));
    const read = readSuite(
      registry,
      JSON.stringify({ id: "mine", version: 2, parts: [part, { ...part, name: "b", version: 1 }] }),
    );
    expect(read).toEqual({
      kind: "ok",
      definition: {
        ...{ id: "mine", version: 2, description: "", overall: "categories" },
        parts: [
          { ...part, name: "np/tsp parts[0]", version: newest, split: "bench", category: "np/tsp" },
          { ...part, name: "b", version: 1, split: "bench", category: "np/tsp" },
        ],
      },
    });
  });

  test.each([
    ["{", "it is not JSON"],
    ["[]", "the suite must be an object"],
    [JSON.stringify({ id: "a", version: 1, parts: [] }), "parts must be a list of 1 to 1000"],
    [JSON.stringify({ id: "a b!", version: 1, parts: [part] }), "id must be a name"],
    [JSON.stringify({ id: "a", version: 0, parts: [part] }), "version must be a whole number from 1"],
    [JSON.stringify({ id: "a", version: 1, parts: [part], seed: 1 }), "a field 'seed'"],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, level: "easy" }] }),
      "parts[0] needs a level or parameters",
    ],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, tasks: 0.5 }] }),
      "parts[0]: tasks must be a whole number",
    ],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, split: "test" }] }),
      "split must be train, eval or bench",
    ],
    [JSON.stringify({ id: "a", version: 1, parts: [{ ...part, parameters: { a: "1" } }] }), "an object of numbers"],
    [
      JSON.stringify({
        id: "a",
        version: 1,
        parts: [
          { ...part, name: "x" },
          { ...part, name: "x" },
        ],
      }),
      "two parts",
    ],
  ])("%s is refused", (text, words) => {
    expect(readSuite(registry, text)).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(words) as string,
    });
  });

  test("parameters out of range are found when it is opened", () => {
    const read = readSuite(
      registry,
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, parameters: { cities_min: 1e9 } }] }),
    );
    if (read.kind !== "ok") throw new Error(read.message);
    expect(openSuite(registry, read.definition)).toMatchObject({ kind: "unavailable" });
  });
});
