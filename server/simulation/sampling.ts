/** Samples a simulated student's answers to its tasks, and converts them to results in the curriculum's form. */
import { mix, type Rng } from "../../envs/lib/rng.ts";
import type { SampleResult } from "../curriculum/batches.ts";
import type { Arm, InstanceKey, RunConfig } from "../curriculum/types.ts";
import type { Practice, Student } from "./student.ts";

/**
 * Number of prompts in an update batch at which each group has the weight 1 in the student's learning. In batches of n
 * prompts, the weight is 16 / n, so that batches of all sizes weigh the same.
 */
export const GROUPS_OF_A_STEP = 16;

export interface Key extends InstanceKey {
  readonly rank: number;
}

const hexOf = (number: number): string => number.toString(16).padStart(8, "0");

/**
 * Returns the key of a simulated task. Every task number of an arm is another instance, with a random rank (difficulty)
 * in (0, 1).
 */
export function keyOf(seed: number, arm: number, ordinal: number): Key {
  const rank = (mix(mix(mix(seed) ^ arm) ^ ordinal) + 0.5) / 2 ** 32;
  return { hash: `${hexOf(arm)}${hexOf(ordinal)}`, rank };
}

/**
 * Task that was drawn: its position and its key. A position is an arm, or one level of an arm that grows. The key
 * identifies the problem instance, and holds its difficulty (rank).
 */
interface DrawnTask {
  readonly arm: number;
  readonly key: Key;
}

/** Answers of a simulated student to one task. */
export interface Group extends Practice {
  /** Grade of each sample's answer, in [0, 1]. Unset: answers are only right or wrong. */
  readonly grades?: readonly number[];
}

function varianceOf(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return squares / values.length;
}

/** Samples one group for each task, with the student's present chances of success. */
export function sampled<Mind>(
  student: Student<Mind>,
  mind: Mind,
  tasks: readonly DrawnTask[],
  { numGenerations: samples, promptsPerUpdate }: Pick<RunConfig, "numGenerations" | "promptsPerUpdate">,
  rng: Rng,
): readonly Group[] {
  const weight = GROUPS_OF_A_STEP / promptsPerUpdate;
  return tasks.map(({ arm, key }) => {
    if (student.grade !== undefined) {
      const grades: number[] = [];
      for (let i = 0; i < samples; i++) grades.push(student.grade(mind, arm, key.rank, rng));
      const solved = grades.filter((grade) => grade === 1).length;
      return { arm, solved, samples, weight, grades, variance: varianceOf(grades) };
    }
    const chance = student.chance(mind, arm, key.rank);
    let solved = 0;
    for (let i = 0; i < samples; i++) solved += Number(rng.float() < chance);
    return { arm, solved, samples, weight };
  });
}

/**
 * Returns the results of a group's samples, for feedback. If answers are not graded, solved samples come first; the
 * order affects no learning signal.
 */
export function resultsOf({ rewardRange: { min, max } }: Arm, { solved, samples, grades }: Group): SampleResult[] {
  const right: SampleResult = { kind: "reward", reward: max, solved: true };
  const wrong: SampleResult = { kind: "reward", reward: min, solved: false };
  if (grades === undefined) return Array.from({ length: samples }, (_, i) => (i < solved ? right : wrong));
  return grades.map((quality) => {
    const reward = min + (max - min) * quality;
    return { kind: "reward", reward, solved: quality === 1, quality };
  });
}

/** Returns whether the student can learn from a group, because its answers differ. */
export function teaches({ solved, samples, variance }: Group): boolean {
  return variance === undefined ? solved > 0 && solved < samples : variance > 0;
}
