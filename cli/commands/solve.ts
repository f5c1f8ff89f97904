/** `gradus solve`: prints the solver's answer, computed in this process or by a server for its operator. */
import { type Command, Option } from "commander";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import type { AnyScoreTask } from "../../envs/score.ts";
import { Proof } from "../../clients/ts/src/public.ts";
import { localOf, withClient } from "../connection.ts";
import { addLocalTaskOptions, type LocalTaskFlags, openTask, solutionOf, taskIdOf } from "../local-task.ts";
import type { Local } from "../local.ts";
import { baselineText, fields, print, printJson } from "../print.ts";

interface Flags extends LocalTaskFlags {
  readonly json?: boolean;
  readonly asCompletion?: boolean;
}

/** Answer of the solver, as this command prints it. */
interface Solved {
  readonly taskId: string;
  /**
   * Id of the task's environment. Unset if a server solved the task, because its reply does not name the environment.
   */
  readonly environment?: string;
  readonly version?: number;
  /** The answer as a model would write it. */
  readonly answer: string;
  /** Completion that gives the answer in the task's format. */
  readonly completion: string;
  /** Best objective value known, with which answers are compared. Unset if an answer is only right or wrong. */
  readonly baseline?: { readonly value: number; readonly bound: number; readonly proven: boolean };
  /** Number of search nodes that the solver used. */
  readonly nodes: number;
}

export function addSolve(program: Command): void {
  const command = program
    .command("solve")
    .addOption(
      new Option("--as-completion", "print only a completion that gives the answer, e.g. for gradus step").conflicts(
        "json",
      ),
    )
    .option("--json", "print JSON");
  addLocalTaskOptions(command).action(async (environment: string | undefined, flags: Flags) => {
    const solved =
      flags.server === undefined ? await solvedHere(environment, flags) : await solvedThere(environment, flags);
    if (flags.json) printJson(solved);
    else print(flags.asCompletion ? solved.completion : shown(solved));
  });
}

async function solvedHere(environment: string | undefined, flags: Flags): Promise<Solved> {
  const local = await localOf(flags);
  const taskId = await taskIdOf(local, environment, flags);
  const task = openTask(local, taskId);
  if (task.environment.asked === undefined) return solve(task, taskId);
  return solvedBy(local, taskId).finally(() => local.client.close());
}

/** Asks a server for the solution, which needs the operator's role. */
function solvedThere(environment: string | undefined, flags: Flags): Promise<Solved> {
  return withClient(flags, async (client) => solvedBy({ client }, await taskIdOf({ client }, environment, flags)));
}

async function solvedBy({ client }: Pick<Local, "client">, taskId: string): Promise<Solved> {
  const { answer, completion, baseline, nodes } = await client.solveTask({ taskId });
  const known = baseline && {
    value: baseline.value,
    bound: baseline.bound,
    proven: baseline.proof === Proof.OPTIMAL,
  };
  return { taskId, answer, completion, nodes: Number(nodes), ...(known && { baseline: known }) };
}

function solve(task: AnyScoreTask, taskId: string): Solved {
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
    ["environment", environment === undefined ? undefined : `${environment}, version ${version}`],
    ["task id", taskId],
    ["answer", answer],
    ["baseline", baseline === undefined ? undefined : baselineText(baseline)],
    ["search nodes", String(nodes)],
  ]);
}
