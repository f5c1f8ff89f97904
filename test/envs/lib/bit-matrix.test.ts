import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bitCount,
  bitMatrixOf,
  canonicalBits,
  countOnes,
  hasBit,
  lowestBit,
  onesOf,
  rowsText,
} from "../../../envs/lib/bit-matrix.ts";

const lists = fc.integer({ min: 1, max: 100 }).chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    rows: fc.array(fc.uniqueArray(fc.nat(columns - 1)), { maxLength: 5 }),
  }),
);

test("a matrix holds the ones it was given, and no others", () => {
  fc.assert(
    fc.property(lists, ({ columns, rows }) => {
      const matrix = bitMatrixOf(columns, rows);
      expect([matrix.rows, matrix.columns]).toEqual([rows.length, columns]);
      for (const [row, list] of rows.entries()) {
        expect(onesOf(matrix, row)).toEqual([...list].sort((a, b) => a - b));
        expect(countOnes(matrix, row)).toBe(list.length);
        for (let column = 0; column < columns; column++)
          expect(hasBit(matrix, row, column)).toBe(list.includes(column));
      }
    }),
  );
});

test("matrices have one canonical form exactly if they are equal", () => {
  fc.assert(
    fc.property(lists, lists, (a, b) => {
      const [first, second] = [bitMatrixOf(a.columns, a.rows), bitMatrixOf(b.columns, b.rows)];
      const same = JSON.stringify(first) === JSON.stringify(second);
      expect(canonicalBits(first) === canonicalBits(second)).toBe(same);
      expect(canonicalBits(first)).toBe(canonicalBits(bitMatrixOf(a.columns, a.rows)));
    }),
  );
  expect(canonicalBits(bitMatrixOf(3, [[1]]))).not.toBe(canonicalBits(bitMatrixOf(4, [[1]])));
});

test("rows are written as lists", () => {
  expect(rowsText(bitMatrixOf(40, [[39, 0, 31], [], [32]]))).toBe("0: 0 31 39\n1: none\n2: 32");
});

test("words are counted and searched, signed or not", () => {
  fc.assert(
    fc.property(fc.integer(), (word) => {
      const bits = (word >>> 0).toString(2);
      expect(bitCount(word)).toBe([...bits].filter((bit) => bit === "1").length);
      expect(bitCount(word >>> 0)).toBe(bitCount(word));
      if (word === 0) return;
      expect(lowestBit(word)).toBe(bits.length - 1 - bits.lastIndexOf("1"));
      expect(lowestBit(word >>> 0)).toBe(lowestBit(word));
    }),
  );
  expect(lowestBit(-(2 ** 31))).toBe(31);
});
