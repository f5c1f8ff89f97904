import { describe, expect, test } from "vitest";
import { deriveSeed } from "../../../envs/lib/rng.ts";
import { loadPool, type Pool, rowCount } from "../../../envs/pool.ts";
import { qa } from "../../../envs/qa/index.ts";
import { environments } from "../../../envs/registry.ts";
import { readSuite } from "../../../server/evaluation/suite-files.ts";
import {
  categoryOf,
  openSuite,
  partOf,
  seedOf,
  type SuiteDefinition,
  type SuiteSources,
  walkSeedOf,
} from "../../../server/evaluation/open-suite.ts";
import { registry } from "../../support/registry.ts";
import { suiteDefinitions } from "../../../server/evaluation/shipped-suites.ts";

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

test("np-bench-reference is the same ten as the papers' code makes them, and wants what a heuristic attains", () => {
  const { parts, heuristic, overall } = shipped("np-bench-reference");
  expect([heuristic, overall]).toEqual([true, "categories"]);
  const tasksOf = (id: string) => shipped(id).parts.map(({ environment, category }) => [environment, category]);
  expect(tasksOf("np-bench-reference")).toEqual(tasksOf("forge-bench"));
  for (const part of parts) expect(part).toMatchObject({ level: "reference", split: "bench", tasks: 100 });
  expect(opened(shipped("np-bench-reference")).tasks).toBe(1000);
});

test("seeds of an environment go on from part to part, so that no task is asked for twice", () => {
  const suite = opened(shipped("countdown"));
  const seeds = Array.from({ length: suite.tasks }, (_, ordinal) => seedOf(suite, partOf(suite, ordinal), ordinal));
  expect(new Set(seeds).size).toBe(500);
  expect(seeds[499]).toBe(deriveSeed("countdown", 1, "countdown", 499));
});

