/** `gradus run samples` and `gradus run delete-samples`: show and delete completions that a run keeps. */
import { type Command, InvalidArgumentError, Option } from "commander";
import {
  type KeptSample,
  NoRewardReason,
  RunSampleSchema,
  type SampleFilterChoice,
} from "../../../clients/ts/src/public.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import { addServerOptions, collect, type ConnectionFlags, withServer } from "../../connection.ts";
import { jsonOf, jsonText, number, print, printed, printJson } from "../../print.ts";
import { anyNumber, wholeNumber } from "../../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly arm?: string;
  readonly group?: string;
  readonly updateBatch?: number;
  readonly verdict?: NonNullable<SampleFilterChoice["verdicts"]>;
  readonly violation?: string;
  readonly violationTemplate?: string;
  readonly rewardMin?: number;
  readonly rewardMax?: number;
  readonly text?: string;
  readonly solved?: boolean;
  readonly truncated?: boolean;
  /** Reason for a missing reward, by which completions are selected, or true for any reason. */
  readonly missingReward?: NonNullable<SampleFilterChoice["noRewardReasons"]>[number] | true;
  readonly limit: number;
  readonly json?: boolean;
}

const REASONS = Object.values(NoRewardReason)
  .filter((name) => typeof name === "string" && name !== "UNSPECIFIED")
  .map((name) => String(name).toLowerCase());
const VERDICTS = ["malformed", "infeasible", "feasible", "graded"];

function addVerdict(text: string, before: readonly string[] | undefined): readonly string[] {
  if (VERDICTS.includes(text)) return collect(text, before);
  throw new InvalidArgumentError(`Allowed choices are ${VERDICTS.join(", ")}.`);
}

export function addSamples(group: Command): void {
  const list = group
    .command("samples")
    .description("show completions that a run keeps, the newest first; a server keeps some with --keep-samples")
    .argument("<run>", "its id")
    .option("--arm <id>", "only completions of this arm")
    .option("--group <id>", "only completions of this group")
    .option("--update-batch <n>", "only completions of this update batch, from 0", wholeNumber(0, 2 ** 53 - 1))
    .addOption(
      new Option("--verdict <verdict>", "only completions with this verdict; may be given several times")
        .choices(VERDICTS)
        // Replace the parser that `choices` sets, which keeps only the last of several values.
        .argParser(addVerdict),
    )
    .option("--violation <words>", "only completions whose violation contains these words")
    .option(
      "--violation-template <text>",
      "only completions whose violation has this template, as gradus run problems prints it",
    )
    .option("--reward-min <n>", "only completions with at least this reward", anyNumber)
    .option("--reward-max <n>", "only completions with at most this reward", anyNumber)
    .option("--solved", "only solved completions")
    .option("--no-solved", "only completions that are not solved")
    .option("--truncated", "only completions that were cut off")
    .option("--no-truncated", "only scored completions that were not cut off")
    .addOption(
      new Option("--missing-reward [reason]", "only completions without a reward, for this or any reason").choices(
        REASONS,
      ),
    )
    .option("--text <words>", "only completions that contain these words")
    .option("--limit <n>", "maximum number of completions to show", wholeNumber(1, 1_000_000), 20)
    .option("--json", "print JSON, one of the contract's RunSample a line");
  addServerOptions(list).action(samples);

  const remove = group
    .command("delete-samples")
    .description("delete the completions that a run keeps; the run goes on")
    .argument("<run>", "its id")
    .option("--json", "print JSON");
  addServerOptions(remove).action(async (id: string, flags: Flags) => {
    await withServer(flags, (client) => client.run(id).deleteSamples());
    if (flags.json) printJson({ deleted: id });
    else print(`the completions of ${id} are deleted`);
  });
}

async function samples(id: string, flags: Flags): Promise<void> {
  const { arm: armId, group: groupId, verdict: verdicts, limit, json } = flags;
  const { violation, violationTemplate, rewardMin, rewardMax, solved, truncated, missingReward, text } = flags;
  const noReward = missingReward === undefined ? undefined : true;
  const noRewardReasons = missingReward === undefined || missingReward === true ? [] : [missingReward];
  const updateBatch = flags.updateBatch === undefined ? undefined : BigInt(flags.updateBatch);
  const ofReward = { verdicts, rewardMin, rewardMax, noReward, noRewardReasons, solved, truncated };
  const filter = { armId, groupId, updateBatch, violation, violationTemplate, text, ...ofReward };
  await withServer(flags, async (client) => {
    let shown = 0;
    for await (const sample of client.run(id).samples({ ...filter, pageSize: Math.min(limit, 100) })) {
      await printed(json ? `${jsonText(jsonOf(RunSampleSchema, sample.message))}\n` : `${wordsOf(sample)}\n\n`);
      if (++shown === limit) return;
    }
    if (shown === 0 && !json)
      print("no completions: a server keeps completions only if it was started with --keep-samples");
  });
}

function wordsOf({ number: name, armId, cursor, sampleIndex, outcome, completion }: KeptSample): string {
  const head = [`#${name}`, armId, `task ${cursor}`, `sample ${sampleIndex}`];
  if (outcome?.kind === "scored") head.push(`reward ${number(outcome.reward)}`, outcome.verdict);
  if (outcome?.kind === "scored" && outcome.violation !== "") head.push(outcome.violation);
  if (outcome?.kind === "unscored") head.push("no reward", outcome.detail);
  if (outcome?.grpoAdvantage !== undefined) head.push(`advantage ${number(outcome.grpoAdvantage)}`);
  return `${head.join(" · ")}\n${harmless(completion).replaceAll(/^/gm, "  ")}`;
}

/** Escapes control characters, so that a model's text cannot control the terminal. */
function harmless(text: string): string {
  return text.split("\n").map(escaped).join("\n");
}
