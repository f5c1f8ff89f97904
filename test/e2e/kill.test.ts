/**
 * A server that is killed, cut off and rolled back in the middle of a run goes on as if it had not been, and counts what it
 * acknowledged once (see test/simulation). Each kill is a start too, of about two seconds of processor time; KILLS=100
 * kills more often.
 */
import { expect, test } from "vitest";
import { killedAndNot, type SceneName } from "../simulation/killed.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const KILLS = Number(process.env["KILLS"] ?? 2);
const SEED = Number(process.env["SEED"] ?? 1);
/** Time for each start, for on a busy machine they take minutes. What hangs is found by the waits of each. */
const timeout = PATIENCE_MS + KILLS * 60_000;
const what = `a run with waves is the same to the bit after ${KILLS} kills at random points`;
/**
 * Scenes to kill. The scene of the bandit alone is left out, because `rows` has the same arms and `mounted` has more.
 */
const names = [
  "frontier",
  "own",
  "mounted",
  "mounted, growing",
  "rows",
  "cut",
  "growing",
  "growing, cut",
] as const satisfies readonly SceneName[];

test.each(names)(`under %s ${what}`, { timeout }, async (scene) => {
  const { violations, faults, tasks } = await killedAndNot({ kills: KILLS, seed: SEED, scene });
  expect(violations).toEqual([]);
  expect(faults["server killed"]).toBe(KILLS);
  expect(faults["host killed"]).toBe(scene.startsWith("mounted") ? KILLS : undefined);
  expect(tasks).toBeGreaterThan(0);
  if (scene === "cut" || scene === "growing, cut")
    expect(Object.keys(faults)).toEqual(expect.arrayContaining(["cut", "swallow", "import as killed"]));
});
