/**
 * A student that is none of ours, as an example of `--students FILE`, and a hard one for curricula that wait: an arm in
 * the middle of the ladder cannot be learnt, so that its level never looks mastered.
 */
import { rngFor } from "../../../envs/lib/rng.ts";
import { studentOf, type Abilities } from "../../../server/curriculum/simulation/law.ts";
import type { Family } from "../../../server/curriculum/simulation/student.ts";
import { ladder } from "../../../server/curriculum/simulation/students/base.ts";

/** In logits: hardly ever solved. */
const NEVER = -8;

export const student: Family<Abilities> = {
  name: "blocked in the middle",
  models: "one arm of the second level is out of reach: almost never solved, and no practice of any arm changes that",
  create(seed, places) {
    const rng = rngFor("student", "blocked", seed);
    const law = ladder(places, rng);
    const arm = rng.pick(places.flatMap(({ level }, i) => (level === 1 ? [i] : [])));
    return studentOf({
      ...law,
      start: law.start.with(arm, NEVER),
      rates: law.rates.with(arm, 0),
      transfer: law.transfer.map((row) => row.with(arm, 0)),
      learnable: law.learnable.with(arm, false),
    });
  },
};
