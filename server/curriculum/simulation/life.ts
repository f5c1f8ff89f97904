/** What a simulated run came to, in few numbers. */
import type { Step } from "./drive.ts";
import type { Student } from "./student.ts";

export interface Life {
  /** Rollouts up to the end of the update batch after which the score first was at the target; null: never. */
  readonly rolloutsToTarget: number | null;
  /** The score at the end. */
  readonly final: number;
  /** The share of rollouts on arms that cannot be learnt. */
  readonly wasted: number;
  /** The share of groups whose answers differ. */
  readonly useful: number;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

export function lifeOf(
  steps: readonly Pick<Step, "counts" | "useful" | "score">[],
  { learnable, target }: Pick<Student, "learnable" | "target">,
  samples: number,
): Life {
  const tasks = steps.map(({ counts }) => total(counts));
  const hopeless = steps.map(({ counts }) => total(counts.filter((_, arm) => !learnable[arm])));
  const all = Math.max(1, total(tasks));
  const arrived = steps.findIndex(({ score }) => score >= target);
  return {
    rolloutsToTarget: arrived < 0 ? null : samples * total(tasks.slice(0, arrived + 1)),
    final: steps.at(-1)?.score ?? 0,
    wasted: total(hopeless) / all,
    useful: total(steps.map(({ useful }) => useful)) / all,
  };
}
