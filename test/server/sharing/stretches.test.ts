import { expect, test } from "vitest";
import { inStretches } from "../../../server/sharing/stretches.ts";

test("results come in order, with the index of each item", async () => {
  expect(await inStretches(["a", "b", "c"], (item, index) => `${index}${item}`)).toEqual(["0a", "1b", "2c"]);
  expect(await inStretches([], () => 1)).toEqual([]);
});

test("others get their turn while there is much to do", async () => {
  let othersAt = Infinity;
  let done = 0;
  setImmediate(() => (othersAt = done));
  await inStretches(new Array<null>(100).fill(null), () => {
    for (const end = performance.now() + 1; performance.now() < end;);
    done++;
  });
  expect(othersAt).toBeGreaterThan(0);
  expect(othersAt).toBeLessThan(100);
});

test("what an item throws is what the whole rejects with", async () => {
  const failing = inStretches([1], () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
});

test("the stretches of several callers come in turns, one in each round of the event loop", async () => {
  const begun: string[] = [];
  const busy = (name: string) =>
    inStretches([1, 2, 3], () => {
      begun.push(name);
      for (const end = performance.now() + 4; performance.now() < end;);
    });
  const rounds: number[] = [];
  const count = (): void => {
    rounds.push(begun.length);
    if (begun.length < 9) setImmediate(count);
  };
  const all = Promise.all(["a", "b", "c"].map(busy));
  setImmediate(count);
  await all;
  expect(begun).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
  for (const [i, done] of rounds.entries()) expect(done - (rounds[i - 1] ?? 3)).toBeLessThanOrEqual(1);
});
