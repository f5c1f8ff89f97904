/** Simulated students that learn quickly or slowly, with much or little transfer between levels of a family. */
import { rngFor } from "../../../envs/lib/rng.ts";
import { between, ladderTransfer, studentOf, type Abilities } from "../student-law.ts";
import type { Family } from "../student.ts";
import { ladder } from "./base.ts";

/** Range of a random number, as [minimum, maximum]. */
type Span = readonly [number, number];

interface Pace {
  /** Factor of a group's effect on the student, relative to the base student. */
  readonly times: number;
  /** Range of the transfer between neighbouring levels of a family. */
  readonly within: Span;
  /** Range of the factor of transfer between families, relative to transfer within a family. */
  readonly across: Span;
}

function paced(name: string, models: string, { times, within, across }: Pace): Family<Abilities> {
  return {
    name,
    models,
    create(seed, places) {
      const rng = rngFor("student", name, seed);
      const law = ladder(places, rng);
      const transfer = ladderTransfer(places, { within: between(rng, ...within), across: between(rng, ...across) });
      return studentOf({ ...law, rates: law.rates.map((rate) => times * rate), transfer });
    },
  };
}

export const fast = paced(
  "fast",
  "a large model: each group teaches twice as much, and more of it carries over to the next level",
  { times: 2, within: [0.55, 0.65], across: [0.05, 0.15] },
);

export const slow = paced(
  "slow",
  "a small model: each group teaches three quarters as much, and less of it carries over to the next level",
  { times: 0.75, within: [0.3, 0.4], across: [0, 0.05] },
);
