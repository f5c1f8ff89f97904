/** Tests of task specs without a source or a pool, and of the server's description of its pools. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { defineEnvironment } from "../../../envs/define.ts";
import type { Environment } from "../../../envs/environment.ts";
import { math } from "../../../envs/math/index.ts";
import { loadPool, type Pool } from "../../../envs/pool.ts";
import { createRegistry } from "../../../envs/registry.ts";
import { Source, Split, TaskSpecSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { readSpec } from "../../../server/rpc/read-task-spec.ts";
import { environmentToWire } from "../../../server/rpc/environment/write.ts";
import { rowsOnly } from "../../support/environments/rows.ts";
import { judged } from "../../support/environments/slow.ts";
import { type Sum, sums } from "../../support/environments/sums.ts";

/** Rows alone, and no pool that ships. */
const plain = (version: number): Environment =>
  defineEnvironment<Sum, number>({
    ...sums,
    id: "test/plain",
    version,
    description: "Add.",
    rows: { read: (row) => ({ kind: "answer", answer: row as Sum }) },
    verify: judged,
  });
const [plain1, plain2] = [plain(1), plain(2)];
const registry = createRegistry([countdown, math, rowsOnly, plain1, plain2]);

const sumRows = Array.from({ length: 60 }, (_, a) => JSON.stringify({ a, b: 1 }));
const lines = `${sumRows.join("\n")}\nno\n`;
const pool = (environment: Environment, name: string): Pool => loadPool(environment, name, lines);

function specOf(given: MessageInitShape<typeof TaskSpecSchema>, ...pools: readonly Pool[]) {
  const byName = new Map(pools.map((each) => [each.name, each]));
  return readSpec(create(TaskSpecSchema, given), { registry, pools: byName, teacher: undefined }, "spec");
}

describe("a source that is left out", () => {
  test("is rows where there is no generator, and the generator where there is one", () => {
    expect(specOf({ environment: "test/plain" }, pool(plain2, "mine"))).toMatchObject({ source: "real", pool: "mine" });
    expect(specOf({ environment: "countdown" })).toMatchObject({ source: "synthetic", pool: "" });
  });

  test("is the generator though a pool is named", () => {
    expect(() => specOf({ environment: "countdown", pool: "countdown" })).toThrow(
      "spec.pool: pools are for SOURCE_REAL only",
    );
  });
});

describe("a pool that is left out", () => {
  test("is the one that ships, whatever else there is", () => {
    const given = { environment: "test/rows" };
    const pools = [pool(rowsOnly, "a"), pool(rowsOnly, "sums")];
    expect(specOf(given, ...pools).pool).toBe("sums");
  });

  test("is the only one, and none of several", () => {
    const given = { environment: "test/plain" };
    expect(specOf(given, pool(plain2, "b"), pool(rowsOnly, "sums")).pool).toBe("b");
    expect(() => specOf(given, pool(plain2, "b"), pool(plain2, "c"))).toThrow(
      "test/plain has several pools and none that ships with it: name one of b, c",
    );
    expect(() => specOf(given)).toThrow(
      "test/plain version 2 has no data pool: start the server with --pool name=test/plain:path",
    );
  });

  test("is none of another version", () => {
    expect(specOf({ environment: "test/plain", version: 1 }, pool(plain1, "old"), pool(plain2, "new")).pool).toBe(
      "old",
    );
    expect(() => specOf({ environment: "test/plain", pool: "old" }, pool(plain1, "old"))).toThrow(
      "pool 'old' is of test/plain version 1, and not of test/plain version 2: start the server with --pool another-name=test/plain@2:path",
    );
  });
});

test("of a pool is told how many rows there are of each level and split, and what became of the others", () => {
  const pools = new Map(
    [pool(rowsOnly, "zebra"), pool(rowsOnly, "sums"), pool(plain2, "b")].map((each) => [each.name, each]),
  );
  const wire = environmentToWire(rowsOnly, { pools, teacher: undefined });
  expect(wire.sources).toEqual([Source.REAL]);
  expect(wire.pools.map(({ name, shipped }) => [name, shipped])).toEqual([
    ["sums", true],
    ["zebra", false],
  ]);
  const [first] = wire.pools;
  expect(first).toMatchObject({ rows: { only: 60 }, rejected: 1, leftOut: 0, unchecked: 0 });
  expect(first?.groups.map(({ level, split }) => [level, split])).toEqual([
    ["only", Split.TRAIN],
    ["only", Split.EVAL],
    ["only", Split.BENCH],
  ]);
  expect(first?.groups.reduce((sum, { rows }) => sum + rows, 0)).toBe(60);
});

test("a level that a pool has no rows of is answered with those that it has", () => {
  const rows = ["2", "3"].flatMap((level) =>
    Array.from({ length: 40 }, (_, i) => JSON.stringify({ problem: `What is ${i} + ${level}?`, answer: "1", level })),
  );
  const mine = loadPool(math, "mine", rows.join("\n"));
  const asked = { environment: "math", pool: "mine", source: Source.REAL };
  expect(() => specOf({ ...asked, difficulty: { case: "level", value: "5" } }, mine)).toThrow(
    /spec.level: pool 'mine' has no rows of level '5' in split train; it has '2' in train \(\d+ rows\), '3' in train/,
  );
});