test("a version that has the tasks of an earlier one makes no other suite of it", () => {
  const suite = shipped("forge-bench");
  const newest = { ...suite, parts: suite.parts.map((part) => ({ ...part, version: 3 })) };
  const [then, now] = [opened(suite), opened(newest)];
  expect(now.parts.map(({ spec }) => spec.version)).toEqual(new Array(10).fill(3));
  expect(now.digest).toBe(then.digest);
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
    message: expect.stringContaining("countdown has no version 7;") as string,
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
        id: "mine",
        version: 2,
        description: "",
        overall: "categories",
        parts: [
          { ...part, name: "np/tsp parts[0]", version: newest, split: "bench", category: "np/tsp" },
          { ...part, name: "b", version: 1, split: "bench", category: "np/tsp" },
        ],
      },
    });
  });

  test.each([
    ["{", "it is not JSON"],
    [
      JSON.stringify({ id: "a", version: 1, parts: [part], overall: "parts" }),
      'overall must be "categories" or "tasks"',
    ],
    [JSON.stringify({ id: "a", version: 1, parts: [part], overall: true }), 'overall must be "categories" or "tasks"'],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, category: { count_of: 3 } }] }),
      "count_of must be 1 to 128 characters",
    ],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, category: { count_of: "x", metadata: "y" } }] }),
      "parts[0]: category must be a name, or an object with either metadata or count_of",
    ],
    [JSON.stringify({ id: "a", version: 1, parts: [{ ...part, category: {} }] }), "either metadata or count_of"],
    [
      JSON.stringify({ id: "a", version: 1, parts: [{ ...part, category: { countOf: "x" } }] }),
      "the unknown field 'countOf'; known fields: metadata, count_of",
    ],
    ["[]", "the suite must be an object"],
    ['{"id": "a", "version": 1, "parts": [{"tasks": 20, "tasks": 200}]}', "the field 'tasks' twice"],
    [JSON.stringify({ id: "a", version: 1, parts: [] }), "parts must be a list of 1 to 1000"],
    [JSON.stringify({ id: "a b!", version: 1, parts: [part] }), "id must be 1 to 128 characters"],
    [JSON.stringify({ id: "a", version: 0, parts: [part] }), "version must be a whole number from 1"],
    [JSON.stringify({ id: "a", version: 1, parts: [part], seed: 1 }), "the unknown field 'seed'"],
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

  test("says what its own figures are the mean of, and tells tasks apart by how many values their metadata list", () => {
    const read = (more: object, category: unknown = { count_of: "numbers" }) => {
      const found = readSuite(
        registry,
        JSON.stringify({ id: "a", version: 1, ...more, parts: [{ ...part, category }] }),
      );
      if (found.kind !== "ok") throw new Error(found.message);
      return found.definition;
    };
    expect(
      [read({}), read({ overall: "categories" }), read({ overall: "tasks" })].map(({ overall }) => overall),
    ).toEqual(["categories", "categories", "tasks"]);
    const [first] = read({}).parts;
    const categories = ["3 8 8", "4", " 1  2 ", "1, 2, 3", ""].map((numbers) =>
      categoryOf(first as never, { numbers }),
    );
    expect(categories).toEqual(["3 numbers", "1 numbers", "2 numbers", "3 numbers", "other"]);
    expect(categoryOf(first as never, {})).toBe("other");
  });

  test("a byte order mark before it is none of it", () => {
    const text = JSON.stringify({ id: "a", version: 1, parts: [part] });
    expect(readSuite(registry, `\ufeff${text}`)).toEqual(readSuite(registry, text));
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

describe("parts of rows", () => {
  const pool = (lines: readonly string[], name = "own"): ReadonlyMap<string, Pool> =>
    new Map([[name, loadPool(qa, name, lines.join("\n"))]]);
  const rows = Array.from({ length: 12 }, (_, i) =>
    JSON.stringify({
      question: `What is ${i} + 1?`,
      options: [`${i}`, `${i + 1}`],
      answer: `${i + 1}`,
      difficulty: "easy",
    }),
  );
  const own = pool(rows);
  const inTrain = rowCount(own.get("own") as Pool, "easy", "train");
  const part = (more: object = {}) => ({
    environment: "qa",
    level: "easy",
    split: "train",
    pool: "own",
    tasks: "all",
    ...more,
  });
  const tsp = { environment: "np/tsp", level: "easy", tasks: 1 };
  const mastermind = { environment: "games/mastermind", level: "easy", tasks: 1 };
  const open = (parts: readonly object[], sources: SuiteSources = { pools: own }) => {
    const read = readSuite(registry, JSON.stringify({ id: "own", version: 1, parts }));
    if (read.kind !== "ok") throw new Error(read.message);
    return openSuite(registry, read.definition, sources);
  };
  const digestOf = (result: ReturnType<typeof open>) => (result.kind === "open" ? result.suite.digest : result.message);

  test("have all of the pool's, or so many", () => {
    expect(open([part()])).toMatchObject({ kind: "open", suite: { tasks: inTrain } });
    const three = open([part({ tasks: 3, category: { metadata: "difficulty" } })]);
    expect(three).toMatchObject({ kind: "open", suite: { tasks: 3 } });
    const [first] = three.kind === "open" ? three.suite.parts : [];
    expect(first && categoryOf(first, { difficulty: "easy" })).toBe("easy");
    expect(first && categoryOf(first, {})).toBe("other");
    expect(first?.spec).toMatchObject({ source: "real", pool: "own", level: "easy" });
  });

  test("twins walk through the same rows in the same order", () => {
    const both = open([part(), part({ environment: "qa/letter", name: "letter" })]);
    if (both.kind !== "open") throw new Error(both.message);
    const [text, letter] = both.suite.parts.map((each) => walkSeedOf(both.suite, each));
    expect(letter).toBe(text);
  });

  test("of a pool that has more rows now make another suite", () => {
    const fewer = { pools: pool(rows.slice(0, 6)) };
    expect(digestOf(open([part()], fewer))).not.toBe(digestOf(open([part()])));
    expect(digestOf(open([part({ tasks: 1 })], fewer))).toBe(digestOf(open([part({ tasks: 1 })])));
  });

  test.each([
    ["more rows than there are", [part({ tasks: 500 })], "part 'qa parts[0]' asks for 500 rows, and pool 'own' has"],
    ["another pool", [part({ pool: "other" })], "qa has no pool 'other': add it by --pool other=qa:path"],
    ["a pool of another environment", [part({ environment: "math", level: "1" })], "math has no pool 'own':"],
    ["the same rows twice", [part(), part({ name: "again" })], "two of its parts contain the same rows of qa"],
    ["no rows at all", [part({ level: "hard" })], "this server's pools have no rows of the suite's levels and splits"],
    ["rows of an environment without a pool", [part({ environment: "np/tsp" })], "np/tsp has no pool 'own':"],
    ["more calls than there may be", [part({ calls: 2 })], "'qa parts[0]': calls: it is 2, and tasks of qa take one"],
    ["too many tries", [{ ...tsp, calls: 17 }], "calls: must be from 1 to 16; got 17"],
    ["unknown tools", [{ ...mastermind, tools: ["gues"] }], "there is no tool 'gues'; did you mean 'guess'"],
    ["tools of a task without any", [{ ...tsp, tools: ["guess"] }], "there is no tool 'guess'"],
    ["another scheme than returns", [{ ...mastermind, reward_scheme: "quality" }], "reward"],
    [
      "all of what is made",
      [{ environment: "np/tsp", level: "easy", tasks: "all" }],
      "only possible for rows of a pool",
    ],
  ])("that want %s are refused", (_, parts, message) => {
    expect(open(parts)).toMatchObject({ kind: "unavailable", message: expect.stringContaining(message) as string });
  });

  test.each([
    ["an object", {}],
    ["an empty list", []],
    ["numbers", [1]],
  ])("whose tools are %s are refused", (_, tools) => {
    expect(readSuite(registry, JSON.stringify({ id: "own", version: 1, parts: [{ ...mastermind, tools }] }))).toEqual({
      kind: "invalid",
      message: "parts[0]: tools must be a list of names of tools",
    });
  });

  test("whose calls or tools differ are of different suites", () => {
    const digests = [mastermind, { ...mastermind, calls: 5 }, { ...mastermind, tools: ["guess"] }].map((each) =>
      digestOf(open([each])),
    );
    expect(new Set(digests).size).toBe(3);
  });

  test("of an environment whose port is missing say what to do", () => {
    const sources = { pools: own, missingPorts: { judge: "this server has no judge" } };
    expect(open([{ environment: "writing", level: "all", tasks: 1, pool: "" }], sources)).toMatchObject({
      message: expect.stringContaining("this server has no judge") as string,
    });
  });
});
