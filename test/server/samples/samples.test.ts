/** Tests of completions that wait to be kept: their memory is bounded, however slowly the store takes them. */
import { expect, test } from "vitest";
import type { RunSample } from "../../../server/samples/kept-samples.ts";
import { createSamples } from "../../../server/samples/kept-samples.ts";
import { memorySampleStore } from "../../../server/stores/memory.ts";

const MIB = 1024 ** 2;

function sampleOf(index: number): RunSample {
  const result = { kind: "none", reason: "internal", detail: "", retryDelayMs: 0 } as const;
  const place = { taskId: "t", groupId: "g", index, incarnation: "i", arm: 0, cursor: 0 };
  return { ...place, completion: "x".repeat(MIB), result };
}

test("a store that stands still is given no more than may wait, and the rest is told to be lost", async () => {
  const store = memorySampleStore();
  const standing = Promise.withResolvers<void>();
  let lost = 0;
  let added = 0;
  let gathered = (): void => undefined;
  const samples = createSamples({
    store: {
      ...store,
      add: async (run, some) => {
        await standing.promise;
        added += some.length;
        await store.add(run, some);
      },
    },
    clock: {
      now: () => 0,
      setTimer: (delayMs, callback) => {
        if (delayMs < 1000) gathered = callback;
        return () => undefined;
      },
      nextTurn: setImmediate,
    },
    log: {
      info: () => undefined,
      warn: (details) => void (lost += (details as { readonly samples: number }).samples),
      error: () => undefined,
    },
    bytesMax: 1024 * MIB,
    keptMs: 1e9,
  });
  for (let at = 0; at < 100; at++) {
    samples.keep("run", [sampleOf(at)]);
    // The samples gathered so far go to the store each time.
    gathered();
  }
  standing.resolve();
  await samples.close();
  expect(added).toBeLessThanOrEqual(33);
  expect(added + lost).toBe(100);
  samples.keep("run", [sampleOf(100)]);
  expect((await samples.list("run", { below: undefined, limit: 1, test: () => true })).samples).toMatchObject([
    { index: 100 },
  ]);
});

test("one call looks through so much of what is kept and no more, also of completions that say little", async () => {
  const samples = createSamples({
    store: memorySampleStore(),
    clock: { now: () => 0, setTimer: () => () => undefined, nextTurn: setImmediate },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    bytesMax: 1024 * MIB,
    keptMs: 1e9,
  });
  const detail = "d".repeat(2 ** 14);
  for (let at = 0; at < 1024; at++) {
    const sample = sampleOf(at);
    samples.keep("run", [{ ...sample, completion: "", result: { ...sample.result, detail } as typeof sample.result }]);
  }
  const query = { limit: 1, test: ({ index }: RunSample) => index === 0 };
  const page = await samples.list("run", { ...query, below: undefined });
  expect(page).toMatchObject({ samples: [], next: expect.any(Number) as number });
  expect((await samples.list("run", { ...query, below: page.next })).samples).toHaveLength(1);
});

test("conversations count in a page, and samples of older servers have none", async () => {
  const store = memorySampleStore();
  const { completion: _, ...about } = sampleOf(0);
  await store.add("run", [{ about: JSON.stringify(about), completion: "old" }]);
  const samples = createSamples({
    store,
    clock: { now: () => 0, setTimer: () => () => undefined, nextTurn: setImmediate },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    bytesMax: 1024 * MIB,
    keptMs: 1e9,
  });
  const call = { id: "c", name: "guess", argumentsJson: "x".repeat(MIB / 4) };
  const transcript = [{ role: "assistant", content: "y".repeat(MIB / 4), toolCalls: [call] }];
  for (const index of [1, 2, 3])
    samples.keep("run", [{ ...sampleOf(index), completion: "", conversation: { transcript, toolCalls: [call] } }]);
  const query = { limit: 100, test: () => true };
  const page = await samples.list("run", { ...query, below: undefined });
  expect(page.samples.map(({ index }) => index)).toEqual([3, 2]);
  expect(page.samples[0]?.conversation).toEqual({ transcript, toolCalls: [call] });
  const last = await samples.list("run", { ...query, below: page.next });
  expect(last.samples.map(({ completion, conversation }) => [completion, conversation === undefined])).toEqual([
    ["", false],
    ["old", true],
  ]);
});
