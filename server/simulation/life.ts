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

type Lived = Pick<Step, "counts" | "useful" | "score">;
type Taught = Pick<Student, "learnable" | "target">;

/** A life that is told step by step, of which nothing else is kept: runs may have a hundred thousand of them. */
export function lifeCounter({ learnable, target }: Taught, samples: number) {
  let [tasks, hopeless, useful, final] = [0, 0, 0, 0];
  let rolloutsToTarget: number | null = null;
  return {
    add(step: Lived): void {
      tasks += total(step.counts);
      hopeless += total(step.counts.filter((_, arm) => !learnable[arm]));
      useful += step.useful;
      final = step.score;
      if (rolloutsToTarget === null && step.score >= target) rolloutsToTarget = samples * tasks;
    },
    life: (): Life => {
      const all = Math.max(1, tasks);
      return { rolloutsToTarget, final, wasted: hopeless / all, useful: useful / all };
    },
  };
}

export function lifeOf(steps: readonly Lived[], student: Taught, samples: number): Life {
  const counter = lifeCounter(student, samples);
  for (const step of steps) counter.add(step);
  return counter.life();
}
