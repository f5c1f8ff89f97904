/** The calculator: exact values, and replies to what cannot be calculated. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { calculator } from "../../../envs/tools/calculator.ts";
import { hostileTexts } from "../hostile.ts";

const calculated = (expression: unknown): string => calculator.reply({ expression });

test.each([
  ["2*(3+4)", "2*(3+4) = 14"],
  ["1/3 + 1/6", "= 1/2 = 0.5"],
  ["0.1 + 0.2", "= 3/10 = 0.3"],
  ["1/3", "= 1/3 ≈ 0.333333333333"],
  ["-1/7", "= -1/7 ≈ -0.142857142857"],
  ["-2^2", "= -4"],
  ["2**10", "= 1024"],
  ["2^-3", "= 1/8 = 0.125"],
  ["10/4*2", "= 5"],
  ["12 ÷ 4 × 3 − 1", "= 8"],
  ["1,234 * 5", "= 6170"],
  ["100000000000000000000 * 3 + 1", "= 300000000000000000001"],
  ["2^200 / 2^199", "= 2"],
  ["(1+2)(3)", "= 9"],
])("%s", (expression, reply) => expect(calculated(expression)).toContain(reply));

test.each([
  ["1/0", /no exact value/],
  ["2^0.5", /no exact value/],
  ["3x + 1", /no exact value/],
  ["9^9^9", /no exact value/],
  ["7^400", /more than 100 digits/],
  ["5 -", /cannot be read/],
  ["", /cannot be read/],
  ["require('fs')", /cannot be read|no exact value/],
  ["1+".repeat(600), /longer than 500 characters/],
  [5, /must be a text/],
  [undefined, /must be a text/],
])("%s gets a reply that says what is wrong", (expression, reply) => expect(calculated(expression)).toMatch(reply));

test("sums, products and quotients of fractions are those of whole numbers", () => {
  const part = fc.integer({ min: -999, max: 999 });
  const divisor = part.filter((n) => n !== 0);
  fc.assert(
    fc.property(part, divisor, part, divisor, fc.constantFrom("+", "-", "*", "/"), (a, b, c, d, sign) => {
      const parts: Readonly<Record<string, readonly [number, number]>> = {
        "+": [a * d + c * b, b * d],
        "-": [a * d - c * b, b * d],
        "*": [a * c, b * d],
        "/": [a * d, b * c],
      };
      const [num, den] = parts[sign] ?? [0, 0];
      const reply = calculated(`(${a}/(${b})) ${sign} (${c}/(${d}))`);
      if (den === 0) {
        expect(reply).toContain("no exact value");
        return;
      }
      const [, top = "", bottom = "1"] = / = (-?\d+)(?:\/(\d+))?/.exec(reply) ?? [];
      expect(BigInt(top) * BigInt(den)).toBe(BigInt(num) * BigInt(bottom));
    }),
  );
});

test("hostile texts get short replies", () => {
  for (const text of hostileTexts(900)) expect(calculated(text).length).toBeLessThan(600);
});
