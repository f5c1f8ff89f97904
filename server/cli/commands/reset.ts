/** gradus reset: tasks. */
import type { Command } from "commander";
import { AnswerFormat, GradusError, Source, Split, TaskSchema } from "../../../clients/ts/src/public.ts";
import type { GradusClient, ResetResult, Task, TaskChoice } from "../../../clients/ts/src/public.ts";
import { codeName } from "../../../clients/ts/src/errors.ts";
import { seedOf } from "../../../clients/ts/src/choices.ts";
import { addConnectionOptions, withClient } from "../connection.ts";
import type { ConnectionFlags } from "../connection.ts";
import { fields, jsonOf, print, printJson, word } from "../print.ts";
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
      const tasks = await many(client, choice, seedOf(flags.seed), flags.count);
      if (flags.json) printJson(tasks.map((task) => jsonOf(TaskSchema, task)));
      else print(tasks.map(shown).join("\n\n"));
    }),
  );
}

/** Seeds of one call: within a server's default limit. */
const seedsPerCall = 256;

async function many(client: GradusClient, choice: TaskChoice, first: bigint, count: number): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  while (tasks.length < count) {
    const start = first + BigInt(tasks.length);
    const seeds = Array.from({ length: Math.min(seedsPerCall, count - tasks.length) }, (_, i) => start + BigInt(i));
    tasks.push(...(await client.batchReset({ ...choice, seeds })).map(taskOf));
  }
  return tasks;
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
    ["task id", task.taskId],
    ["group id", task.groupId],
  ]);
  return [head, ...task.prompt.map(({ role, content }) => `--- ${role}\n${content}`)].join("\n\n");
}
