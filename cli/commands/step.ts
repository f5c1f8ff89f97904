/** `gradus step`: scores a completion. */
import { say } from "../../server/runtime/terminal.ts";
import { type Command, Option } from "commander";
import { type Outcome, OutcomeSchema, type ScoredOutcome } from "../../clients/ts/src/public.ts";
import { completionIn } from "../files.ts";
import { addConnectionOptions, type ConnectionFlags, VERIFIERS_HELP, withClient } from "../connection.ts";
import { baselineText, fields, jsonOf, number, print, printJson, table } from "../print.ts";
import { OTHER_KEYS } from "../local-task.ts";
import { CliProblem } from "../problem.ts";
import { wholeNumber } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
  readonly completion?: string;
  readonly file?: string;
  readonly groupId?: string;
  readonly sampleIndex: number;
}

export function addStep(program: Command): void {
  const command = program
    .command("step")
    .argument("<task-id>", "from gradus reset")
    .addOption(new Option("--completion <text>", "the completion, without the prompt").conflicts("file"))
    .option("--file <file>", "file that holds the completion")
    .option("--group-id <id>", "the task's group; needed for a task of a run")
    .option("--sample-index <n>", "index of the completion in its group, from 0", wholeNumber(0, 2 ** 32 - 1), 0)
    .option("--json", "print JSON");
  addConnectionOptions(command)
    .addHelpText("after", VERIFIERS_HELP)
    .action(async (taskId: string, flags: Flags) => {
      const completion = await readCompletion(flags);
      const { sampleIndex, groupId = "" } = flags;
      const outcome = await withClient(flags, (client) =>
        client.step({ taskId, groupId }, completion, { sampleIndex }),
      );
      if (flags.json) printJson(jsonOf(OutcomeSchema, outcome.message));
      else print(shown(outcome));
      if (outcome.kind !== "scored" && outcome.reason === "invalid_task_id" && flags.server === undefined)
        say(`gradus: ${OTHER_KEYS}`);
      if (outcome.kind !== "scored") process.exitCode = 1;
    });
}

async function readCompletion({ completion, file }: Flags): Promise<string> {
  if (completion !== undefined) return completion;
  if (file === undefined && process.stdin.isTTY) {
    throw new CliProblem("usage", "give the completion by --completion or --file, or pipe it in");
  }
  return completionIn(file);
}

function shown(outcome: Outcome): string {
  const { feedback } = outcome;
  const recorded = feedback === undefined ? undefined : [feedback.status, feedback.detail].join(" ").trim();
  if (outcome.kind === "scored") return scoreText(outcome, recorded);
  return fields([
    ["reward", "none"],
    ["reason", outcome.reason],
    ["resource", outcome.resource],
    ["detail", outcome.detail],
    ["feedback", recorded],
  ]);
}

function scoreText(score: ScoredOutcome, recorded: string | undefined): string {
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
