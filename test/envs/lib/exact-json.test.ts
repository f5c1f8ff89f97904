/** Tests that numbers in JSON keep all their digits, whatever program wrote them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { exactNumber, isRawNumber, numberText, parseExact } from "../../../envs/lib/exact-json.ts";

/**
 * Returns the sign, the digits and the exponent of the last digit. It reads them independently of the code under test.
 */
function meaning(text: string): string {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  let [digits, last] = [BigInt(whole + part), Number(exponent) - part.length];
  if (digits === 0n) return "0";
  for (; digits % 10n === 0n; digits /= 10n) last++;
  return `${sign}${digits}e${last}`;
}

const digits = fc.stringMatching(/^[0-9]{1,25}$/);
const numbers = fc
  .tuple(fc.boolean(), digits, fc.option(digits), fc.option(fc.integer({ min: -40, max: 40 })))
  .map(([minus, whole, part, exponent]) => {
    const unpadded = whole.replace(/^0+(?=\d)/, "");
    return `${minus ? "-" : ""}${unpadded}${part === null ? "" : `.${part}`}${exponent === null ? "" : `e${exponent}`}`;
  });

test("a number is what is written, or stays it", () => {
  fc.assert(
    fc.property(numbers, (text) => {
      const [value] = parseExact(`[${text}]`) as readonly unknown[];
      expect(meaning(numberText(value) ?? "")).toBe(meaning(text));
      expect(value).toEqual(exactNumber(text));
      // Reading the written value gives the same value.
      expect(parseExact(JSON.stringify({ a: value }))).toEqual({ a: value === 0 ? 0 : value });
      if (!isRawNumber(value)) expect(meaning(numberText(value) ?? "")).toBe(meaning(`${value as number}`));
    }),
    { numRuns: 3000 },
  );
});

test("all else is as JSON.parse has it", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const exact = JSON.stringify(parseExact(text));
      expect(JSON.parse(exact)).toEqual(JSON.parse(text));
    }),
  );
  expect(parseExact('{"a":"12345678901234567890","__proto__":1}')).toEqual(
    JSON.parse('{"a":"12345678901234567890","__proto__":1}'),
  );
  expect(() => parseExact("[12345678901234567890")).toThrow(SyntaxError);
});

test.each([
  ["1.5e400", `15${"0".repeat(399)}`],
  ["1e-7", "0.0000001"],
  ["-1.20e-3", "-0.0012"],
  ["12e1", "120"],
  ["0e5", "0"],
  ["1e2000", undefined],
])("%s in full", (source, text) => {
  expect(numberText(exactNumber(source))).toBe(text);
});
