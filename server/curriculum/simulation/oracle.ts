/**
 * A greedy oracle: it knows the student, and fills each update batch, an eighth after the other, with the arm from which
 * the student is expected to gain most. What it gains is found by trying: groups sampled as a run would sample them, and
 * the score after learning from them. No policy can know this; one that looks further ahead could still do better.
 */
import { rngFor, type Rng } from "../../../envs/lib/rng.ts";
import { GROUPS_OF_A_STEP } from "./drive.ts";
import { scoreOf, type Practice, type Student } from "./student.ts";

const PARTS = 8;
/** Trials of each arm, whose mean gain is compared. */
const TRIALS = 2;

function groupsOf<Mind>(
  student: Student<Mind>,
  mind: Mind,
  { arm, count, samples, weight }: Required<Pick<Practice, "arm" | "samples" | "weight">> & { readonly count: number },
  rng: Rng,
): readonly Practice[] {
  return Array.from({ length: count }, () => {
    const chance = student.chance(mind, arm, (rng.int(0, 1023) + 0.5) / 1024);
    let solved = 0;
    for (let i = 0; i < samples; i++) solved += Number(rng.float() < chance);
    return { arm, solved, samples, weight };
  });
}

export interface OracleRun {
  readonly batches: number;
  readonly promptsPerUpdate: number;
  readonly numGenerations: number;
}

/** The score after each update batch. */
export function oracle<Mind>(student: Student<Mind>, seed: string, run: OracleRun): readonly number[] {
  const rng = rngFor("oracle", seed);
  const count = Math.max(1, Math.round(run.promptsPerUpdate / PARTS));
  const samples = run.numGenerations;
  const weight = GROUPS_OF_A_STEP / run.promptsPerUpdate;
  const scores: number[] = [];
  let mind = student.initial;
  for (let batch = 0; batch < run.batches; batch++) {
    let chosen: readonly Practice[] = [];
    while (chosen.length < run.promptsPerUpdate) {
      const size = Math.min(count, run.promptsPerUpdate - chosen.length);
      const gains = student.learnable.map((_, arm) => {
        let sum = 0;
        for (let i = 0; i < TRIALS; i++) {
          const tried = groupsOf(student, mind, { arm, count: size, samples, weight }, rng);
          sum += scoreOf(student, student.learn(mind, [...chosen, ...tried]));
        }
        return sum;
      });
      const best = gains.indexOf(Math.max(...gains));
      chosen = [...chosen, ...groupsOf(student, mind, { arm: best, count: size, samples, weight }, rng)];
    }
    mind = student.learn(mind, chosen);
    scores.push(scoreOf(student, mind));
  }
  return scores;
}
