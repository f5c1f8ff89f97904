/** A table is a Map of numbers, whatever is done to it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { LiveTable } from "../../../server/transport/live-table.ts";

test("it holds what a Map would", () => {
  const steps = fc.array(fc.record({ key: fc.nat(20), remove: fc.boolean() }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const table = new LiveTable<number>();
      const map = new Map<number, number>();
      for (const [i, { key, remove }] of all.entries()) {
        if (remove) expect(table.delete(key)).toBe(map.delete(key));
        else [table, map].forEach((each) => each.set(key, i));
        expect(table.size).toBe(map.size);
        expect(table.get(key)).toBe(map.get(key));
      }
      const held: number[] = [];
      table.forEach((value) => held.push(value));
      expect(held.sort()).toEqual([...map.values()].sort());
    }),
  );
});

test("it finds a place of its own for each value, also where others are left", () => {
  const table = new LiveTable<string>();
  const places = Array.from({ length: 5 }, (_, i) => table.add(`${i}`));
  table.delete(places[2] as number);
  const next = table.add("next");
  expect(new Set([...places, next]).size).toBe(6);
  expect(table.get(next)).toBe("next");
  expect(table.size).toBe(5);
});
