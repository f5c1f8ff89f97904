/** Simulated student that can never learn one of the hardest arms. */
import { rngFor } from "../../../envs/lib/rng.ts";
import { studentOf, type Abilities } from "../student-law.ts";
import type { Family } from "../student.ts";
import { ladder, unlearnable } from "./base.ts";

/** Ability, in logits, with which a task of median difficulty is solved about once in 3000 samples. */
const NEVER = -8;

export const student: Family<Abilities> = {
  name: "hopeless arm",
  models: "one of the hardest arms is out of reach: almost never solved, and no practice of any arm changes that",
  create(seed, places) {
    const rng = rngFor("student", "hopeless", seed);
    const law = ladder(places, rng);
    const top = Math.max(...places.map(({ level }) => level));
    const arm = rng.pick(places.flatMap(({ level }, i) => (level === top ? [i] : [])));
    return studentOf(unlearnable(law, arm, NEVER));
  },
};
