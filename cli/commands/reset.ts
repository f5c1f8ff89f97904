/** `gradus reset`: makes and prints tasks. */
import type { Command } from "commander";
import { AnswerFormat, GradusError, Source, Split, TaskSchema, Thinking } from "../../clients/ts/src/public.ts";
import type { GradusClient, ResetResult, Task, TaskChoice } from "../../clients/ts/src/public.ts";
import { codeName } from "../../clients/ts/src/errors.ts";
import { seedOf } from "../../clients/ts/src/choices.ts";
import { addConnectionOptions, withClient } from "../connection.ts";
import type { ConnectionFlags } from "../connection.ts";
import { createBar } from "../bar.ts";
import { fields, jsonOf, jsonText, print, printed, printJson, word } from "../print.ts";
import { addTaskOptions, taskChoiceOf, wholeNumber } from "../task-options.ts";
import type { TaskFlags } from "../task-options.ts";

interface Flags extends ConnectionFlags, TaskFlags {
  readonly json?: boolean;
  readonly count?: number;
}

export function addReset(program: Command): void {
  const command = program
    .command("reset")
    .argument("<environment>", "e.g. countdown")
    .option(
      "-n, --count <n>",
      "number of tasks to make, from this seed and the following ones",
      wholeNumber(1, 100_000),
    )
    .option("--json", "print JSON; with --count a list");
  addConnectionOptions(addTaskOptions(command)).action((environment: string, flags: Flags) =>
    withClient(flags, async (client) => {
      const choice = taskChoiceOf(environment, flags);
      if (flags.count === undefined) {
        const task = await client.reset({ ...choice, seed: flags.seed });
        if (flags.json) printJson(jsonOf(TaskSchema, task));
        else print(shown(task));
        return;
      }
      await printMany(client, choice, flags.json === true, seedOf(flags.seed), flags.count);
    }),
  );
}

/**
 * Number of seeds in one call. It is small, so that the command ends soon after Ctrl-C, or when a reader such as `head`
 * closes the pipe.
 */
const seedsPerCall = 32;

/** Prints tasks as they are made. Shows a progress bar if the tasks go to a file or a pipe. */
async function printMany(
  client: GradusClient,
  choice: TaskChoice,
  json: boolean,
  first: bigint,
  count: number,
): Promise<void> {
  const bar = createBar({
    done: 0,
    total: count,
    format: "{bar} {value}/{total} tasks  {left}",
    shown: count > seedsPerCall && !process.stdout.isTTY,
  });
  let any = false;
  const printTasks = async (tasks: readonly Task[]): Promise<void> => {
    if (tasks.length === 0) return;
    const before = any ? (json ? "," : "\n") : json ? "[" : "";
    any = true;
    await printed(before + (json ? listItems(tasks) : `${tasks.map(shown).join("\n\n")}\n`));
    bar.update(tasks.length);
  };
  try {
    for (let done = 0; done < count; done += seedsPerCall) {
      const start = first + BigInt(done);
      const seeds = Array.from({ length: Math.min(seedsPerCall, count - done) }, (_, i) => start + BigInt(i));
      const { tasks, failure } = upToFailure(await client.batchReset({ ...choice, seeds }));
      await printTasks(tasks);
      if (failure !== undefined) throw failure;
    }
  } finally {
    // End the JSON list properly even after a failure. The exit code tells that tasks are missing.
    if (json && any) await printed("\n]\n");
    bar.stop();
  }
}

/** Returns the items of a JSON list, without its brackets. */
function listItems(tasks: readonly Task[]): string {
  const list = jsonText(
    tasks.map((task) => jsonOf(TaskSchema, task)),
    2,
  );
  return list.slice(1, -2);
}

/** Returns the tasks before the first seed that has no task, and the reason why that seed has none. */
function upToFailure(results: readonly ResetResult[]): { readonly tasks: readonly Task[]; failure?: GradusError } {
  const tasks: Task[] = [];
  for (const { seed, result } of results) {
    if (result.case !== "task") {
      const { code = 2, message = "the server sent no task" } = result.value ?? {};
      return { tasks, failure: new GradusError(codeName(code), `seed ${seed}: ${message}`) };
    }
    tasks.push(result.value);
  }
  return { tasks };
}

function shown(task: Task): string {
  const head = fields([
    ["environment", `${task.environment}, version ${task.version}`],
    ["level", task.level === "" ? "by parameters" : task.level],
    ["split", word(Split, task.split)],
    ["source", word(Source, task.source)],
    ["answer format", word(AnswerFormat, task.answerFormat)],
    ["thinking", word(Thinking, task.thinking)],
    ["calls", task.callsMax === 0 ? undefined : String(task.callsMax)],
    ["tools", task.tools.length === 0 ? undefined : task.tools.map(({ name }) => name).join(", ")],
    ["task id", task.taskId],
    ["group id", task.groupId],
  ]);
  return [head, ...task.prompt.map(({ role, content }) => `--- ${role}\n${content}`)].join("\n\n");
}
