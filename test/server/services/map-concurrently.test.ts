import { expect, test } from "vitest";
import { mapConcurrently } from "../../../server/services/concurrency.ts";

async function* count(to: number, pulled: number[] = []): AsyncGenerator<number> {
  for (let i = 0; i < to; i++) {
    pulled.push(i);
    yield i;
  }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("every input gets one output, and a slow one does not hold up the others", async () => {
  let release = (): void => undefined;
  const slow = new Promise<void>((resolve) => (release = resolve));
  const outputs: number[] = [];
  for await (const output of mapConcurrently(count(50), 4, async (i) => (i === 0 ? slow.then(() => 0) : i))) {
    outputs.push(output);
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
    3,
    (i) => new Promise<number>((resolve) => releases.push(() => resolve(i))),
  );
  const first = outputs.next();
  for (let i = 0; i < 20; i++) await turn();
  expect(releases).toHaveLength(3);
  expect(pulled.length).toBeLessThanOrEqual(4);
  releases[1]?.();
  expect(await first).toEqual({ done: false, value: 1 });
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
  const outputs = mapConcurrently(inputs(), 2, (i) =>
    i === 3 ? Promise.reject(new Error("bug")) : Promise.resolve(i),
  );
  await expect(Array.fromAsync(outputs)).rejects.toThrow("bug");
  expect(closed).toBe(true);
});
