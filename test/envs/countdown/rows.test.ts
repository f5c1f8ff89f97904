import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { rows } from "../../../envs/countdown/generate.ts";
import { canonical } from "../../../envs/countdown/instance.ts";
import { makeCountdownPool } from "../../tools/make-countdown-pool.ts";

const committed = readFileSync(rows.defaultPool.file, "utf8");

describe("the pool in the repository", () => {
  test("is what its script makes", () => {
    expect(makeCountdownPool() === committed).toBe(true);
  });

  test("has 500 distinct rows for each of T0 to T3", () => {
    const counts = new Map<string | undefined, number>();
    const distinct = new Set<string>();
    for (const line of committed.trimEnd().split("\n")) {
      const parsed = rows.read(JSON.parse(line));
      if (parsed.kind === "malformed") throw new Error(`${parsed.reason}: ${line}`);
      const tier = rows.levelOf(parsed.answer);
      counts.set(tier, (counts.get(tier) ?? 0) + 1);
      distinct.add(canonical(parsed.answer));
    }
    expect(Object.fromEntries(counts)).toEqual({ T0: 500, T1: 500, T2: 500, T3: 500 });
    expect(distinct.size).toBe(2000);
  });
});

describe("rows", () => {
  test("have the columns of the public set; others are ignored", () => {
    expect(rows.read({ nums: [44, 19, 35], target: 98, id: 7 })).toEqual({
      kind: "answer",
      answer: { numbers: [44, 19, 35], target: 98 },
    });
  });

  test.each([
    [null, "a row is an object"],
    ["44 19 35", "a row is an object"],
    [{}, "nums must be a list of 2 to 6"],
    [{ nums: "44", target: 98 }, "nums must be a list of 2 to 6"],
    [{ nums: [44], target: 44 }, "nums must be a list of 2 to 6"],
    [{ nums: [1, 2, 3, 4, 5, 6, 7], target: 28 }, "nums must be a list of 2 to 6"],
    [{ nums: [44, "19"], target: 63 }, "whole numbers from 1 to 200"],
    [{ nums: [44, 0], target: 44 }, "whole numbers from 1 to 200"],
    [{ nums: [44, 1.5], target: 66 }, "whole numbers from 1 to 200"],
    [{ nums: [44, 201], target: 245 }, "whole numbers from 1 to 200"],
    [{ nums: [44, null], target: 44 }, "whole numbers from 1 to 200"],
    [{ nums: [44, 19] }, "target must be a whole number"],
    [{ nums: [44, 19], target: "63" }, "target must be a whole number"],
    [{ nums: [44, 19], target: -25 }, "target must be a whole number"],
    [{ nums: [44, 19], target: 1e9 }, "target must be a whole number"],
  ])("%j is refused", (row, reason) => {
    const parsed = rows.read(row);
    expect(parsed.kind).toBe("malformed");
    if (parsed.kind === "malformed") expect(parsed.reason).toContain(reason);
  });
});
