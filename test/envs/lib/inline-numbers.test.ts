import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeNumbers, encodeNumbers } from "../../../envs/lib/encode-bits.ts";

test("numbers come back as they were", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 ** 31 - 1 }), { maxLength: 51 }), (numbers) => {
      expect(decodeNumbers(encodeNumbers(numbers)!)).toEqual(numbers);
    }),
  );
});

test.each([
  [[0], 1],
  [[127], 1],
  [[128], 2],
  [[16_383], 2],
  [[16_384], 3],
  [[2 ** 31 - 1], 5],
  [[], 0],
])("%j takes %d bytes", (numbers, bytes) => {
  expect(encodeNumbers(numbers)).toHaveLength(bytes);
});

test("what is large does not travel", () => {
  expect(encodeNumbers(new Array<number>(256).fill(1))).toHaveLength(256);
  expect(encodeNumbers(new Array<number>(257).fill(1))).toBeUndefined();
  expect(encodeNumbers(new Array<number>(129).fill(200))).toBeUndefined();
});
