import fc from "fast-check";
import { expect, test } from "vitest";
import { hashKey } from "../../../envs/lib/rng.ts";
import {
  addHash,
  addIssued,
  addPacked,
  hashLog,
  isIssued,
  type IssuedHashes,
  issuedHashes,
  packedHashes,
} from "../../../server/curriculum/issued-hashes.ts";

const hashOf = (name: string): string => hashKey(name).slice(0, 16);

/** A few hashes, some of which share the last digits, by which they are looked up. */
const all = Array.from({ length: 40 }, (_, i) => (i < 20 ? hashOf(`${i}`) : `${hashOf(`${i}`).slice(0, 8)}deadbeef`));
const hashes = fc.array(fc.constantFrom(...all), { maxLength: 10 });

function listsOf(issued: IssuedHashes): readonly (readonly string[])[] {
  const lists: string[][] = [[], []];
  for (const { generation, packed } of packedHashes(issued, 7))
    lists[generation]?.push(...(Buffer.from(packed).toString("hex").match(/.{16}/g) ?? []));
  return lists;
}

test("what was added is issued, and nothing else", () => {
  fc.assert(
    fc.property(fc.array(hashes), (batches) => {
      const issued = batches.reduce(addIssued, issuedHashes());
      const added = new Set(batches.flat());
      for (const hash of all) expect(isIssued(issued, hash)).toBe(added.has(hash));
      expect(listsOf(issued)).toEqual([[], [...added]]);
    }),
  );
});

test("values do not change when others grow from them", () => {
  fc.assert(
    fc.property(hashes, hashes, hashes, (first, one, other) => {
      const base = addIssued(issuedHashes(), first);
      const left = addIssued(base, one);
      const right = addIssued(base, other);
      for (const hash of all) {
        expect(isIssued(base, hash)).toBe(first.includes(hash));
        expect(isIssued(left, hash)).toBe(first.includes(hash) || one.includes(hash));
        expect(isIssued(right, hash)).toBe(first.includes(hash) || other.includes(hash));
      }
    }),
  );
});

test("half a million and more are remembered, in bounded room", () => {
  const name = (i: number): string => i.toString(16).padStart(16, "0");
  let issued = issuedHashes();
  for (let from = 0; from < 1_300_000; from += 1024)
    issued = addIssued(
      issued,
      Array.from({ length: 1024 }, (_, i) => name(from + i)),
    );
  const [older = [], recent = []] = listsOf(issued);
  expect(older.length + recent.length).toBeLessThanOrEqual(2 ** 20);
  expect(isIssued(issued, name(1_299_999))).toBe(true);
  expect(isIssued(issued, name(1_299_999 - 2 ** 19))).toBe(true);
  expect(isIssued(issued, name(0))).toBe(false);
});

test("a log is read back as it was written, packed or as texts, and the hash of any other text is its own", () => {
  const issued = addIssued(issuedHashes(), [...all, "row 1"]);
  const [packed, texts] = [hashLog(), hashLog()];
  for (const piece of packedHashes(issued, 7)) addPacked(packed, piece.packed);
  for (const hash of [...all, hashOf("row 1")]) addHash(texts, hash);
  expect([packed, texts]).toEqual([issued.recent.log, issued.recent.log]);
  for (const text of ["row 2", "", all[0]?.toUpperCase() ?? "", all[0]?.slice(1) ?? "", `${all[0]}0`])
    expect(isIssued(issued, text), text).toBe(false);
  expect(isIssued(issued, "row 1")).toBe(true);
});
