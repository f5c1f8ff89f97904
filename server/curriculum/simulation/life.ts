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

/** `rolloutsAt` gives the rollouts up to the end of an update batch, counted from 0. */
export function lifeOfScores(scores: readonly number[], target: number, rolloutsAt: (batch: number) => number): Life {
  const arrived = scores.findIndex((score) => score >= target);
  const curve = Array.from({ length: CURVE_POINTS }, (_, i) => {
    const at = Math.ceil(((i + 1) * scores.length) / CURVE_POINTS) - 1;
    return scores[Math.max(0, at)] ?? 0;
  });
  return {
    rolloutsToTarget: arrived < 0 ? null : rolloutsAt(arrived),
    final: scores.at(-1) ?? 0,
    mean: scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length),
    wasted: 0,
    useful: 0,
    curve,
  };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

export function lifeOf(steps: readonly Step[], student: Pick<Student, "learnable" | "target">, samples: number): Life {
  const { learnable, target } = student;
  const tasks = steps.map(({ counts }) => total(counts));
  const hopeless = steps.map(({ counts }) => total(counts.filter((_, arm) => !learnable[arm])));
  const all = Math.max(1, total(tasks));
  return {
    ...lifeOfScores(
      steps.map(({ score }) => score),
      target,
      (batch) => samples * total(tasks.slice(0, batch + 1)),
    ),
    wasted: total(hopeless) / all,
    useful: total(steps.map(({ useful }) => useful)) / all,
  };
}
