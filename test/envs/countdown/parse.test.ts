/** Tests the trees that the parser makes of expressions, written by `format`. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { binary, type Expression, formatAnswer, literal } from "../../../envs/countdown/expression.ts";
import { parse, verify } from "../../../envs/countdown/verify.ts";

function read(text: string): string {
  const parsed = parse(text);
  return parsed.kind === "answer" ? formatAnswer(parsed.answer) : `malformed: ${parsed.reason}`;
}

describe("grammar", () => {
  test.each([
    ["7", "7"],
    ["0", "0"],
    ["  1+2\n", "1 + 2"],
    ["1+2*3", "1 + 2 * 3"],
    ["(1+2)*3", "(1 + 2) * 3"],
    ["((1))+(2)", "1 + 2"],
    ["8-3-2", "8 - 3 - 2"],
    ["8-(3-2)", "8 - (3 - 2)"],
    ["8/4/2", "8 / 4 / 2"],
    ["8/(4/2)", "8 / (4 / 2)"],
    ["1+(2+3)", "1 + (2 + 3)"],
    ["2*3-4/5", "2 * 3 - 4 / 5"],
    ["3×8", "3 * 8"],
    ["3·8⋅2∗1", "3 * 8 * 2 * 1"],
    ["6÷3∕2", "6 / 3 / 2"],
    ["9−4", "9 - 4"],
    ["3 \\times 8 \\div 2 \\cdot 1", "3 * 8 / 2 * 1"],
    ["\\left(3+8\\right)\\cdot2", "(3 + 8) * 2"],
    ["\\frac{6}{1-\\frac{3}{4}}", "6 / (1 - 3 / 4)"],
    ["2*\\dfrac{6}{3}+\\tfrac{1}{2}", "2 * (6 / 3) + 1 / 2"],
    ["(1+2)*8 = 24", "(1 + 2) * 8 = 24"],
    ["1-2=-1", "1 - 2 = -1"],
    ["1-1=-0", "1 - 1 = 0"],
    ["999999999+1", "999999999 + 1"],
    ["24 = (1+2)*8", "(1 + 2) * 8 = 24"],
    ["-1 = 1-2", "1 - 2 = -1"],
    ["24 = 24", "24 = 24"],
    ["40 = 1 * 59 - 19", "1 * 59 - 19 = 40"],
    ["-19 + 1 * 59", "-19 + 1 * 59"],
    ["-19*2", "-19 * 2"],
    ["40 = -19 + 59", "-19 + 59 = 40"],
    ["-0 + 1", "0 + 1"],
    ["9–4", "9 - 4"],
    ["9\u20104\u20112\u20121", "9 - 4 - 2 - 1"],
    ["（１＋２）＊３", "(1 + 2) * 3"],
    ["［８－３］／２＝２", "(8 - 3) / 2 = 2"],
    ["[1+2]*(3+[4])", "(1 + 2) * (3 + 4)"],
    ["\\left[1+2\\right]\\ast 3", "(1 + 2) * 3"],
    ["3\\,\\times\\;8\\ -\\quad1", "3 * 8 - 1"],
    ["6⁄3", "6 / 3"],
    ["1\u00a0+\u20092\u200b+\u30003\ufeff", "1 + 2 + 3"],
  ])("%j is %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });
});

test("minus zero is zero", () => {
  expect(parse("1-1=-0")).toMatchObject({ answer: { claimed: 0 } });
});

describe("limits", () => {
  const sum = (count: number) => Array.from({ length: count }, () => "1").join("+");

  test("64 numbers, 64 parentheses, 9 digits and 2,048 characters are read; one more is not", () => {
    expect(parse(sum(64)).kind).toBe("answer");
    expect(read(sum(65))).toBe("malformed: more than 64 numbers");
    expect(parse("(".repeat(64) + "1" + ")".repeat(64)).kind).toBe("answer");
    expect(read("(".repeat(65) + "1" + ")".repeat(65))).toBe("malformed: parentheses nested more than 64 deep");
    expect(read("1234567890")).toBe("malformed: a number of 10 digits at character 1; at most 9 are read");
    expect(parse("1" + " ".repeat(2045) + "+1").kind).toBe("answer");
    expect(read("1" + " ".repeat(2046) + "+1")).toBe("malformed: longer than 2048 characters");
  });

  test("parentheses side by side do not nest", () => {
    expect(parse(Array.from({ length: 60 }, () => "((1))").join("+")).kind).toBe("answer");
  });

  test("fractions nest as parentheses do", () => {
    const nested = (depth: number) => "\\frac{".repeat(depth) + "1" + "}{1}".repeat(depth);
    expect(parse(nested(63)).kind).toBe("answer");
    expect(read(nested(66))).toMatch(/more than 64/);
  });
});

/** Trees of any shape with up to 64 leaves. */
const tree = fc.letrec<{ node: Expression }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 5 },
    fc.integer({ min: 0, max: 999_999_999 }).map(literal),
    fc.tuple(fc.constantFrom("+", "-", "*", "/"), tie("node"), tie("node")).map(([o, l, r]) => binary(o, l, r)),
  ),
})).node;

test("an answer written and read is the same answer", () => {
  fc.assert(
    fc.property(tree, fc.option(fc.integer({ min: -999_999_999, max: 999_999_999 })), (expression, claimed) => {
      const answer = claimed === null ? { expression } : { expression, claimed };
      expect(parse(formatAnswer(answer))).toEqual({ kind: "answer", answer });
    }),
    { numRuns: 500 },
  );
});

describe("any text", () => {
  const alphabet = [
    ..."0123456789+-*/()=.{} \\",
    "\\frac",
    "\\left(",
    "\\right)",
    "×",
    "−",
    "٣",
    "x",
    "^",
    "\n",
    "😀",
    "\ud800",
  ];
  const likely = fc.array(fc.constantFrom(...alphabet), { maxLength: 40 }).map((parts) => parts.join(""));
  const instance = { numbers: [3, 3, 8, 8], target: 24 };

  test("is read or refused with a short, well-formed reason; what is read can be verified", () => {
    fc.assert(
      fc.property(fc.oneof(likely, fc.string({ unit: "binary", maxLength: 60 })), (text) => {
        const parsed = parse(text);
        if (parsed.kind === "malformed") {
          expect(parsed.reason.isWellFormed()).toBe(true);
          expect(parsed.reason.length).toBeGreaterThan(0);
          expect(parsed.reason.length).toBeLessThan(200);
        } else {
          expect(["feasible", "infeasible"]).toContain(verify(instance, parsed.answer).kind);
        }
      }),
      { numRuns: 5000 },
    );
  });
});
