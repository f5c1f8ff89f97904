import { expect, test } from "vitest";
import { LinkedQueue } from "../../../server/base/linked-queue.ts";

const items = ["a", "b", "c", "d"].map((name) => ({ name }));
const namesOf = (queue: Iterable<{ readonly name: string }>): string => [...queue].map(({ name }) => name).join("");

test("items leave in the order in which they came, also from the middle", () => {
  const queue = new LinkedQueue<{ readonly name: string }>();
  const [, removeB] = items.map((each) => queue.add(each));
  removeB!();
  expect([namesOf(queue), queue.size]).toEqual(["acd", 3]);
  expect(Array.from({ length: 4 }, () => queue.shift()?.name)).toEqual(["a", "c", "d", undefined]);
  expect(queue.size).toBe(0);
});

test("an item is removed once, whoever removes it", () => {
  const queue = new LinkedQueue<{ readonly name: string }>();
  const [removeA, removeB] = items.map((each) => queue.add(each));
  queue.shift();
  removeA!();
  removeB!();
  removeB!();
  expect([namesOf(queue), queue.size]).toEqual(["cd", 2]);
  queue.add(items[0]!);
  expect(namesOf(queue)).toBe("cda");
});

test("the item that was given last can be removed during an iteration", () => {
  const queue = new LinkedQueue<{ readonly name: string }>();
  const removals = new Map(items.map((each) => [each, queue.add(each)]));
  let given = "";
  for (const each of queue) {
    given += each.name;
    removals.get(each)!();
  }
  expect([given, queue.size]).toEqual(["abcd", 0]);
});
