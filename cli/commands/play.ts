/** `gradus play`: lets a person play a task on standard input, call by call. No run records the calls. */
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { GradusClient, Task, Tool } from "../../clients/ts/src/public.ts";
import { addConnectionOptions, VERIFIERS_HELP, withClient, type ConnectionFlags } from "../connection.ts";
import { print } from "../print.ts";
import { addTaskOptions, taskChoiceOf, type TaskFlags } from "../task-options.ts";
import { replyText, scoreText } from "./step.ts";

type Flags = ConnectionFlags & TaskFlags;

const HELP = `
Each line is a call: an answer without its marks, or a tool's name and its arguments, e.g.
  guess {"code": [1, 2, 3]}
The end of the input (Ctrl-D) ends the episode.`;

export function addPlay(program: Command): void {
  const command = program.command("play").argument("<environment>", "e.g. games/mastermind");
  addConnectionOptions(addTaskOptions(command))
    .addHelpText("after", HELP + VERIFIERS_HELP)
    .action((environment: string, flags: Flags) =>
      withClient(flags, async (client) => {
        const task = await client.reset({ ...taskChoiceOf(environment, flags), seed: flags.seed });
        await play(client, task);
      }),
    );
}

async function play(client: GradusClient, task: Task): Promise<void> {
  print(task.prompt.map(replyText).join("\n\n"));
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  let [taskId, callsLeft] = [task.taskId, task.callsMax];
  try {
    for (;;) {
      print(callsLeft === 0 ? "\nYour answer:" : `\nYour call, of ${callsLeft} left:`);
      const line = await lines.next();
      if (line.done === true && task.callsMax === 0) return;
      const given = line.done === true ? { end: true } : givenIn(line.value, task.tools);
      const { outcome } = await client.tryAnswer({ taskId }, given);
      if (outcome.kind === "scored") {
        print(`\n${scoreText(outcome, undefined)}`);
        return;
      }
      print(outcome.turn === undefined ? outcome.detail : outcome.turn.messages.map(replyText).join("\n\n"));
      // Stay at the same call if the outcome has neither a reward nor a next turn, e.g. after a failure. The player can
      // then repeat the call.
      if (outcome.turn !== undefined) ({ taskId, callsLeft } = outcome.turn);
      else if (line.done === true || outcome.retryDelayMs === undefined) process.exitCode = 1;
      if (process.exitCode === 1) return;
    }
  } finally {
    input.close();
  }
}

/** Returns what the player typed: a call of a tool if the line begins with a tool's name, and otherwise an answer. */
function givenIn(line: string, tools: readonly Tool[]) {
  const [, name = "", text = ""] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? [];
  if (!tools.some((tool) => tool.name === name)) return { answer: line };
  return { toolCalls: [{ id: "call00000", name, argumentsJson: text === "" ? "{}" : text }] };
}
