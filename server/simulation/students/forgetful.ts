/** Simulated student that forgets what it learned of arms that are not practised. */
import { rngFor } from "../../../envs/lib/rng.ts";
import { between, studentOf, type Abilities } from "../student-law.ts";
import type { Family } from "../student.ts";
import { ladder } from "./base.ts";

export const student: Family<Abilities> = {
  name: "forgetful",
  models: "a model that is overwritten: an arm left out of an update batch loses about 1% of what was gained on it",
  create(seed, places) {
    const rng = rngFor("student", "forgetful", seed);
    return studentOf({ ...ladder(places, rng), forgetting: between(rng, 0.008, 0.016) });
  },
};
