import { expect, test } from "vitest";
import { mapConcurrently } from "../../../server/rpc/map-concurrently.ts";

async function* count(to: number, pulled: number[] = []): AsyncGenerator<number> {
  for (let i = 0; i < to; i++) {
    pulled.push(i);
    yield i;
  }
}
const alone = (i: number): readonly number[] => [i];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("every input gets one output, and a slow one does not hold up the others", async () => {
  let release = (): void => undefined;
  const slow = new Promise<void>((resolve) => (release = resolve));
  const outputs: number[] = [];
  const work = async (i: number) => (i === 0 ? slow.then(() => 0) : i);
  for await (const ready of mapConcurrently(count(50), alone, 4, work)) {
    outputs.push(...ready);
    if (outputs.length === 49) release();
  }
  expect(outputs.at(-1)).toBe(0);
  expect(outputs.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test("no more than the limit are begun, and no input is pulled far ahead", async () => {
  const pulled: number[] = [];
  const releases: (() => void)[] = [];
  const outputs = mapConcurrently(
    count(100, pulled),
    alone,
    3,
    (i) => new Promise<number>((resolve) => releases.push(() => resolve(i))),
  );
  const first = outputs.next();
  for (let i = 0; i < 20; i++) await turn();
  expect(releases).toHaveLength(3);
  expect(pulled.length).toBeLessThanOrEqual(4);
  releases[1]?.();
  expect(await first).toEqual({ done: false, value: [1] });
  for (const release of releases) release();
  await outputs.return(undefined);
});

test("a failure ends the stream and closes the inputs", async () => {
  let closed = false;
  async function* inputs(): AsyncGenerator<number> {
    try {
      yield* count(10);
    } finally {
      closed = true;
    }
  }
  const outputs = mapConcurrently(inputs(), alone, 2, (i) =>
    i === 3 ? Promise.reject(new Error("bug")) : Promise.resolve(i),
  );
  await expect(Array.fromAsync(outputs)).rejects.toThrow("bug");
  expect(closed).toBe(true);
});

test("parts of one input begin within the limit, and what is ready at the same time comes together", async () => {
  let begun = 0;
  let most = 0;
  const work = async (i: number): Promise<number> => {
    most = Math.max(most, ++begun);
    await Promise.resolve();
    begun--;
    return i;
  };
  const parts = (i: number): readonly number[] => [10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3, 10 * i + 4];
  const outputs = await Array.fromAsync(mapConcurrently(count(2), parts, 3, work));
  expect(most).toBe(3);
  expect(outputs[0]).toEqual([0, 1, 2]);
  expect(outputs.flat().toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
});

test("an input whose parts cannot be told ends the stream", async () => {
  const refuse = (): never => {
    throw new Error("too many");
  };
  await expect(Array.fromAsync(mapConcurrently(count(2), refuse, 3, async (i: number) => i))).rejects.toThrow(
    "too many",
  );
});
