/** Tests that signs are looked for while samples are counted, and are present for a while. */
import { expect, test } from "vitest";
import type { Clock } from "../../../server/base/clock.ts";
import { type ArmCounts, ALL } from "../../../server/samples/sample-counts.ts";
import { createSignWatch } from "../../../server/samples/sign-watch.ts";

/** Counts of an arm whose mean length is `late` in the last of two stretches, and 100 in the first. */
function armOf(late: number): ArmCounts {
  const tally = (tokens: number) => [100, 100 * tokens, 100, 0, 0, 100, 0, 0, 0, 0, 0];
  return new Map([[ALL, new Map([100, late].map((tokens, stretch) => [stretch, tally(tokens)]))]]);
}

/** Opens a watch whose clock is moved by hand. */
function opened(armsOf: (run: string) => Promise<readonly ArmCounts[]>) {
  const warnings: object[] = [];
  const timers = new Set<{ readonly atMs: number; readonly call: () => void }>();
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    setTimer: (delayMs, call) => {
      const timer = { atMs: nowMs + delayMs, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    nextTurn: setImmediate,
  };
  const log = { info: () => undefined, error: () => undefined, warn: (about: object) => void warnings.push(about) };
  const watch = createSignWatch(armsOf, clock, log);
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const timer of timers) if (timer.atMs <= nowMs && timers.delete(timer)) timer.call();
    // A look takes a turn of the event loop, and one more for each arm after which a slice of time is over.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const present = () => [...watch.present()].filter(([, count]) => count > 0);
  return { watch, warnings, timers, pass, present };
}

test("signs of a run are present for ten minutes after its last samples", async () => {
  const asked: string[] = [];
  const { watch, timers, pass, present } = opened(async (run) => {
    asked.push(run);
    return [armOf(200), armOf(100)];
  });
  expect([...watch.present().values()]).toEqual([0, 0, 0, 0]);
  for (const run of ["a", "a"]) watch.note(run);
  await pass(59_000);
  expect(asked).toEqual([]);
  await pass(1_000);
  expect(present()).toEqual([["length_runs_away", 1]]);
  // Without new samples, nobody looks.
  expect(timers.size).toBe(0);
  for (const run of ["a", "b"]) watch.note(run);
  await pass(60_000);
  expect(asked).toEqual(["a", "a", "b"]);
  expect(present()).toEqual([["length_runs_away", 2]]);
  await pass(10 * 60_000 + 1);
  expect(present()).toEqual([]);
});

test("a run whose counts cannot be read is named, and the others are looked at", async () => {
  const { watch, warnings, timers, pass, present } = opened(async (run) => {
    if (run === "broken") throw new Error("the disk is full");
    return [armOf(200)];
  });
  for (const run of ["broken", "sound"]) watch.note(run);
  await pass(60_000);
  expect(warnings).toMatchObject([{ run: "broken" }]);
  expect(present()).toEqual([["length_runs_away", 1]]);
  watch.note("sound");
  watch.close();
  expect(timers.size).toBe(0);
});
