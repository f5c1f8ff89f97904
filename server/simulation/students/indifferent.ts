/**
 * Simulated student for whom the order of tasks makes no difference, because practice of any arm teaches all arms
 * alike.
 */
import { rngFor } from "../../../envs/lib/rng.ts";
import { between, studentOf, type Abilities } from "../student-law.ts";
import type { Family } from "../student.ts";
import { TARGET } from "./base.ts";

export const student: Family<Abilities> = {
  name: "order-free",
  models: "all arms are one skill, equally hard: a group of any arm teaches every arm alike, and nothing is forgotten",
  create(seed, places) {
    const rng = rngFor("student", "indifferent", seed);
    const [ability, rate] = [between(rng, -2.5, -1.5), between(rng, 0.0035, 0.0065)];
    return studentOf({
      start: places.map(() => ability),
      rates: places.map(() => rate),
      transfer: places.map(() => places.map(() => 1)),
      forgetting: 0,
      spread: between(rng, 0.5, 0.9),
      learnable: places.map(() => true),
      target: TARGET,
    });
  },
};
