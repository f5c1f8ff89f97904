/**
 * A server that is killed in the middle of a run goes on as if it had not been. Each kill is a start too, of about two
 * seconds of processor time; KILLS=100 kills more often.
 */
import { expect, test } from "vitest";
import { killedAndNot, type KilledPolicy } from "../simulation/continuation.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const KILLS = Number(process.env["KILLS"] ?? 2);
const SEED = Number(process.env["SEED"] ?? 1);
/** Time for each start, for on a busy machine they take minutes. What hangs is found by the waits of each. */
const timeout = PATIENCE_MS + KILLS * 60_000;
const what = `a run with waves and changes of shape is the same to the bit after ${KILLS} kills at random points`;
/** Not the bandit alone: under `rows` it has the same arms, and under `mounted` more. */
const policies = ["frontier", "own", "mounted", "rows"] as const satisfies readonly KilledPolicy[];

test.each(policies)(`under %s ${what}`, { timeout }, async (policy) => {
  const { violations, kills, hostKills, tasks } = await killedAndNot({ kills: KILLS, seed: SEED, policy });
  expect(violations).toEqual([]);
  expect(kills).toBe(KILLS);
  expect(hostKills).toBe(policy === "mounted" ? KILLS : 0);
  expect(tasks).toBeGreaterThan(0);
});
