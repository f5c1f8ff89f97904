/**
 * Scripted policy, which stands in for a model to preview a run. It gives the solver's answer, or the reference answer
 * of a pool's row, or says that it does not know. The chance to solve a task is lower for later levels of its
 * environment, and rises with the tasks of the arm seen so far. Practice in one arm does not help others, and nothing
 * is forgotten; `gradus simulate` compares policies.
 */
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import type { AnyScoreTask } from "../../envs/score.ts";
import type { Task } from "../../clients/ts/src/public.ts";

const CHANCE_EASIEST = 0.6;
const CHANCE_HARDEST = 0.05;
const CHANCE_MAX = 0.95;

export interface ScriptedOptions {
  readonly open: (taskId: string) => AnyScoreTask;
  /** Number of an arm's tasks after which its chance of success has made about two thirds of its rise. */
  readonly practice: number;
}

export function createScripted({ open, practice }: ScriptedOptions) {
  const seen = new Map<string, number>();
  const chanceOf = (task: Task, { environment }: AnyScoreTask): number => {
    const start = startOf(
      environment.levels.map(({ name }) => name),
      task.level,
    );
    const learnt = 1 - Math.exp(-(seen.get(task.armId) ?? 0) / practice);
    return start + (CHANCE_MAX - start) * learnt;
  };
  return {
    /** Returns `generations` completions of each task. Learning from these tasks affects only later calls. */
    complete(tasks: readonly Task[], generations: number): readonly (readonly string[])[] {
      const completed = tasks.map((task) => {
        const opened = open(task.taskId);
        return completions(task, opened, chanceOf(task, opened), generations);
      });
      for (const { armId } of tasks) seen.set(armId, (seen.get(armId) ?? 0) + 1);
      return completed;
    },
  };
}

function startOf(levels: readonly string[], level: string): number {
  const place = levels.indexOf(level);
  const share = place < 0 || levels.length < 2 ? 0.5 : place / (levels.length - 1);
  return CHANCE_EASIEST + (CHANCE_HARDEST - CHANCE_EASIEST) * share;
}

function completions(
  { cursor }: Task,
  { environment, instance, format, thinking }: AnyScoreTask,
  chance: number,
  generations: number,
): readonly string[] {
  // Solve the task once, and only if a completion is to be right.
  let right: string | undefined;
  const answer = (): string => {
    const { solver } = environment;
    right ??= solver?.format(solver.solve(instance).answer) ?? environment.reference?.(instance) ?? "I do not know";
    return right;
  };
  return Array.from({ length: generations }, (_, sample) => {
    const draw = rngFor("scripted", `${cursor}`, sample).float();
    if (draw < chance) return wrapAnswer(answer(), format, "…", thinking);
    // Let half of the wrong completions follow the format, so that their rewards differ too.
    return draw < (1 + chance) / 2 ? wrapAnswer("I do not know", format, "…", thinking) : "I do not know.";
  });
}
