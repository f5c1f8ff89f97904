/** Tests of items that wait for a worker: callers take turns, whatever came before and whatever was put back. */
import { expect, test } from "vitest";
import { createQueue, type Item } from "../../../../server/outside/mounted/item-queue.ts";

const { signal } = new AbortController();
const TURN_MS = 1000;

const item = (caller: string, subject: object = {}, fresh: Item["fresh"] = false): Item => ({
  subject,
  party: { caller, connection: caller },
  environment: { id: "mine", version: 1, digest: "", limits: { generateMs: 1, verifyMs: 1, advanceMs: 1 } },
  limitMs: 1,
  fresh,
  signal,
  frameOf: () => {
    throw new Error("nothing is sent");
  },
  read: () => undefined,
  settle: () => undefined,
  lost: 0,
});

function queueOf(items: readonly Item[]) {
  const queue = createQueue();
  for (const each of items) queue.add(each);
  const take = (isFresh = false) =>
    queue
      .take(
        64,
        () => isFresh,
        () => TURN_MS,
      )
      .map(({ party }) => party?.caller);
  const wantsFresh = (): boolean => queue.wantsFresh(() => false);
  return { queue, take, wantsFresh };
}

test("items of a subject go together, but not those of two callers", () => {
  const subject = {};
  const { take } = queueOf(["a", "a", "b", "a"].map((caller) => item(caller, subject)));
  expect([take(), take(), take()].map((taken) => taken.join())).toEqual(["a,a", "b", "a"]);
});

test("the next turn is another caller's, however many items of the first wait", () => {
  const { queue, take } = queueOf(Array.from({ length: 256 }, () => item("many")));
  expect([take(), take()]).toEqual([["many"], ["many"]]);
  queue.add(item("one"));
  expect(take()).toEqual(["one"]);
});

test("what was put back, or needs a fresh worker, takes its caller's turn", () => {
  const { queue, take, wantsFresh } = queueOf([item("hostile"), item("hostile")]);
  take();
  take();
  queue.add(item("other"));
  queue.putBack([item("hostile"), item("hostile")]);
  queue.add(item("hostile", {}, true));
  expect(take(true)).toEqual(["other"]);
  expect([take(), take()]).toEqual([["hostile"], ["hostile"]]);
  // The item's turn has come, but no fresh worker is there.
  expect([take(), wantsFresh()]).toEqual([[], true]);
  expect(queue.wantsFresh(() => true)).toBe(false);
  queue.add(item("other"));
  expect(take()).toEqual(["other"]);
  expect([take(true), wantsFresh()]).toEqual([["hostile"], false]);
});

test("a caller whose item took long is charged with its time", () => {
  const slow = item("slow");
  const { queue, take } = queueOf([slow, item("slow"), item("quick"), item("quick"), item("quick")]);
  expect([take(), take()].flat()).toEqual(["slow", "quick"]);
  queue.charge(slow, TURN_MS, 11 * TURN_MS);
  expect([take(), take(), take(), take()].flat()).toEqual(["quick", "quick", "slow"]);
});

test("all that wait are taken out, of whatever kind", () => {
  const { queue, take } = queueOf([item("a", {}, true), item("a"), item("b")]);
  expect(take()).toHaveLength(1);
  expect(queue.drain().map(({ party }) => party?.caller)).toHaveLength(2);
  expect([take(), queue.drain()]).toEqual([[], []]);
});
