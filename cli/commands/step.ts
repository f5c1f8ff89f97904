/** `gradus step`: scores a completion. */
import { say } from "../../server/runtime/terminal.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ChatMessage, Outcome, ScoredOutcome, Turn } from "../../clients/ts/src/public.ts";
import { OutcomeSchema, StopReason } from "../../clients/ts/src/public.ts";
import type { WrittenCall } from "../evaluation/reply.ts";
import { completionIn } from "../files.ts";
import { addConnectionOptions, type ConnectionFlags, VERIFIERS_HELP, withClient } from "../connection.ts";
import { baselineText, fields, jsonOf, number, print, printJson, table, word } from "../print.ts";
import { OTHER_KEYS } from "../local-task.ts";
import { CliProblem } from "../problem.ts";
import { wholeNumber } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
  readonly completion?: string;
  readonly file?: string;
  readonly groupId?: string;
  readonly sampleIndex: number;
  readonly call?: readonly WrittenCall[];
  readonly textTools?: boolean;
  readonly end?: boolean;
}

export function addStep(program: Command): void {
  const command = program
    .command("step")
    .argument("<task-id>", "from gradus reset")
    .addOption(new Option("--completion <text>", "the completion, without the prompt").conflicts("file"))
    .option("--file <file>", "file that holds the completion")
    .option("--group-id <id>", "the task's group; needed for a task of a run")
    .option("--sample-index <n>", "index of the completion in its group, from 0", wholeNumber(0, 2 ** 32 - 1), 0)
    .option(
      "--call <name=json>",
      `call of a tool, e.g. guess='{"code": [1, 2, 3]}'; may be given several times`,
      calledTool,
    )
    .option("--text-tools", "read calls of tools from the completion, as <tool_call>{…}</tool_call>")
    .option("--end", "end the episode after this completion, in a task with turns")
    .option("--json", "print JSON");
  addConnectionOptions(command)
    .addHelpText("after", VERIFIERS_HELP)
    .action(async (taskId: string, flags: Flags) => {
      const completion = await readCompletion(flags);
      const { sampleIndex, groupId = "", call: toolCalls, textTools: hermes, end } = flags;
      const outcome = await withClient(flags, (client) =>
        client.step({ taskId, groupId }, completion, { sampleIndex, toolCalls, hermes, end }),
      );
      if (flags.json) printJson(jsonOf(OutcomeSchema, outcome.message));
      else print(shown(outcome));
      if (outcome.kind !== "scored" && outcome.reason === "invalid_task_id" && flags.server === undefined)
        say(`gradus: ${OTHER_KEYS}`);
      if (outcome.kind !== "scored" && outcome.turn === undefined) process.exitCode = 1;
    });
}

/** Parses a call of a tool, written as name=json, and adds it to the calls given before. */
function calledTool(text: string, before: readonly WrittenCall[] = []): readonly WrittenCall[] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError(`Want name=json, e.g. guess='{"code": [1, 2, 3]}'.`);
  const id = `call${String(before.length).padStart(5, "0")}`;
  return [...before, { id, name: text.slice(0, at), argumentsJson: text.slice(at + 1) }];
}

async function readCompletion({ completion, file, call, end }: Flags): Promise<string> {
  if (completion !== undefined) return completion;
  if (file === undefined && (call !== undefined || end === true)) return "";
  if (file === undefined && process.stdin.isTTY) {
    throw new CliProblem("usage", "give the completion by --completion or --file, or pipe it in");
  }
  return completionIn(file);
}

function shown(outcome: Outcome): string {
  const { feedback } = outcome;
  const recorded = feedback === undefined ? undefined : [feedback.status, feedback.detail].join(" ").trim();
  if (outcome.kind === "scored") return scoreText(outcome, recorded);
  if (outcome.turn !== undefined) return turnText(outcome.turn);
  return fields([
    ["reward", "none"],
    ["reason", outcome.reason],
    ["resource", outcome.resource],
    ["detail", outcome.detail],
    ["feedback", recorded],
  ]);
}

/** Returns the replies after a call of an episode, and instructions for the next call. */
export function turnText({ messages, callsLeft, turnReward, taskId }: Turn): string {
  const head = fields([
    ["calls left", String(callsLeft)],
    ["turn reward", turnReward === undefined ? undefined : number(turnReward)],
    ["next task id", taskId],
  ]);
  return [head, ...messages.map(replyText)].join("\n\n");
}

export function replyText({ role, name, content }: ChatMessage): string {
  return `--- ${[role, name].join(" ").trim()}\n${content}`;
}

export function scoreText(score: ScoredOutcome, recorded: string | undefined): string {
  const { reward, verdict, solved, objective, baseline, ratio, violation, truncated, spans, info } = score;
  const head = fields([
    ["reward", number(reward)],
    ["verdict", solved ? `${verdict}, solved` : verdict],
    ["violation", violation === "" ? undefined : violation],
    ["objective", objective === undefined ? undefined : number(objective)],
    [
      "baseline",
      baseline === undefined ? undefined : baselineText({ ...baseline, proven: baseline.proof === "optimal" }),
    ],
    ["ratio", ratio === undefined ? undefined : number(ratio)],
    ["truncated", truncated ? "yes" : undefined],
    ["ended", endText(score)],
    [
      "answers",
      spans.length === 0
        ? undefined
        : spans.map(({ start, end, verdict }) => `${start} to ${end} ${verdict}`).join(", "),
    ],
    ["feedback", recorded],
    ...Object.entries(info),
  ]);
  const rows = score.components.map(({ name, value, weight }) => [
    name,
    value === undefined ? "undefined" : number(value),
    number(weight),
  ]);
  return `${head}\n\n${table(["component", "value", "weight"], rows)}`;
}

/** Returns why an episode ended, and after how many calls. Undefined: the task has no turns. */
function endText({ message: { result } }: ScoredOutcome): string | undefined {
  if (result.case !== "score" || result.value.stopReason === StopReason.UNSPECIFIED) return undefined;
  const { stopReason, calls } = result.value;
  return `${word(StopReason, stopReason)}, after ${calls} ${calls === 1 ? "call" : "calls"}`;
}
