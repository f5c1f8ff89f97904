/**
 * `gradus draw`: draws a task with an answer to it. Without a server, the picture also shows the solver's answer beside
 * an answer that is not the best. A server shows the solver's answer only to operators, with --solve. On a terminal the
 * picture goes to a file, whose path is printed. Into a pipe or a file it goes directly.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { drawCompletion, drawTask, type OutsideVerdict } from "../../pictures/draw.ts";
import { isDrawn, noPicture } from "../../pictures/drawings.ts";
import type { AnyScoreTask } from "../../envs/score.ts";
import { completionIn } from "../files.ts";
import { localOf, withClient } from "../connection.ts";
import type { Local } from "../local.ts";
import { addLocalTaskOptions, type LocalTaskFlags, openTask, solutionOf, taskIdOf } from "../local-task.ts";
import { note } from "../notes.ts";
import { isShown, show } from "../open.ts";
import { makeDirectory, writeOut } from "../out.ts";
import { print, printJson } from "../print.ts";
import { CliProblem } from "../problem.ts";

interface Flags extends LocalTaskFlags {
  readonly answer?: string;
  readonly completion?: string;
  readonly file?: string;
  readonly solve?: boolean;
  readonly out?: string;
  readonly open?: boolean;
  readonly json?: boolean;
}

export function addDraw(program: Command): void {
  const command = program
    .command("draw")
    .addOption(new Option("--answer <text>", "an answer, without marks, e.g. '[0, 2, 1]'"))
    .addOption(new Option("--completion <text>", "a completion that marks its answer").conflicts("answer"))
    .addOption(new Option("--file <file>", "file that holds a completion").conflicts(["answer", "completion"]))
    .addOption(new Option("--solve", "draw the solver's answer").conflicts(["answer", "completion", "file"]))
    .option("-o, --out <file>", "file to write (default: on a terminal one under out/, else standard output)")
    .addOption(new Option("--open", "show it (default on a desktop's terminal)").conflicts("json"))
    .addOption(new Option("--no-open", "do not show it"))
    .option("--json", "print JSON: the task id, and the SVG or, with --out, the file");
  addLocalTaskOptions(command).action(async (environment: string | undefined, flags: Flags) => {
    const { out, json, open } = flags;
    const terminal = process.stdout.isTTY;
    if (open && out === undefined && !terminal)
      throw new CliProblem(
        "usage",
        "--open needs --out, because the picture goes to standard output, which is no terminal",
      );
    const drawing =
      flags.server === undefined ? await drawnHere(environment, flags) : await drawnThere(environment, flags);
    const { svg } = drawing;
    if (json) return printDrawing(drawing, out);
    if (out === undefined && !terminal) return print(svg);
    const path = out ?? (await pathOf(drawing));
    await writeOut("--out", path, `${svg}\n`);
    if (terminal || open) print(path);
    if (!(open ?? isShown(terminal, process.env, process.platform))) return;
    const trouble = await show(path);
    if (trouble === undefined) return;
    const words = `no program on this machine can show ${path} (${trouble}): open it by hand`;
    if (open) throw new CliProblem("failure", words);
    note(`gradus: ${words}`);
  });
}

interface Drawing {
  readonly taskId: string;
  /**
   * Id of the task's environment. Unset if a server made the picture, because its reply does not name the environment.
   */
  readonly environment?: string;
  readonly version?: number;
  readonly svg: string;
}

async function printDrawing({ svg, ...of }: Drawing, out: string | undefined): Promise<void> {
  if (out !== undefined) await writeOut("--out", out, `${svg}\n`);
  printJson(out === undefined ? { ...of, svg } : { ...of, file: out });
}

/**
 * Returns a path under out/ with the environment's name and a hash of the task id, so that the same task has the same
 * path.
 */
async function pathOf({ environment = "task", taskId }: Drawing): Promise<string> {
  makeDirectory("--out", "out");
  const hash = createHash("sha256").update(taskId).digest("hex").slice(0, 8);
  return join("out", `${environment.replaceAll("/", "-")}-${hash}.svg`);
}

async function drawnHere(environment: string | undefined, flags: Flags): Promise<Drawing> {
  const local = await localOf(flags);
  const taskId = await taskIdOf(local, environment, flags);
  const task = openTask(local, taskId);
  const svg = await drawn(local, taskId, task, flags).finally(() => local.client.close());
  return { taskId, environment: task.environment.id, version: task.environment.version, svg };
}

function drawnThere(environment: string | undefined, flags: Flags): Promise<Drawing> {
  const { answer, completion, file, solve } = flags;
  return withClient(flags, async (client) => {
    const taskId = await taskIdOf({ client }, environment, flags);
    if (solve) return { taskId, svg: (await client.solveTask({ taskId }, { draw: true })).svg };
    const whole = file === undefined ? completion : await completionIn(file);
    const text = whole === undefined ? (answer === undefined ? undefined : { answer }) : { completion: whole };
    return { taskId, svg: await client.drawTask({ taskId }, text) };
  });
}

async function drawn(
  local: Local,
  taskId: string,
  task: AnyScoreTask,
  { answer, completion, file, solve }: Flags,
): Promise<string> {
  const { environment, instance, format, thinking } = task;
  if (!isDrawn(environment)) throw new CliProblem("usage", noPicture(environment.id, local.deps.registry.environments));
  if (solve && environment.asked !== undefined) return (await local.client.solveTask({ taskId }, { draw: true })).svg;
  const whole = file === undefined ? completion : await completionIn(file);
  const text = solve ? solutionOf(task).text : answer;
  if (environment.asked !== undefined) {
    const given = whole === undefined ? (text === undefined ? undefined : { answer: text }) : { completion: whole };
    return local.client.drawTask({ taskId }, given);
  }
  const verdict = await askVerdict(local, taskId, task, whole ?? (text && wrapAnswer(text, format, "", thinking)));
  const svg =
    whole === undefined
      ? drawTask(environment, instance, text, { verdict })
      : drawCompletion(environment, instance, format, whole, thinking, { verdict });
  return svg ?? "";
}

/**
 * Gets a verdict on the answer from the external service that the environment needs, such as a sandbox. Undefined: the
 * environment needs none, or there is no answer. The picture is drawn even if the service does not reply.
 */
async function askVerdict(
  { client }: Local,
  taskId: string,
  { environment }: AnyScoreTask,
  completion: string | undefined,
): Promise<OutsideVerdict | undefined> {
  if (environment.resource === undefined || completion === undefined) return undefined;
  const outcome = await client.step({ taskId, groupId: "" }, completion);
  if (outcome.kind === "unscored") return { solved: false, words: `not verified: ${outcome.detail}` };
  const { solved, violation: words, info } = outcome;
  return { solved, words, info };
}
