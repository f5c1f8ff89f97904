/** What a simulated run came to, in few numbers. */
import type { Step } from "./drive.ts";
import type { Student } from "./student.ts";

export interface Life {
  /** Rollouts up to the end of the update batch after which the score first was at the target; null: never. */
  readonly rolloutsToTarget: number | null;
  /** The score at the end. */
  readonly final: number;
  /** The mean score over the run: what one policy's is below another's is its regret. */
  readonly mean: number;
  /** The share of rollouts on arms that cannot be learnt. */
  readonly wasted: number;
  /** The share of groups with some samples solved and some not. */
  readonly useful: number;
  /** The score at even distances, for plots. */
  readonly curve: readonly number[];
}

/** Points of a curve. */
export const CURVE_POINTS = 50;

export function lifeOfScores(scores: readonly number[], target: number, rolloutsPerBatch: number): Life {
  const arrived = scores.findIndex((score) => score >= target);
  const curve = Array.from({ length: CURVE_POINTS }, (_, i) => {
    const at = Math.ceil(((i + 1) * scores.length) / CURVE_POINTS) - 1;
    return scores[Math.max(0, at)] ?? 0;
  });
  return {
    rolloutsToTarget: arrived < 0 ? null : (arrived + 1) * rolloutsPerBatch,
    final: scores.at(-1) ?? 0,
    mean: scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length),
    ...{ wasted: 0, useful: 0, curve },
  };
}

export function lifeOf(steps: readonly Step[], student: Pick<Student, "learnable" | "target">, samples: number): Life {
  const [first] = steps;
  const batch = first === undefined ? 0 : first.counts.reduce((sum, count) => sum + count, 0);
  const scores = steps.map(({ score }) => score);
  const [tasks, wasted, useful] = [{ sum: 0 }, { sum: 0 }, { sum: 0 }];
  for (const step of steps) {
    for (const [arm, count] of step.counts.entries()) {
      tasks.sum += count;
      if (!student.learnable[arm]) wasted.sum += count;
    }
    useful.sum += step.useful;
  }
  return {
    ...lifeOfScores(scores, student.target, batch * samples),
    wasted: wasted.sum / Math.max(1, tasks.sum),
    useful: useful.sum / Math.max(1, tasks.sum),
  };
}
