import fc from "fast-check";
import { expect, test } from "vitest";
import { GradusError } from "../../../clients/ts/src/errors.ts";
import { windowed } from "../../../clients/ts/src/windowed.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* trickle<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await turn();
    yield item;
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test("each item gets exactly one result, and no more than the window are on their way or unread", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(5), { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      fc.boolean(),
      async (delays, window, slowSource, slowReader) => {
        let [open, mostOpen] = [0, 0];
        const work = async (delay: number, index: number): Promise<{ index: number; delay: number }> => {
          mostOpen = Math.max(mostOpen, ++open);
          for (let i = 0; i < delay; i++) await turn();
          return { index, delay };
        };
        const seen: { index: number; delay: number }[] = [];
        for await (const result of windowed(slowSource ? trickle(delays) : delays, window, work)) {
          open--;
          seen.push(result);
          if (slowReader) await turn();
        }
        seen.sort((a, b) => a.index - b.index);
        expect(seen).toEqual(delays.map((delay, index) => ({ index, delay })));
        // The reader is just receiving one more result.
        expect(mostOpen).toBeLessThanOrEqual(window + 1);
      },
    ),
    { numRuns: 200 },
  );
});

test("results come as they are ready, not in the order of the items", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const work = async (name: string): Promise<{ name: string }> => {
    if (name === "slow") await held;
    else release();
    return { name };
  };
  expect((await collect(windowed(["slow", "quick"], 2, work))).length).toBe(2);
});

test("work goes on while the source waits and while the reader is busy", async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  async function* source(): AsyncGenerator<number> {
    yield 1;
    await held;
    yield 2;
  }
  const results = windowed(source(), 4, async (item) => ({ item }));
  expect((await results.next()).value).toEqual({ item: 1 });
  release();
  expect((await results.next()).value).toEqual({ item: 2 });
  expect((await results.next()).done).toBe(true);
});

test("an error of the source ends the stream with that error", async () => {
  async function* source(): AsyncGenerator<number> {
    yield 1;
    throw new Error("the generator broke");
  }
  await expect(collect(windowed(source(), 1, async (item) => ({ item })))).rejects.toThrow("the generator broke");
});

test("a reader that leaves closes the source", async () => {
  let closed = false;
  async function* source(): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      closed = true;
    }
  }
  for await (const { item } of windowed(source(), 3, async (item) => ({ item }))) if (item === 5) break;
  await turn();
  expect(closed).toBe(true);
});

test("a signal ends it with CANCELLED, before and during", async () => {
  const hang = (): Promise<object> => new Promise(() => undefined);
  const controller = new AbortController();
  const reading = collect(windowed([1, 2], 2, hang, controller.signal));
  controller.abort();
  await expect(reading).rejects.toThrow(GradusError);
  await expect(collect(windowed([1], 1, hang, controller.signal))).rejects.toMatchObject({ code: "CANCELLED" });
});
