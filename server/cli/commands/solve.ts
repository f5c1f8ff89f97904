/** gradus solve: the answer that the environment's solver gives. Always here: no answer ever goes over the wire. */
import type { Command } from "commander";
import { Option } from "commander";
import { wrapAnswer } from "../../../envs/answer-format.ts";
import type { Solution } from "../../../envs/environment.ts";
import type { ScoreTask } from "../../../envs/score.ts";
import { addLocalOptions, localOf } from "../connection.ts";
import type { LocalFlags } from "../connection.ts";
import type { Local } from "../local.ts";
import { baselineText, fields, print, printJson } from "../print.ts";
import { CliProblem, problemOf } from "../problem.ts";
import { addTaskOptions, taskChoiceOf } from "../task-options.ts";
import type { TaskFlags } from "../task-options.ts";

interface Flags extends LocalFlags, TaskFlags {
  readonly json?: boolean;
  readonly taskId?: string;
  readonly completion?: boolean;
}

/** What was found, in plain values. */
interface Solved {
  readonly taskId: string;
  readonly environment: string;
  readonly version: number;
  /** As a model would write it. */
  readonly answer: string;
  /** A whole completion that gives the answer in the task's format. */
  readonly completion: string;
  /** What answers are measured against; left out where an answer is right or not. */
  readonly baseline?: { readonly value: number; readonly bound: number; readonly proven: boolean };
  /** Search nodes that the solver used. */
  readonly nodes: number;
}

export function addSolve(program: Command): void {
  const command = program
    .command("solve")
    .description("solve a task with the environment's own solver, in this process")
    .argument("[environment]", "e.g. np/tsp; left out with --task-id")
    .option("--task-id <id>", "a task from gradus reset, in place of an environment and a seed")
    .addOption(new Option("--completion", "print only the completion, e.g. for gradus step").conflicts("json"))
    .option("--json", "print JSON");
  addLocalOptions(addTaskOptions(command)).action(async (environment: string | undefined, flags: Flags) => {
    const local = await localOf(flags);
    const taskId = await taskIdOf(local, environment, flags);
    const solved = solve(local, taskId);
    if (flags.json) printJson(solved);
    else print(flags.completion ? solved.completion : shown(solved));
  });
}

async function taskIdOf({ client }: Local, environment: string | undefined, flags: Flags): Promise<string> {
  if ((environment === undefined) === (flags.taskId === undefined)) {
    throw new CliProblem("usage", "give either an environment or --task-id");
  }
  if (environment === undefined) return flags.taskId as string;
  try {
    return (await client.reset({ ...taskChoiceOf(environment, flags), seed: flags.seed })).taskId;
  } catch (error) {
    throw problemOf(error, undefined);
  }
}

function solve({ deps }: Local, taskId: string): Solved {
  const task = deps.scorer.open(taskId);
  if (task.kind === "none") throw new CliProblem("failure", task.detail);
  const { environment, instance, format } = task.scoring;
  const { answer, value, bound, proven, nodes } = solutionOf(task.scoring, instance);
  const text = environment.format(answer);
  return {
    ...{ taskId, environment: environment.id, version: environment.version },
    ...{ answer: text, completion: wrapAnswer(text, format), nodes },
    ...(environment.goal === "satisfy" ? {} : { baseline: { value, bound, proven } }),
  };
}

function solutionOf({ environment }: ScoreTask, instance: unknown): Solution<unknown> {
  if (environment.solver === undefined) throw new CliProblem("usage", `${environment.id} has no solver`);
  return environment.solver.solve(instance);
}

function shown({ taskId, environment, version, answer, baseline, nodes }: Solved): string {
  return fields([
    ["environment", `${environment}, version ${version}`],
    ["task id", taskId],
    ["answer", answer],
    ["baseline", baseline === undefined ? undefined : baselineText(baseline)],
    ["search nodes", String(nodes)],
  ]);
}
