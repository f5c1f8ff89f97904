/** A simulated run in few numbers: its outcome, and its update batches merged into points. */
import type { Step } from "./drive.ts";
import type { Student } from "./student.ts";

export interface Life {
  /** Rollouts up to the end of the update batch after which the score first was at the target; null: never. */
  readonly rolloutsToTarget: number | null;
  /** The score at the end. */
  readonly final: number;
  /** The mean of the scores after each update batch. */
  readonly successMean: number;
  /** The share of rollouts on arms that cannot be learnt. */
  readonly wasted: number;
  /** The share of groups whose answers differ. */
  readonly useful: number;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Counts the life of a run step by step, and keeps no step: runs may have a hundred thousand of them. */
export function lifeCounter({ learnable, target }: Pick<Student, "learnable" | "target">, samples: number) {
  let [batches, tasks, hopeless, useful, scores, final] = [0, 0, 0, 0, 0, 0];
  let rolloutsToTarget: number | null = null;
  return {
    add(step: Pick<Step, "counts" | "useful" | "score">): void {
      batches++;
      tasks += sumOf(step.counts);
      hopeless += sumOf(step.counts.filter((_, arm) => !learnable[arm]));
      useful += step.useful;
      scores += step.score;
      final = step.score;
      if (rolloutsToTarget === null && step.score >= target) rolloutsToTarget = samples * tasks;
    },
    life: (): Life => {
      const all = Math.max(1, tasks);
      const successMean = scores / Math.max(1, batches);
      return { rolloutsToTarget, final, successMean, wasted: hopeless / all, useful: useful / all };
    },
  };
}

/** Successive update batches as one point: of one run, or of several runs together. */
export interface Point extends Pick<Step, "counts" | "probabilities" | "score" | "success"> {
  /** Sum over the runs. */
  readonly tasks: number;
  readonly solvedShare: number;
}

/** Merges `each` successive update batches into a point. A second run adds to the points of the first, and so on. */
export function pointCounter(samples: number, each: number) {
  const points: { steps: number; counts: number[]; probabilities: number[]; solved: number; last: Step }[] = [];
  return {
    /** Adds the update batch of a number, which counts from 0 in each run. */
    add(batch: number, step: Step): void {
      const zeros = step.counts.map(() => 0);
      const point = (points[Math.floor(batch / each)] ??= {
        steps: 0,
        counts: zeros,
        probabilities: [...zeros],
        solved: 0,
        last: step,
      });
      for (const [arm, count] of step.counts.entries()) {
        point.counts[arm]! += count;
        point.probabilities[arm]! += step.probabilities[arm] ?? 0;
      }
      point.steps++;
      point.solved += step.solved;
      point.last = step;
    },
    /** Counts are sums, probabilities means, and the score and success those of the last update batch that was added. */
    points: (): readonly Point[] =>
      points.map(({ steps, counts, probabilities, solved, last: { score, success } }) => {
        const tasks = sumOf(counts);
        const solvedShare = solved / Math.max(1, tasks * samples);
        return { tasks, counts, probabilities: probabilities.map((sum) => sum / steps), solvedShare, score, success };
      }),
  };
}
