/** Setting in which every policy is judged: arms, the run's shape, and students. Frozen together with the students. */
import type { ArmPosition } from "../../server/simulation/student.ts";

const FAMILIES = ["a", "b"];
const LEVELS = [0, 1, 2, 3];

/** Two families of tasks with four levels each. */
export const places: readonly ArmPosition[] = FAMILIES.flatMap((family) =>
  LEVELS.map((level) => ({ id: `${family}/${level}`, family, level })),
);

/** A run of 500 update batches: by then every student has arrived under the uniform mixture, most in half the time. */
export const setting = Object.freeze({ batches: 500, promptsPerUpdate: 16, numGenerations: 8, lag: 1 });

/**
 * Seeds of students and of their luck. Parameters of students were set with "calibration", under the uniform mixture and
 * the oracle alone; policies are tuned on "tuning", and judged on "reported". "confirmed" was first looked at when the
 * default was settled.
 */
export const seedSets = ["calibration", "tuning", "reported", "confirmed"] as const;

export type SeedSet = (typeof seedSets)[number];

export const seedsOf = (set: SeedSet, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${set}/${i}`);
