/** Around the edges where doubles stop being exact. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { evaluate } from "../../../envs/countdown/expression.ts";
import { add, divide, fromInteger, multiply, showRational, subtract } from "../../../envs/lib/rational.ts";
import { parse } from "../../../envs/countdown/verify.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { apply, randomChain, same } from "../countdown/reference.ts";

const integer = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.maxSafeInteger(),
  fc.integer({ min: 94_906_260, max: 94_906_270 }),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);

test("20,000 random expressions have the value that plain bigint fractions give", () => {
  const rng = rngFor("rational test");
  let zeroDivisions = 0;
  let beyondDoubles = 0;
  for (let run = 0; run < 20_000; run++) {
    const largest = rng.pick([3, 12, 99, 10_000, 999_999_999]);
    const size = run % 100 === 0 ? rng.int(32, 60) : rng.int(1, 8);
    const { text, value } = randomChain(size, () => rng.int(0, largest), rng);
    const parsed = parse(text);
    if (parsed.kind !== "answer") throw new Error(`${parsed.reason}: ${text}`);
    const found = evaluate(parsed.answer.expression);
    if (value === undefined) {
      zeroDivisions++;
      expect(found, text).toBeUndefined();
      continue;
    }
    if (found === undefined) throw new Error(text);
    if (!same([BigInt(found.num), BigInt(found.den)], value)) throw new Error(text);
    if (typeof found.num === "bigint" || typeof found.den === "bigint") beyondDoubles++;
  }
  expect(zeroDivisions).toBeGreaterThan(100);
  expect(beyondDoubles).toBeGreaterThan(100);
});

describe("fractions", () => {
  const fraction = fc
    .tuple(integer, integer)
    .filter(([, den]) => den !== 0)
    .map(([num, den]) => divide(fromInteger(num), fromInteger(den))!);

  test("are in lowest terms, with numbers exactly where they are safe", () => {
    fc.assert(
      fc.property(fraction, fraction, (a, b) => {
        for (const result of [add(a, b), subtract(a, b), multiply(a, b), divide(a, b)]) {
          if (result === undefined) continue;
          const [num, den] = [BigInt(result.num), BigInt(result.den)];
          let [x, y] = [num < 0n ? -num : num, den];
          while (y !== 0n) [x, y] = [y, x % y];
          expect(den > 0n && x === 1n).toBe(true);
          expect(typeof result.num === "number").toBe(Number.isSafeInteger(Number(num)));
          expect(typeof result.den === "number").toBe(Number.isSafeInteger(Number(den)));
          expect(Object.is(result.num, -0)).toBe(false);
        }
      }),
    );
  });

  test("add and multiply as bigint fractions do, back and forth", () => {
    fc.assert(
      fc.property(fraction, fraction, (a, b) => {
        const exact = apply("+", [BigInt(a.num), BigInt(a.den)], [BigInt(b.num), BigInt(b.den)])!;
        const sum = add(a, b);
        expect(same([BigInt(sum.num), BigInt(sum.den)], exact)).toBe(true);
        expect(subtract(sum, b)).toEqual(a);
        if (b.num !== 0) expect(divide(multiply(a, b), b)).toEqual(a);
      }),
    );
  });

  test("are shown short, however long", () => {
    expect(showRational(fromInteger(23))).toBe("23");
    expect(showRational(divide(fromInteger(-47), fromInteger(2))!)).toBe("-47/2");
    let huge = fromInteger(999_999_999);
    for (let i = 0; i < 6; i++) huge = multiply(huge, huge);
    expect(showRational(huge)).toBe("99999993600000201599… (576 characters)");
  });
});
