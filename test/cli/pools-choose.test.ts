/** Tests which rows a sample takes. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCondition } from "../../cli/conditions.ts";
import { chooseRows, sharesOf } from "../../cli/pools/choose.ts";
import { fieldOf } from "../../cli/pools/stream.ts";
import { parseExact } from "../../envs/lib/exact-json.ts";

describe("shares", () => {
  test("are rounded by the largest remainder, as of SuperGPQA's disciplines", () => {
    // 5,500 of 26,529: exact shares are 1637.15, 1018.32, 570.43, 519.31, 468.84, 1286.00 (rounded).
    const counts = [7892, 4910, 2755, 2503, 2260, 6209];
    const shares = sharesOf(counts, 5500);
    expect(shares.reduce((a, b) => a + b)).toBe(5500);
    const sum = counts.reduce((a, b) => a + b);
    for (const [i, share] of shares.entries())
      expect(Math.abs(share - (5500 * (counts[i] ?? 0)) / sum)).toBeLessThan(1);
    expect(sharesOf([1, 1, 1], 2)).toEqual([1, 1, 0]);
    expect(sharesOf([2, 1], 9)).toEqual([2, 1]);
    expect(sharesOf([10, 0, 5], 3)).toEqual([2, 0, 1]);
  });

  test("add up, are within one of exact, and never more than there are", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 }), fc.nat(20_000), (counts, total) => {
        const sum = counts.reduce((a, b) => a + b);
        const shares = sharesOf(counts, total);
        expect(shares.reduce((a, b) => a + b)).toBe(Math.min(sum, total));
        for (const [i, share] of shares.entries()) {
          const count = counts[i] ?? 0;
          expect(share).toBeLessThanOrEqual(count);
          if (sum > 0) expect(Math.abs(share - Math.min(1, total / sum) * count)).toBeLessThan(1);
        }
      }),
    );
  });
});

describe("rows", () => {
  const categories = [
    { name: "a", rows: Array.from({ length: 300 }, (_, i) => i) },
    { name: "b", rows: Array.from({ length: 100 }, (_, i) => 300 + i) },
  ];
  const rowsOf = (count: number, seed: string) => chooseRows(categories, count, seed).map(({ rows }) => rows);

  test("are the same for a seed, others for another, and each once", () => {
    const [a = [], b = []] = rowsOf(40, "1");
    expect([new Set(a).size, new Set(b).size]).toEqual([30, 10]);
    expect(b.every((row) => row >= 300)).toBe(true);
    expect(rowsOf(40, "1")).toEqual([a, b]);
    expect(rowsOf(40, "2")).not.toEqual([a, b]);
  });

  test("are each as likely", () => {
    const times = new Map<number, number>();
    for (let seed = 0; seed < 400; seed++)
      for (const row of rowsOf(100, String(seed)).flat()) times.set(row, (times.get(row) ?? 0) + 1);
    // 100 times each on average; six standard deviations are 52.
    for (let row = 0; row < 400; row++) expect(Math.abs((times.get(row) ?? 0) - 100), String(row)).toBeLessThan(52);
  });
});

describe("conditions", () => {
  const row = {
    type: "Word problem",
    n: 3,
    ok: true,
    empty: "",
    gone: null,
    "a.b": 1,
    prompt: [{ content: "Hé" }],
    info: { split: "test" },
    half: "0.5",
    ids: parseExact("[9007199254740993, 9007199254740992]"),
  };
  const holds = (text: string): boolean | undefined => {
    const condition = readCondition(text);
    return condition?.holds(fieldOf(row, condition.name));
  };

  test.each([
    ["type=Word problem", true],
    ["type = Word problem ", true],
    ["type=word problem", false],
    ["type!=Algebra", true],
    ["type~problem", true],
    ["type!~![](", true],
    ["n=3", true],
    ["n=3.0", true],
    ["n=03x", false],
    ["n>=3", true],
    ["n<3", false],
    ["type>3", false],
    ["half>0.4", true],
    ["half>=0.6", false],
    ["empty<=0", false],
    ["ids.0=9007199254740993", true],
    ["ids.0=9007199254740992", false],
    ["ids.1=9007199254740993", false],
    ["ids.0>9007199254740000", true],
    ["ok=true", true],
    ["empty=", true],
    ["gone=", false],
    ["gone!=", true],
    ["gone=null", false],
    ["nowhere~x", false],
    ["nowhere!~x", true],
    ["a.b=1", true],
    ["info.split=test", true],
    ["info~test", true],
    ["info=test", false],
    ["prompt.length=1", true],
    ["prompt.0.content=Hé", true],
    ["prompt.0.content.length=3", true],
    ["prompt.1.content=Hé", false],
    ["constructor.name~Object", false],
    ["type.length.length>0", false],
  ])("%s: %s", (text, expected) => expect(holds(text)).toBe(expected));

  test("a value may begin as a comparison does, behind a space", () => {
    expect(readCondition("a= =b")).toMatchObject({ name: "a", comparison: "=", bound: "=b" });
    expect(readCondition("a~=b")).toMatchObject({ comparison: "~", bound: "=b" });
  });

  test.each(["", "type", "=3", "n>", "n>three", "n >= 1e3", " ", "a==b", "a == b", "a!==b", "a=>5", "a=~b"])(
    "'%s' is none",
    (text) => expect(readCondition(text)).toBeUndefined(),
  );
});
