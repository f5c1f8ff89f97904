/** It is a Map of numbers, whatever is done to it, but for the order. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { LiveMap } from "../../../server/transport/live-map.ts";

type Step = (map: Map<number, number | undefined>) => unknown;

const key = fc.nat(20);
const value = fc.option(fc.nat(99), { nil: undefined });
const step = fc.oneof<fc.Arbitrary<Step>[]>(
  fc.tuple(key, value).map(
    ([k, v]) =>
      (map: Parameters<Step>[0]) =>
        map.set(k, v).size,
  ),
  fc.tuple(key, value).map(
    ([k, v]) =>
      (map: Parameters<Step>[0]) =>
        map.getOrInsert?.(k, v) ?? null,
  ),
  key.map((k) => (map: Parameters<Step>[0]) => map.delete(k)),
  fc.constant((map: Parameters<Step>[0]) => map.clear()),
);

/** All that can be asked of it. */
function everything(map: Map<number, number | undefined>) {
  const visited: unknown[] = [];
  map.forEach((v, k, of) => visited.push([k, v, of === map]));
  const sorted = (all: Iterable<unknown>) => [...all].map((each) => JSON.stringify(each) ?? "undefined").sort();
  return {
    size: map.size,
    got: Array.from({ length: 21 }, (_, k) => [map.has(k), map.get(k)]),
    entries: sorted(map.entries()),
    iterated: sorted(map),
    keys: sorted(map.keys()),
    values: sorted(map.values()),
    visited: sorted(visited),
    tag: Object.prototype.toString.call(map),
  };
}

test("it holds what a Map would", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const ours = new LiveMap<number | undefined>();
      const theirs = new Map<number, number | undefined>();
      for (const each of steps) {
        // Node 24 has no getOrInsert yet.
        const [mine, right] = [each(ours), each(theirs)];
        if (right !== null) expect(mine).toEqual(right);
        else for (const k of ours.keys()) if (!theirs.has(k)) theirs.set(k, ours.get(k));
        expect(everything(ours)).toEqual(everything(theirs));
      }
    }),
  );
});

test("it has every method that a Map of this Node has", () => {
  const names = Reflect.ownKeys(Map.prototype).filter((name) => !Object.hasOwn(LiveMap.prototype, name));
  expect(names).toEqual([]);
});

test("what is deleted while it is gone through is passed over, as in a Map", () => {
  const map = new LiveMap<string>().set(1, "a").set(2, "b").set(3, "c");
  const seen: number[] = [];
  for (const [at] of map) {
    seen.push(at);
    map.delete(at + 1);
  }
  expect(seen).toEqual([1, 3]);
});
