import fc from "fast-check";
import { expect, test } from "vitest";
import { clipUtf8, codePointOffsets, sliceCodePoints } from "../../../envs/lib/text.ts";

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom("a", "é", "𝟙") }));

test("offsets are those of Python, which counts code points", () => {
  expect(codePointOffsets("𝟙𝟚a", [5])).toEqual([3]);
  expect(codePointOffsets("aé𝟙b", [0, 1, 2, 4, 5])).toEqual([0, 1, 2, 3, 4]);
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const offsets = codePointOffsets(a + b + c, [0, a.length, a.length + b.length]);
      expect(offsets).toEqual([0, [...a].length, [...a].length + [...b].length]);
    }),
  );
});

test("a lone surrogate counts as one", () => {
  expect(codePointOffsets("\ud800a\udc00b", [4])).toEqual([4]);
});

test("a part between two offsets in code points is that of Python", () => {
  fc.assert(
    fc.property(text, fc.nat(20), fc.nat(20), (whole, start, length) => {
      const expected = [...whole].slice(start, start + length).join("");
      expect(sliceCodePoints(whole, start, start + length)).toBe(expected);
    }),
  );
});

test("a clipped text is the longest start that fits, in whole code points", () => {
  fc.assert(
    fc.property(text, fc.nat(20), (whole, bytesMax) => {
      const clipped = clipUtf8(whole, bytesMax);
      expect(whole.startsWith(clipped)).toBe(true);
      expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(bytesMax);
      const next = [...whole][[...clipped].length];
      if (next !== undefined) expect(Buffer.byteLength(clipped + next)).toBeGreaterThan(bytesMax);
    }),
  );
});
