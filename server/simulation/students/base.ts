/** Base of most simulated students. Each family of tasks has levels, from mostly solved to hardly ever solved. */
import type { Rng } from "../../../envs/lib/rng.ts";
import { between, ladderStart, ladderTransfer, type Law } from "../student-law.ts";
import type { ArmPosition } from "../student.ts";

/** Score (mean success over the learnable arms) at which most students have reached their goal. */
export const TARGET = 0.75;

/**
 * Returns the law changed so that one arm cannot be learned. Its ability stays at `start`, in logits, and practising it
 * teaches nothing.
 */
export function unlearnable(law: Law, arm: number, start: number): Law {
  return {
    ...law,
    start: law.start.with(arm, start),
    rates: law.rates.with(arm, 0),
    transfer: law.transfer.map((row) => row.with(arm, 0)),
    learnable: law.learnable.with(arm, false),
  };
}

export function ladder(places: readonly ArmPosition[], rng: Rng): Law {
  const [easiest, step] = [between(rng, 0.2, 1.2), between(rng, 2, 2.6)];
  const start = ladderStart(places, rng, { easiest, step, jitter: 0.4 });
  const rate = between(rng, 0.03, 0.04);
  return {
    start,
    rates: places.map(() => rate),
    transfer: ladderTransfer(places, { within: between(rng, 0.35, 0.5), across: between(rng, 0, 0.1) }),
    forgetting: between(rng, 0.001, 0.003),
    spread: between(rng, 0.5, 0.9),
    learnable: places.map(() => true),
    target: TARGET,
  };
}
