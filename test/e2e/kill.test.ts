/**
 * A server that is killed in the middle of a run goes on as if it had not been. Each kill is a start too, of about two
 * seconds of processor time; KILLS=100 kills more often.
 */
import { expect, test } from "vitest";
import { killedAndNot } from "../simulation/continuation.ts";

const KILLS = Number(process.env["KILLS"] ?? 20);
const SEED = Number(process.env["SEED"] ?? 1);

test(`a run with waves and changes of shape is the same to the bit after ${KILLS} kills at random points`, async () => {
  const { violations, kills, tasks } = await killedAndNot({ kills: KILLS, seed: SEED });
  expect(violations).toEqual([]);
  expect(kills).toBe(KILLS);
  expect(tasks).toBeGreaterThan(0);
});
