/**
 * Simulated student with a misleading arm. One of the easiest arms seems to teach most, because half of its samples are
 * solved, but it teaches nothing.
 */
import { rngFor } from "../../../envs/lib/rng.ts";
import { between, studentOf, type Abilities } from "../student-law.ts";
import type { Family } from "../student.ts";
import { ladder, unlearnable } from "./base.ts";

export const student: Family<Abilities> = {
  name: "misleading arm",
  models:
    "one of the easiest arms is a coin toss, e.g. a yes-or-no question that must be guessed: about half of each " +
    "group is solved for ever, and neither it nor any other arm is learnt from it",
  create(seed, places) {
    const rng = rngFor("student", "misleading", seed);
    const law = ladder(places, rng);
    const bottom = Math.min(...places.map(({ level }) => level));
    const arm = rng.pick(places.flatMap(({ level }, i) => (level === bottom ? [i] : [])));
    return studentOf(unlearnable(law, arm, between(rng, -0.3, 0.3)));
  },
};
