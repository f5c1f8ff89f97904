/**
 * A policy for a look at a run before there is a model: it answers with the solver's answer or the row's own, or that it
 * does not know.
 * The chance that it solves a task starts lower the later the task's level stands in its environment, and rises with the
 * tasks of the arm that it has seen. It transfers nothing and forgets nothing: `gradus simulate` compares policies.
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
  /** Tasks of an arm after which it has come about two thirds of its way up. */
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
    /** So many completions of each task, all by what it knew before the first. */
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
  // Solved once, and only if one of them is to be right.
  let right: string | undefined;
  const answer = (): string => {
    const { solver } = environment;
    right ??= solver?.format(solver.solve(instance).answer) ?? environment.reference?.(instance) ?? "I do not know";
    return right;
  };
  return Array.from({ length: generations }, (_, sample) => {
    const draw = rngFor("scripted", `${cursor}`, sample).float();
    if (draw < chance) return wrapAnswer(answer(), format, "…", thinking);
    // What is wrong keeps to the format or not, so that rewards differ there too.
    return draw < (1 + chance) / 2 ? wrapAnswer("I do not know", format, "…", thinking) : "I do not know.";
  });
}
