import { expect, onTestFinished, test } from "vitest";
import { mapInSlices } from "../../../server/base/time-slices.ts";

test("results come in order, with the index of each item", async () => {
  expect(await mapInSlices(["a", "b", "c"], (item, index) => `${index}${item}`)).toEqual(["0a", "1b", "2c"]);
  expect(await mapInSlices([], () => 1)).toEqual([]);
});

test("others get their turn while there is much to do", async () => {
  let othersAt = Infinity;
  let done = 0;
  setImmediate(() => (othersAt = done));
  await mapInSlices(new Array<null>(100).fill(null), () => {
    for (const end = performance.now() + 1; performance.now() < end;);
    done++;
  });
  expect(othersAt).toBeGreaterThan(0);
  expect(othersAt).toBeLessThan(100);
});

test("what an item throws is what the whole rejects with", async () => {
  const failing = mapInSlices([1], () => {
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
});

test("the stretches of several callers come in turns, one in each round of the event loop", async () => {
  const begun: string[] = [];
  const busy = (name: string) =>
    mapInSlices([1, 2, 3], () => {
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

test("a promise that rejects during a later stretch, and is awaited after that, does not end the process", async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", listen);
  onTestFinished(() => void process.off("unhandledRejection", listen));
  const busy = (): void => {
    for (const end = performance.now() + 3; performance.now() < end;);
  };
  const begun = await mapInSlices([0, 1, 2, 3], (item) => {
    busy();
    return item === 0 ? Promise.reject(new Error("the store is away")) : Promise.resolve(item);
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(Promise.all(begun)).rejects.toThrow("the store is away");
  expect(unhandled).toEqual([]);
});
