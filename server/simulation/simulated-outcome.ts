/** Summarizes a simulated run: computes its outcome, and merges successive update batches into points of a graph. */
import type { Step } from "./drive-run.ts";
import type { Student } from "./student.ts";

export interface SimulatedOutcome {
  /**
   * Number of completions sampled until the student's score reached its target, counted to the end of that update
   * batch. Null: the score never reached the target.
   */
  readonly rolloutsToTarget: number | null;
  /** Student's score (mean success over the learnable arms) after the last update batch. */
  readonly final: number;
  /** Mean over the update batches of the student's score after each batch. */
  readonly successMean: number;
  /** Share of completions that were sampled for arms that the student cannot learn. */
  readonly wasted: number;
  /** Share of groups in which answers differ. */
  readonly useful: number;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/**
 * Returns a counter that computes the outcome of a simulated run from its update batches. It stores no batches, because
 * a run may have a hundred thousand.
 */
export function createOutcomeCounter({ learnable, target }: Pick<Student, "learnable" | "target">, samples: number) {
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
    life: (): SimulatedOutcome => {
      const all = Math.max(1, tasks);
      const successMean = scores / Math.max(1, batches);
      return { rolloutsToTarget, final, successMean, wasted: hopeless / all, useful: useful / all };
    },
  };
}

/** Point of a graph: successive update batches of one or several simulated runs, merged. */
export interface Point extends Pick<Step, "counts" | "probabilities" | "score" | "success"> {
  /** Number of tasks, summed over the merged batches and the runs. */
  readonly tasks: number;
  readonly solvedShare: number;
}

/**
 * Merges every `each` successive update batches into one point of a graph. The batches of further runs are added to the
 * same points.
 */
export function createPointCounter(samples: number, each: number) {
  const points: { steps: number; counts: number[]; probabilities: number[]; solved: number; last: Step }[] = [];
  return {
    /** Adds an update batch. `batch` is its index, counted from 0 in each run. */
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
    /**
     * Returns the points of the graph. Counts are sums over the merged batches, and probabilities are means. Score and
     * success are those of the batch that was added last.
     */
    points: (): readonly Point[] =>
      points.map(({ steps, counts, probabilities, solved, last: { score, success } }) => {
        const tasks = sumOf(counts);
        const solvedShare = solved / Math.max(1, tasks * samples);
        return { tasks, counts, probabilities: probabilities.map((sum) => sum / steps), solvedShare, score, success };
      }),
  };
}
