import fc from "fast-check";
import { expect, test } from "vitest";
import { addIssued, hashLists, isIssued, issuedHashes } from "../../../server/curriculum/core/issued-hashes.ts";

const hashes = fc.array(fc.nat(40).map(String), { maxLength: 10 });

test("what was added is issued, and nothing else", () => {
  fc.assert(
    fc.property(fc.array(hashes), (batches) => {
      const issued = batches.reduce(addIssued, issuedHashes());
      const all = new Set(batches.flat());
      for (let i = 0; i <= 40; i++) expect(isIssued(issued, String(i))).toBe(all.has(String(i)));
      expect(hashLists(issued)[1]).toEqual([...all]);
    }),
  );
});

test("values do not change when others grow from them", () => {
  fc.assert(
    fc.property(hashes, hashes, hashes, (first, one, other) => {
      const base = addIssued(issuedHashes(), first);
      const left = addIssued(base, one);
      const right = addIssued(base, other);
      for (let i = 0; i <= 40; i++) {
        const hash = String(i);
        expect(isIssued(base, hash)).toBe(first.includes(hash));
        expect(isIssued(left, hash)).toBe(first.includes(hash) || one.includes(hash));
        expect(isIssued(right, hash)).toBe(first.includes(hash) || other.includes(hash));
      }
    }),
  );
});

test("half a million and more are remembered, in bounded room", () => {
  const batch = (from: number): string[] => Array.from({ length: 1024 }, (_, i) => `h${from + i}`);
  let issued = issuedHashes();
  for (let from = 0; from < 1_300_000; from += 1024) issued = addIssued(issued, batch(from));
  const [older, recent] = hashLists(issued);
  expect(older.length + recent.length).toBeLessThanOrEqual(2 ** 20);
  expect(isIssued(issued, "h1299999")).toBe(true);
  expect(isIssued(issued, `h${1_299_999 - 2 ** 19}`)).toBe(true);
  expect(isIssued(issued, "h0")).toBe(false);
});
