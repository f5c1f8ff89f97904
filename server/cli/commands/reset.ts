/** gradus reset: tasks. */
import type { Command } from "commander";
import { AnswerFormat, GradusError, Source, Split, TaskSchema, Thinking } from "../../../clients/ts/src/public.ts";
import type { GradusClient, ResetResult, Task, TaskChoice } from "../../../clients/ts/src/public.ts";
import { codeName } from "../../../clients/ts/src/errors.ts";
import { seedOf } from "../../../clients/ts/src/choices.ts";
import { addConnectionOptions, withClient } from "../connection.ts";
import type { ConnectionFlags } from "../connection.ts";
import { createBar } from "../bar.ts";
import { fields, jsonOf, print, printJson, printed, word } from "../print.ts";
import { addTaskOptions, taskChoiceOf, wholeNumber } from "../task-options.ts";
import type { TaskFlags } from "../task-options.ts";

interface Flags extends ConnectionFlags, TaskFlags {
  readonly json?: boolean;
  readonly count?: number;
}

export function addReset(program: Command): void {
  const command = program
    .command("reset")
    .description("make tasks: prompts, with the task ids to score completions by")
    .argument("<environment>", "e.g. countdown")
    .option("-n, --count <number>", "make this many, of the seed and those after it", wholeNumber(1, 100_000))
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

/** Seeds of one call: few, so that a reader that leaves, or Ctrl-C, does not wait for long. */
const seedsPerCall = 32;

/** Prints tasks as they are made, with a bar beside them where they go to a file or a pipe. */
async function printMany(
  client: GradusClient,
  choice: TaskChoice,
  json: boolean,
  first: bigint,
  count: number,
): Promise<void> {
  const bar = createBar({
    ...{ done: 0, total: count, format: "{bar} {value}/{total} tasks  {eta_formatted} left" },
    shown: count > seedsPerCall && !process.stdout.isTTY,
  });
  try {
    for (let done = 0; done < count;) {
      const start = first + BigInt(done);
      const seeds = Array.from({ length: Math.min(seedsPerCall, count - done) }, (_, i) => start + BigInt(i));
      const tasks = (await client.batchReset({ ...choice, seeds })).map(taskOf);
      const before = done === 0 ? (json ? "[" : "") : json ? "," : "\n";
      await printed(before + (json ? listItems(tasks) : `${tasks.map(shown).join("\n\n")}\n`));
      done += seeds.length;
      bar.update(seeds.length);
    }
    if (json) await printed("\n]\n");
  } finally {
    bar.stop();
  }
}

/** As JSON.stringify would write them in a list. */
function listItems(tasks: readonly Task[]): string {
  const list = JSON.stringify(
    tasks.map((task) => jsonOf(TaskSchema, task)),
    undefined,
    2,
  );
  return list.slice(1, -2);
}

function taskOf({ seed, result }: ResetResult): Task {
  if (result.case === "task") return result.value;
  const { code = 2, message = "the server gave no task" } = result.value ?? {};
  throw new GradusError(codeName(code), `seed ${seed}: ${message}`);
}

function shown(task: Task): string {
  const head = fields([
    ["environment", `${task.environment}, version ${task.version}`],
    ["level", task.level === "" ? "by parameters" : task.level],
    ["split", word(Split, task.split)],
    ["source", word(Source, task.source)],
    ["answer format", word(AnswerFormat, task.answerFormat)],
    ["thinking", word(Thinking, task.thinking)],
    ["task id", task.taskId],
    ["group id", task.groupId],
  ]);
  return [head, ...task.prompt.map(({ role, content }) => `--- ${role}\n${content}`)].join("\n\n");
}
