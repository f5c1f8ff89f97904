/** What a student writes of the tasks that it is given, and what the curriculum is told of it. */
import { mix, type Rng } from "../../envs/lib/rng.ts";
import type { SampleResult } from "../curriculum/batches.ts";
import type { Arm, InstanceKey, RunConfig } from "../curriculum/types.ts";
import type { Practice, Student } from "./student.ts";

/** Update batches of so many groups move a student as far as the law says, and others as far in one step. */
export const GROUPS_OF_A_STEP = 16;

export interface Key extends InstanceKey {
  readonly rank: number;
}

const hexOf = (number: number): string => number.toString(16).padStart(8, "0");

/** Every ordinal of an arm is an instance of its own, of a rank by chance. */
export function keyOf(seed: number, arm: number, ordinal: number): Key {
  const rank = (mix(mix(mix(seed) ^ arm) ^ ordinal) + 0.5) / 2 ** 32;
  return { hash: `${hexOf(arm)}${hexOf(ordinal)}`, rank };
}

/** A task as it was drawn. */
interface Given {
  readonly arm: number;
  readonly key: Key;
}

/** A group of completions. */
export interface Group extends Practice {
  /** Of graded answers, in the order of the samples. */
  readonly grades?: readonly number[];
}

/** The population variance. */
function varianceOf(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / values.length;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return squares / values.length;
}

/** The groups of one batch, as the student solves them now. */
export function sampled<Mind>(
  student: Student<Mind>,
  mind: Mind,
  tasks: readonly Given[],
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

/** The samples of a group as the curriculum is told of them: of right or wrong ones the solved first, which no signal looks at. */
export function resultsOf({ rewardRange: { min, max } }: Arm, { solved, samples, grades }: Group): SampleResult[] {
  const right: SampleResult = { kind: "reward", reward: max, solved: true };
  const wrong: SampleResult = { kind: "reward", reward: min, solved: false };
  if (grades === undefined) return Array.from({ length: samples }, (_, i) => (i < solved ? right : wrong));
  return grades.map((quality) => {
    const reward = min + (max - min) * quality;
    return { kind: "reward", reward, solved: quality === 1, quality };
  });
}

/** Whether a group's answers differ, so that an update learns from it. */
export function teaches({ solved, samples, variance }: Group): boolean {
  return variance === undefined ? solved > 0 && solved < samples : variance > 0;
}
