/**
 * A student that the bench does not have, as an example of `--students FILE`: it learns in every other update batch
 * only.
 */
import { rngFor } from "../../../envs/lib/rng.ts";
import { studentOf, type Abilities } from "../../../server/simulation/student-law.ts";
import type { Family } from "../../../server/simulation/student.ts";
import { ladder } from "../../../server/simulation/students/base.ts";

interface Mind {
  readonly abilities: Abilities;
  readonly batch: number;
}

export const student: Family<Mind> = {
  name: "sleepy",
  models: "a ladder whose every other update is lost",
  create(seed, places) {
    const awake = studentOf(ladder(places, rngFor("student", "sleepy", seed)));
    return {
      learnable: awake.learnable,
      target: awake.target,
      initial: { abilities: awake.initial, batch: 0 },
      chance: ({ abilities }, arm, rank) => awake.chance(abilities, arm, rank),
      success: ({ abilities }) => awake.success(abilities),
      learn: ({ abilities, batch }, groups) => ({
        abilities: batch % 2 === 0 ? awake.learn(abilities, groups) : abilities,
        batch: batch + 1,
      }),
    };
  },
};
