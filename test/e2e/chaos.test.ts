/** A real server that is killed, cut off and rolled back counts what it acknowledged, once (see test/simulation). */
import { expect, test } from "vitest";
import { againstProcesses } from "../simulation/processes.ts";

test("what a server acknowledged is in its journal once, whatever happens to it and to its connections", async () => {
  const { violations, samples, faults } = await againstProcesses({ seed: 1, tasks: 160, trainers: 2, kills: 3 });
  expect(violations).toEqual([]);
  expect(samples).toBeGreaterThan(0);
  expect(Object.keys(faults)).toEqual(expect.arrayContaining(["server killed", "cut", "swallow"]));
});
