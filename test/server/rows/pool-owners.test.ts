/** Tests of the choice of a pool's environment: by the name before a colon, or by its rows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { defineEnvironment } from "../../../envs/define.ts";
import type { Environment } from "../../../envs/environment.ts";
import type { Pool } from "../../../envs/pool.ts";
import { createRegistry, environments } from "../../../envs/registry.ts";
import { tsp } from "../../../envs/np/tsp/index.ts";
import { examineIn } from "../../../server/rows/examine.ts";
import { findOwner } from "../../../server/rows/owner.ts";
import { openSource } from "../../../server/rows/pool-files.ts";
import { loadPools, type PoolsResult } from "../../../server/rows/pools.ts";
import { type Sum, sums } from "../../support/environments/sums.ts";
import { judged } from "../../support/environments/slow.ts";

/** Reads rows with all of its columns. */
function reading(id: string, columns: readonly string[], version = 1): Environment {
  return defineEnvironment<Sum, number>({
    ...sums,
    id,
    version,
    description: "Add.",
    rows: {
      columns,
      read: (row) => {
        const missing = columns.find((name) => !Object.hasOwn(row as object, name));
        if (missing !== undefined) return { kind: "malformed", reason: `column ${missing} is not there` };
        return { kind: "answer", answer: row as Sum };
      },
    },
    verify: judged,
  });
}

const registry = createRegistry([
  ...[countdown, tsp, reading("qa", ["a", "b"]), reading("qa/letter", ["a", "b"])],
  ...[reading("math", ["a", "answer"]), reading("math", ["a", "answer"], 2)],
]);

let folder: string;
const at = (name: string): string => join(folder, name);
const write = (name: string, rows: readonly object[]): void =>
  writeFileSync(at(name), rows.map((row) => JSON.stringify(row)).join("\n"));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-owners-"));
  const ten = Array.from({ length: 10 }, (_, i) => i);
  write(
    "qa.jsonl",
    ten.map((i) => ({ a: i, b: 2 })),
  );
  write(
    "math.jsonl",
    ten.map((i) => ({ a: i, answer: 2, ...(i > 7 && { b: 1 }) })),
  );
  write(
    "no-answer.jsonl",
    ten.map((i) => ({ answer: i })),
  );
  write(
    "other.jsonl",
    ten.map((i) => ({ x: i, y: 1 })),
  );
  mkdirSync(at("data:v2"));
  write(
    "data:v2/rows.jsonl",
    ten.map((i) => ({ nums: [i + 1, 1, 2], target: i + 4 })),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

async function load(...paths: readonly string[]): Promise<PoolsResult> {
  const named = paths.map((path, i) => ({ name: `p${i}`, path }));
  return loadPools(registry, named, { threads: 1, environmentFiles: [], folder: undefined });
}

async function owners(...paths: readonly string[]): Promise<readonly string[]> {
  const result = await load(...paths);
  if (result.kind === "invalid") throw new Error(result.message);
  const own = [...result.pools.values()].filter(({ name }) => name.startsWith("p"));
  return own.map(({ environment, definition }: Pool) => `${environment} ${definition.version}`);
}

async function refused(path: string): Promise<string> {
  const result = await load(path);
  return result.kind === "invalid" ? result.message : "";
}

describe("an environment that is said", () => {
  test("has the rows, twice over if two want them, in a version that need not be the newest", async () => {
    const [qa, math] = [at("qa.jsonl"), at("math.jsonl")];
    expect(await owners(`qa:${qa}`, `qa/letter:${qa}@train[2:]`, `math:${math}`, `math@1:${math}@train`)).toEqual([
      ...["qa 1", "qa/letter 1", "math 2", "math 1"],
    ]);
  });

  test.each([
    [
      "qq:qa.jsonl",
      "no environment 'qq'; did you mean 'qa'? (to give a path that contains a colon, write './' before it)",
    ],
    [
      "np/tsp:qa.jsonl",
      "np/tsp has no data pools; the environments with data pools are countdown, qa, qa/letter, math",
    ],
    ["math@3:math.jsonl", "math has no version 3; it has: 2, 1"],
    ["zebra:qa.jsonl", "no environment 'zebra'; the environments with data pools are countdown, qa, qa/letter, math"],
  ])("%s is refused", async (path, message) => {
    expect(await refused(path)).toContain(message);
  });

  test("reads no rows of another: it says what is wrong with them", async () => {
    expect(await refused(`qa:${at("math.jsonl")}@[:5]`)).toContain(
      `its selection has no rows that hold a task; if the column has another name in the file, give it: --column b=NAME\n${at("math.jsonl")}:1: column b is not there (and 7 more rows)`,
    );
  });
});

describe("without one", () => {
  test("it is the one that reads most rows of the beginning, in its newest version", async () => {
    expect(await owners(at("math.jsonl"))).toEqual(["math 2"]);
  });

  test("of two that read as many it is the one that looks at more of the columns", async () => {
    write("wide.jsonl", [{ a: 1, b: 2, c: 3, answer: 4 }]);
    const wider = createRegistry([...registry.environments, reading("wide", ["a", "b", "c"])]);
    const named = [{ name: "p", path: at("wide.jsonl") }];
    const result = await loadPools(wider, named, { threads: 1, environmentFiles: [], folder: undefined });
    expect(result.kind === "ok" && result.pools.get("p")?.environment).toBe("wide");
  });

  test("two that read as many are named", async () => {
    expect(await refused(at("qa.jsonl"))).toContain(
      `its rows can be read by qa and by qa/letter: name their environment, as in --pool name=qa:${at("qa.jsonl")}`,
    );
  });

  test("each pool that ships is known as its environment's", async () => {
    const own = createRegistry(environments);
    const shipping = environments.filter(({ rows, twinOf }) => rows?.defaultPool !== undefined && twinOf === undefined);
    expect(shipping.length).toBeGreaterThan(0);
    for (const { id, rows } of shipping) {
      const path = fileURLToPath(rows?.defaultPool?.file ?? "");
      const found = await findOwner(own, examineIn(own), { path, names: [] }, await openSource(path));
      expect(typeof found === "string" ? found : found.id).toBe(id);
    }
  });

  test("none that reads any: the nearest says why, or all say what they look at", async () => {
    expect(await refused(at("no-answer.jsonl"))).toContain(
      "no environment can read its rows: math: line 1 and 9 more: column a is not there",
    );
    expect(await refused(at("other.jsonl"))).toContain(
      "its columns are 'x', 'y'; the environments read these columns (countdown: 'nums', 'target'; qa: 'a', 'b';",
    );
  });

  test("a path may have colons", async () => {
    expect(await owners(at("data:v2/rows.jsonl"))).toEqual(["countdown 2"]);
    const before = process.cwd();
    process.chdir(folder);
    try {
      expect(await owners("data:v2/rows.jsonl", "./data:v2/rows.jsonl@train")).toEqual(["countdown 2", "countdown 2"]);
    } finally {
      process.chdir(before);
    }
  });
});
