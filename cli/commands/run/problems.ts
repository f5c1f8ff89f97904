/** `gradus run problems`: shows what is wrong with the completions of a run, and signs that its reward is exploited. */
import type { Command } from "commander";
import {
  type ArmViolations,
  binWords,
  type GetViolationsResponse,
  GetViolationsResponseSchema,
  lengthFigure,
  NoRewardReason,
  type SampleSums,
  signWords,
  Verdict,
  type ViolationCount,
} from "../../../clients/ts/src/public.ts";
import { addServerOptions, type ConnectionFlags, withServer } from "../../connection.ts";
import { jsonOf, number, print, printJson, table, word } from "../../print.ts";
import { bar } from "../../runs/lines.ts";

interface Flags extends ConnectionFlags {
  readonly arm?: string;
  readonly json?: boolean;
}

/** Number of violations of all arms together that are shown. */
const VIOLATIONS_SHOWN = 16;
const BAR_COLUMNS = 20;

export function addProblems(group: Command): void {
  const command = group
    .command("problems")
    .description("show what is wrong with a run's completions; a server counts it while it keeps samples")
    .argument("<run>", "its id")
    .option("--arm <id>", "this arm alone, with all its violations")
    .option("--json", "print JSON: the contract's GetViolationsResponse");
  addServerOptions(command).action(async (id: string, { arm, json, ...flags }: Flags) => {
    const found = await withServer(flags, (client) => client.run(id).violations(arm));
    if (json) printJson(jsonOf(GetViolationsResponseSchema, found));
    else print(problemsText(id, found, arm));
  });
}

function problemsText(id: string, { total, arms, stretchTasks, counted }: GetViolationsResponse, arm?: string): string {
  const shown = arm === undefined ? total : arms[0];
  if (shown?.sums === undefined || shown.sums.samples === 0n)
    return counted
      ? `no samples of ${arm ?? id} are counted yet`
      : "no samples are counted: a server counts them with --keep-samples";
  const [most] = shown.violations;
  const signs = arms.flatMap((each) => each.signs.map((sign) => `${each.armId}: ${signWords(sign)}`));
  const parts = [
    [arm ?? id, sumsText(shown.sums)],
    ["signs that the reward is exploited (look at samples to know)", signs.join("\n")],
    ["problems", problemsTable(shown, arm === undefined ? VIOLATIONS_SHOWN : Infinity)],
    [
      most === undefined ? "" : "to see samples of a violation",
      most === undefined ? "" : samplesCommand(id, most, arm),
    ],
    ["rewards", rewardsTable(shown)],
    [`over time, by ${stretchTasks} tasks`, stretchesTable(shown)],
    ["arms", arm === undefined ? armsTable(arms) : ""],
  ];
  return parts.flatMap(([head = "", text = ""]) => (text === "" ? [] : [`${head}\n${text}`])).join("\n\n");
}

/**
 * Returns the command that lists the samples with a violation. The template (the violation's text with its numbers and
 * names left out) is quoted for the shell.
 */
function samplesCommand(id: string, { verdict, template }: ViolationCount, arm?: string): string {
  const ofArm = arm === undefined ? "" : ` --arm ${arm}`;
  const quoted = `'${template.replaceAll("'", "'\\''")}'`;
  return `gradus run samples ${id}${ofArm} --verdict ${word(Verdict, verdict)} --violation-template ${quoted}`;
}

const share = (part: bigint, whole: bigint): number => (whole === 0n ? 0 : Number(part) / Number(whole));

/** Formats a share with two significant digits below 10%, because many violations are rare. */
const percent = (value: number): string => `${Number((100 * value).toPrecision(value < 0.095 ? 2 : 3))}%`;

/** Returns the cells of a count: the number, its share, and a bar. */
const countCells = (count: bigint, whole: bigint): readonly [string, string, string] => {
  const part = share(count, whole);
  return [String(count), percent(part), bar(part, BAR_COLUMNS)];
};

const mean = (value: number | undefined): string => (value === undefined ? "–" : number(value));

function lengthText({ lengths }: SampleSums): string {
  const figure = lengthFigure(lengths);
  return figure === undefined ? "–" : `${Math.round(figure.mean)} ${figure.unit}`;
}

function sumsText(sums: SampleSums): string {
  const { samples, scored, solved, truncated, rewardMean } = sums;
  const shares = [
    `${percent(share(solved, scored))} solved`,
    `${percent(share(truncated, scored))} truncated`,
    `${percent(share(samples - scored, samples))} without a reward`,
  ];
  return `${samples} samples, ${shares.join(", ")}, mean reward ${mean(rewardMean)}, mean length ${lengthText(sums)}`;
}

/** Returns a table of violations and of reasons for missing rewards. Shares are of all samples. */
function problemsTable({ sums, violations, otherViolations, missingRewards }: ArmViolations, most: number): string {
  const cells = (count: bigint, kind: string, text: string) => [...countCells(count, sums?.samples ?? 0n), kind, text];
  const others = violations.slice(most).reduce((sum, { count }) => sum + count, otherViolations);
  const rows = [
    ...violations.slice(0, most).map(({ count, verdict, template }) => cells(count, word(Verdict, verdict), template)),
    ...(others > 0n ? [cells(others, "", "(others)")] : []),
    ...missingRewards.map(({ count, reason }) => cells(count, "no reward", word(NoRewardReason, reason))),
  ];
  return rows.length === 0 ? "" : table(["samples", "share", "", "kind", "problem"], rows);
}

function rewardsTable({ sums: all, rewards }: ArmViolations): string {
  const rows = rewards.flatMap((bin) => {
    const { sums } = bin;
    return sums === undefined ? [] : [[binWords(bin), ...countCells(sums.scored, all?.scored ?? 0n), lengthText(sums)]];
  });
  return rows.length === 0 ? "" : table(["reward", "samples", "share", "", "mean length"], rows);
}

/**
 * Returns the table row for the samples of an arm, or of a stretch of consecutive tasks, with their most frequent
 * violation.
 */
function rowOf(name: string, sums: SampleSums, count: bigint, template: string): readonly string[] {
  const { samples, scored, solved, truncated, rewardMean } = sums;
  const shares = [share(solved, scored), share(truncated, scored), share(samples - scored, samples)].map(percent);
  const violation = count === 0n ? "" : `${percent(share(count, scored))} ${template}`;
  return [name, String(samples), ...shares, mean(rewardMean), lengthText(sums), violation];
}

const COLUMNS = ["samples", "solved", "truncated", "no reward", "reward", "length", "most frequent violation"];

function stretchesTable({ stretches, violations }: ArmViolations): string {
  if (stretches.length < 2) return "";
  const rows = stretches.flatMap(({ cursor, sums }, at) => {
    const here = violations.map((each) => ({ ...each, count: each.stretches[at] ?? 0n }));
    const [most] = here.sort((one, other) => Number(other.count - one.count));
    return sums === undefined ? [] : [rowOf(String(cursor), sums, most?.count ?? 0n, most?.template ?? "")];
  });
  return table(["task", ...COLUMNS], rows);
}

function armsTable(arms: readonly ArmViolations[]): string {
  const rows = arms.flatMap(({ armId, sums, violations: [most] }) =>
    sums === undefined ? [] : [rowOf(armId, sums, most?.count ?? 0n, most?.template ?? "")],
  );
  return table(["arm", ...COLUMNS], rows);
}
