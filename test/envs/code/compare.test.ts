/** Tests when a value or an output equals the one that a test expects. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equals, keyOf, ROUNDING } from "../../../envs/code/compare.ts";
import { samePrinted } from "../../../envs/code/stdout.ts";
import { pyFloat, pyInt } from "../../../envs/code/value.ts";
import type { PyValue } from "../../../envs/ports.ts";

const int = (n: number | bigint): PyValue => pyInt(BigInt(n));
const float = (text: string): PyValue => ({ float: text });

describe("values", () => {
  const same: readonly (readonly [PyValue, PyValue])[] = [
    [int(3), int(3)],
    [int(1), float("1.0")],
    [int(1), true],
    [float("0.30000000000000004"), float("0.3")],
    [float("0.0"), float("5.5e-17")],
    [float("nan"), float("nan")],
    [float("inf"), float("inf")],
    [
      {
        dict: [
          ["a", int(1)],
          [int(1), null],
        ],
      },
      {
        dict: [
          [true, null],
          ["a", float("1.0")],
        ],
      },
    ],
    [{ set: [int(1), int(2)] }, { frozenset: [int(2), float("1.0")] }],
    [[{ tuple: [int(1)] }], [{ tuple: [true] }]],
    [{ bytes: "a\u00ff" }, { bytes: "a\u00ff" }],
  ];
  const different: readonly (readonly [PyValue, PyValue])[] = [
    [int(3), "3"],
    [int(2n ** 64n), int(2n ** 64n + 1n)],
    [float("0.3"), float("0.300001")],
    [float("inf"), float("-inf")],
    // Beyond all doubles, and still no float: factorial(200), 2 ** 1024.
    [int(10n ** 400n), float("inf")],
    [int(-(2n ** 1024n)), float("-inf")],
    [null, false],
    [int(0), null],
    ["", null],
    [[int(1)], { tuple: [int(1)] }],
    [[int(1)], [int(1), int(1)]],
    ["a", { bytes: "a" }],
    [{ set: [int(1)] }, [int(1)]],
    [
      { dict: [["a", int(1)]] },
      {
        dict: [
          ["a", int(1)],
          ["b", int(2)],
        ],
      },
    ],
    [{ dict: [["a", int(1)]] }, { dict: [["a", int(2)]] }],
    [int(1), { other: "int" }],
    [{ other: "Always" }, { other: "Always" }],
    [[], { other: "list" }],
  ];
  test.each(same)("%j is %j", (one, other) => {
    expect([equals(one, other), equals(other, one)]).toEqual([true, true]);
  });
  test.each(different)("%j is not %j", (one, other) => {
    expect([equals(one, other), equals(other, one)]).toEqual([false, false]);
  });

  test("a key that comes twice in a literal has its last value", () => {
    const [one, two] = [int(1), int(2)];
    const twice: PyValue = {
      dict: [
        ["a", one],
        ["a", two],
      ],
    };
    expect([equals(twice, { dict: [["a", two]] }), equals(twice, { dict: [["a", one]] })]).toEqual([true, false]);
  });

  test("a list of JSON stands for a tuple, at any depth", () => {
    const json = { tolerance: ROUNDING, json: true };
    expect(equals([[int(1)], "a"], { tuple: [{ tuple: [int(1)] }, "a"] }, json)).toBe(true);
    expect(equals([int(1)], { set: [int(1)] }, json)).toBe(false);
  });

  test("a key of JSON stands for the int that it writes", () => {
    const json = { tolerance: ROUNDING, json: true };
    const text: PyValue = { dict: [["7", "a"]] };
    const number: PyValue = { dict: [[int(7), "a"]] };
    expect([equals(text, number, json), equals(text, text, json)]).toEqual([true, true]);
    expect([equals(text, number), equals(number, text, json)]).toEqual([false, false]);
    const other: PyValue = { dict: [["07", "a"]] };
    expect(equals(other, number, json)).toBe(false);
  });

  test("what is nested without end equals nothing", () => {
    let deep: PyValue = [];
    for (let i = 0; i < 5000; i++) deep = [deep];
    expect(equals(deep, deep)).toBe(false);
    expect(keyOf(deep).length).toBeLessThan(10_000);
  });

  const leaf = fc.oneof(
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 3 }),
    fc.bigInt().map(pyInt),
    fc.double({ noNaN: true }).map(pyFloat),
  );
  const value = fc.letrec<{ value: PyValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(tie("value"), { maxLength: 3 }).map((tuple) => ({ tuple })),
      fc.uniqueArray(leaf, { maxLength: 3, selector: (each) => keyOf(each) }).map((set) => ({ set })),
      fc
        .uniqueArray(fc.tuple(leaf, tie("value")), { maxLength: 3, selector: ([key]) => keyOf(key) })
        .map((dict) => ({ dict })),
    ),
  })).value;

  test("equality is reflexive and symmetric, and what has the same key is equal", () => {
    const property = fc.property(value, value, (one, other) => {
      expect(equals(one, structuredClone(one))).toBe(true);
      expect(equals(one, other)).toBe(equals(other, one));
      if (keyOf(one) === keyOf(other)) expect(equals(one, other)).toBe(true);
    });
    fc.assert(property, { seed: 3, numRuns: 1000 });
  });
});

describe("outputs", () => {
  test.each([
    ["7\n", "7"],
    ["7\n", "7 \t\r\n\n\n"],
    ["a b\nc\n", "a b  \nc"],
    ["1 2 3\n", " 1  2 3\n"],
    ["0.5\n", "0.5000004"],
    ["1e3 2\n", "1000.0 2"],
    ["1000000.5\n", "1000000.55"],
    ["\n\nx\n", "\n\nx"],
    ["", "\n"],
    ["+5\n", "5"],
    ["-0 0\n", "0 -0"],
    [`${"9".repeat(5000)} 1\n`, `${"9".repeat(5000)}  +1`],
    // Before numbers white space is of no account, and before text it is.
    ["  1\n 1 1\n1 2 1\n", "1\n1 1\n1 2 1"],
    ["\t7\n", "7"],
    ["  x\n", "  x"],
    ["Case #1: 0.333333\n", "Case #1: 0.33333334"],
    ["  mean 2.50 m\n", "  mean 2.5 m"],
    // An int is met by a decimal's value alone.
    ["2.0\n", "2"],
    ["2.50\n", "2.5"],
    ["1e3\n", "1000"],
    [".5 5.\n", "0.5 5.0"],
    ["123456789012345678.25\n", "123456789012345678.250"],
    ["123456789012.25\n", "123456789012.26"],
    // Sums of doubles that differ by the order of addition.
    ["123456789012.345673\n", "123456789012.345688"],
    ["1234567890.123456789\n", "1234567890.1234567"],
    ["1e300\n", "1.0000000001e300"],
    [`${"9".repeat(500)}.5 1\n`, `${"9".repeat(500)}.50  1`],
  ])("%j is met by %j", (expected, got) => {
    expect(samePrinted(expected, got)).toBe(true);
  });
  test.each([
    ["7\n", "8"],
    ["7\n", "7.0"],
    ["7\n", ""],
    ["", "0"],
    ["a b\n", "a  b"],
    ["Yes\n", "yes"],
    ["1\n2\n", "1 2"],
    ["1\n2\n", "1\n\n2"],
    ["0.5\n", "0.50001"],
    ["0.5\n", "nan"],
    ["1 2\n", "1 2 3"],
    ["12345678901234567890\n", "12345678901234567891"],
    ["x\n", " x"],
    ["0x10\n", "16"],
    ["1000000.50\n", "1000001.49"],
    ["00101\n", "101"],
    ["101\n", "00101"],
    [`${"9".repeat(5000)}\n`, `${"9".repeat(4999)}8`],
    [`1${"0".repeat(400)}\n`, `1${"0".repeat(401)}`],
    // These comparisons take time that grows only with the length.
    [`${"9".repeat(500)}.5\n`, `1.${"0".repeat(1_000_000)}1`],
    ["2.0\n", "3"],
    ["3.0000001\n", "3"],
    ["0.0000001\n", "0"],
    ["3\n", "3.0"],
    ["3\n", "3e0"],
    ["123456789012.25\n", "123456789012.27"],
    ["123456789012345678.25\n", "123456789012355678.25"],
    ["9007199254740993.0\n", "9007199254740992"],
    ["-1234567890.5\n", "1234567890.5"],
    ["1234567890.123456789\n", "1234567890.12348"],
    ["1e9999\n", "2e9999"],
    ["1e300\n", "1.1e300"],
    [`${"9".repeat(500)}.5\n`, `${"9".repeat(500)}.6`],
    ["inf\n", "1e999"],
    ["  x\n", "x"],
    ["    return 1\n", "  return 1"],
    [" * \n***\n", "*\n***"],
    [".\n", "0"],
    ["Case #1: 0.333333\n", "Case #1: 0.3334"],
    ["Case #1: 0.333333\n", "Case #1:  0.333333"],
    ["Case 1: 0.5\n", "Case 1.0: 0.5"],
    ["mean 2.0\n", "mean 2"],
    ["1.2.3 1.10\n", "1.2.4 1.1"],
    ["e5 1\n", "0 1"],
  ])("%j is not met by %j", (expected, got) => {
    expect(samePrinted(expected, got)).toBe(false);
  });
});
