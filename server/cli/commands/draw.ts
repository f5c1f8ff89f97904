/** gradus draw: a picture of a task and of an answer to it. Always here: it may show the solver's answer. */
import { Option } from "commander";
import type { Command } from "commander";
import { drawCompletion, drawTask } from "../../../envs/draw.ts";
import type { ScoreTask } from "../../../envs/score.ts";
import { completionIn } from "../completion.ts";
import { localOf } from "../connection.ts";
import { addLocalTaskOptions, openTask, solutionOf, taskIdOf } from "../local-task.ts";
import type { LocalTaskFlags } from "../local-task.ts";
import { writeOut } from "../out.ts";
import { print } from "../print.ts";
import { CliProblem } from "../problem.ts";

interface Flags extends LocalTaskFlags {
  readonly answer?: string;
  readonly completion?: string;
  readonly file?: string;
  readonly solve?: boolean;
  readonly out?: string;
}

export function addDraw(program: Command): void {
  const command = program
    .command("draw")
    .description("draw a task, and an answer to it, as SVG: it shows why the answer is infeasible or not the best")
    .addOption(new Option("--answer <text>", "an answer, without marks, e.g. '[0, 2, 1]'"))
    .addOption(new Option("--completion <text>", "a completion that marks its answer").conflicts("answer"))
    .addOption(new Option("--file <path>", "file that holds a completion").conflicts(["answer", "completion"]))
    .addOption(new Option("--solve", "draw the solver's answer").conflicts(["answer", "completion", "file"]))
    .option("-o, --out <path>", "file to write (default: standard output)");
  addLocalTaskOptions(command).action(async (environment: string | undefined, flags: Flags) => {
    const local = await localOf(flags);
    const svg = await drawn(openTask(local, await taskIdOf(local, environment, flags)), flags);
    if (flags.out === undefined) print(svg);
    else await writeOut("--out", flags.out, `${svg}\n`);
  });
}

async function drawn(task: ScoreTask, { answer, completion, file, solve }: Flags): Promise<string> {
  const { environment, instance, format } = task;
  const whole = file === undefined ? completion : await completionIn(file);
  const svg =
    whole === undefined
      ? drawTask(environment, instance, solve ? solutionOf(task).text : answer)
      : drawCompletion(environment, instance, format, whole);
  if (svg === undefined) throw new CliProblem("usage", `${environment.id} draws no pictures`);
  return svg;
}
