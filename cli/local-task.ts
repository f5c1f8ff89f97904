/** Chooses and opens tasks for commands such as `gradus solve`. */
import type { Command } from "commander";
import type { AnyScoreTask } from "../envs/score.ts";
import type { GradusClient } from "../clients/ts/src/public.ts";
import { addConnectionOptions, type ConnectionFlags } from "./connection.ts";
import type { Local } from "./local.ts";
import { CliProblem, problemOf } from "./problem.ts";
import { addTaskOptions, taskChoiceOf, type TaskFlags } from "./task-options.ts";

export interface LocalTaskFlags extends ConnectionFlags, TaskFlags {
  readonly taskId?: string;
}

/** Adds the options that choose one task: an environment and a seed, or a task id. */
export function addLocalTaskOptions(command: Command): Command {
  command
    .argument("[environment]", "e.g. np/tsp; left out with --task-id")
    .option("--task-id <id>", "a task from gradus reset, in place of an environment and a seed");
  return addConnectionOptions(addTaskOptions(command));
}

export async function taskIdOf(
  { client }: { readonly client: GradusClient },
  environment: string | undefined,
  flags: LocalTaskFlags,
): Promise<string> {
  if ((environment === undefined) === (flags.taskId === undefined)) {
    throw new CliProblem("usage", "give either an environment or --task-id");
  }
  if (environment === undefined) return flags.taskId as string;
  try {
    return (await client.reset({ ...taskChoiceOf(environment, flags), seed: flags.seed })).taskId;
  } catch (error) {
    throw problemOf(error, flags.server);
  }
}

/** Instruction for the user if no key of this process signed a task id, so that the id cannot be opened. */
export const OTHER_KEYS =
  "only the keys that signed a task id open it: give the --data-dir or --key-file of its server, or --server";

/** Returns the task that a task id contains. Fails unless a key of this process signed the id. */
export function openTask({ deps }: Local, taskId: string): AnyScoreTask {
  const task = deps.scorer.open(taskId);
  if (task.kind === "none") throw new CliProblem("failure", `${task.detail}: ${OTHER_KEYS}`);
  return task.scoring;
}

/** Returns the answer of the environment's solver. `text` is the answer as a model would write it. */
export function solutionOf({ environment: { id, solver }, instance }: AnyScoreTask) {
  if (solver === undefined) throw new CliProblem("usage", `${id} has no solver`);
  const solution = solver.solve(instance);
  return { ...solution, text: solver.format(solution.answer) };
}
