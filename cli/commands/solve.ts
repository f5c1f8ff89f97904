/** gradus solve: the answer that the environment's solver gives. Always here: no answer ever goes over the wire. */
import { type Command, Option } from "commander";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { localOf } from "../connection.ts";
import { addLocalTaskOptions, type LocalTaskFlags, openTask, solutionOf, taskIdOf } from "../local-task.ts";
import type { Local } from "../local.ts";
import { baselineText, fields, print, printJson } from "../print.ts";

interface Flags extends LocalTaskFlags {
  readonly json?: boolean;
  readonly asCompletion?: boolean;
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
    .addOption(
      new Option("--as-completion", "print only a completion that gives the answer, e.g. for gradus step").conflicts(
        "json",
      ),
    )
    .option("--json", "print JSON");
  addLocalTaskOptions(command).action(async (environment: string | undefined, flags: Flags) => {
    const local = await localOf(flags);
    const taskId = await taskIdOf(local, environment, flags);
    const solved = solve(local, taskId);
    if (flags.json) printJson(solved);
    else print(flags.asCompletion ? solved.completion : shown(solved));
  });
}

function solve(local: Local, taskId: string): Solved {
  const task = openTask(local, taskId);
  const { environment, format, thinking } = task;
  const { text, value, bound, proven, nodes } = solutionOf(task);
  return {
    taskId,
    environment: environment.id,
    version: environment.version,
    answer: text,
    completion: wrapAnswer(text, format, "", thinking),
    nodes,
    ...(environment.goal === "satisfy" ? {} : { baseline: { value, bound, proven } }),
  };
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
