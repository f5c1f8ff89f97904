/**
 * `gradus rescore`: scores stored completions again, e.g. under other weights of the reward or by another judge. Scored
 * groups are kept, so it can be resumed.
 */
import { type Command, Option } from "commander";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GradusClient, RescoreChoice } from "../../clients/ts/src/public.ts";
import { createBar } from "../bar.ts";
import {
  addConnectionOptions,
  addSuiteOptions,
  collect,
  type ConnectionFlags,
  VERIFIERS_HELP,
  withClient,
} from "../connection.ts";
import { note } from "../notes.ts";
import { makeDirectory, withOut, writeOut } from "../out.ts";
import { print, printJson } from "../print.ts";
import { CliProblem } from "../problem.ts";
import type { StoredGroup } from "../rescore/rows.ts";
import type { ScoredGroup } from "../rescore/score.ts";
import type { Kept } from "../rescore/snapshot.ts";
import {
  answerFormatOption,
  environmentVersionOption,
  schemeOf,
  schemeOptions,
  type TaskFlags,
  thinkingOption,
} from "../task-options.ts";

interface Flags
  extends
    ConnectionFlags,
    Pick<TaskFlags, "environmentVersion" | "scheme" | "schemeParam" | "answerFormat" | "thinking"> {
  readonly run?: string;
  readonly evaluationId?: string;
  readonly arm?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
}

const SETTINGS = "The new scores (default: the settings of each task):";

export function addRescore(program: Command): void {
  const command = program
    .command("rescore")
    .argument("[file]", "JSONL, Parquet or CSV with a completion and its task in each row")
    .option("--run <id>", "completions that this run keeps; needs --server")
    .option("--evaluation-id <id>", "completions of this evaluation")
    .addOption(
      new Option("--arm <id>", "only completions of this arm or part of a suite; may be given several times").argParser(
        collect,
      ),
    )
    .option("-o, --out <directory>", "where results go (default: out/rescore-<hash of the choices>)")
    .option("--json", "print JSON, and no progress");
  const options = [
    ...schemeOptions("the task's"),
    environmentVersionOption("the task's"),
    answerFormatOption(),
    thinkingOption("the task's"),
  ];
  for (const option of options) command.addOption(option.helpGroup(SETTINGS));
  addSuiteOptions(addConnectionOptions(command))
    .addHelpText("after", VERIFIERS_HELP)
    .action(async (file: string | undefined, flags: Flags) => {
      const source = sourceOf(file, flags);
      // Retry, and wait long for each reply, because a judge may take minutes for the completions of one request.
      const patient = { retry: true, deadlineMs: DEADLINE_MS };
      await withClient(flags, (client) => rescore(client, source, flags), "evaluations", patient);
    });
}

const DEADLINE_MS = 10 * 60 * 1000;
/** Maximum number of requests in progress at a time. */
const REQUESTS_MAX = 4;

type Source = { readonly kind: "file"; readonly path: string } | Kept;

function sourceOf(path: string | undefined, { run, evaluationId, server }: Flags): Source {
  const sources: readonly (Source | undefined)[] = [
    path === undefined ? undefined : { kind: "file", path },
    run === undefined ? undefined : { kind: "run", id: run },
    evaluationId === undefined ? undefined : { kind: "evaluation", id: evaluationId },
  ];
  const [source, other] = sources.filter((each) => each !== undefined);
  if (source === undefined || other !== undefined)
    throw new CliProblem("usage", "give one of these: a file, --run or --evaluation-id");
  if (source.kind === "run" && server === undefined)
    throw new CliProblem("usage", "--run needs --server: the server has the run's completions");
  return source;
}

async function rescore(client: GradusClient, source: Source, flags: Flags): Promise<void> {
  const settings = settingsOf(flags);
  const { arm: arms = [], server = "" } = flags;
  const choices = [source, settings, server, ...(arms.length === 0 ? [] : [arms])];
  const out = flags.out ?? join("out", `rescore-${hashOf(choices)}`);
  makeDirectory("--out", out);
  const { holdFolder } = await import("../rescore/journal.ts");
  const release = await holdFolder(out);
  try {
    const place = { out, server, arms, isShown: flags.json !== true };
    const { stored, scored } = await scoreAll(client, source, settings, place);
    await report(out, stored, scored, flags.json === true);
  } finally {
    release();
  }
}

function settingsOf(flags: Flags): RescoreChoice {
  const { environmentVersion: version, answerFormat, thinking } = flags;
  const all = { version, rewardScheme: schemeOf(flags), answerFormat, thinking };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 8);
}

interface Place {
  readonly out: string;
  /** Address of the server. Empty: this process scores. */
  readonly server: string;
  /** Arms whose completions are scored. Empty: all. */
  readonly arms: readonly string[];
  readonly isShown: boolean;
}

/** Scores the groups that have no new scores yet. Returns all groups with their new scores. */
async function scoreAll(client: GradusClient, source: Source, settings: RescoreChoice, place: Place) {
  const { out, server, arms, isShown } = place;
  const { digestOf, readStored } = await import("../rescore/rows.ts");
  const { copyIn, openJournal } = await import("../rescore/journal.ts");
  const { batchesOf, inOrder, scoreBatch } = await import("../rescore/score.ts");
  const of = source.kind === "file" ? { sha256: await digestOf(source.path) } : source;
  const journal = await openJournal(out, { of, settings, server, ...(arms.length > 0 && { arms }) });
  const all = await readStored(source.kind === "file" ? source.path : await copied(client, source, copyIn(out)));
  const groups = arms.length === 0 ? all : all.filter(({ arm }) => arms.includes(arm));
  if (groups.length === 0) throw new CliProblem("usage", `--arm: no completions are of these arms; ${armsIn(all)}`);
  const done = journal.groups.length;
  const count = (some: readonly StoredGroup[]): number => some.reduce((sum, each) => sum + each.completions.length, 0);
  const before = count(groups.slice(0, done));
  if (isShown && before > 0) note(`${before} completions have new scores already, in ${out}`);
  const format = "{bar} {value}/{total} completions  {left}";
  const bar = createBar({ done: before, total: count(groups), format, shown: isShown });
  try {
    const batches = batchesOf(groups.slice(done));
    const work = async (batch: readonly StoredGroup[]) => ({
      batch,
      scored: await scoreBatch(client, batch, settings),
    });
    for await (const { batch, scored } of inOrder(batches, REQUESTS_MAX, work)) {
      journal.add(scored);
      bar.update(count(batch));
    }
  } finally {
    bar.stop();
  }
  return { stored: groups, scored: journal.groups };
}

function armsIn(groups: readonly StoredGroup[]): string {
  const names = [...new Set(groups.map(({ arm }) => arm))].filter((name) => name !== "");
  const [shown, more] = [names.slice(0, ARMS_SHOWN), names.length - ARMS_SHOWN];
  return names.length === 0
    ? "the completions name no arms"
    : `the arms are ${shown.join(", ")}${more > 0 ? ` and ${more} others` : ""}`;
}

/** Maximum number of arms that an error names. */
const ARMS_SHOWN = 8;

/** Copies completions from the server to a file, unless the file exists. Returns the file's path. */
async function copied(client: GradusClient, kept: Kept, path: string): Promise<string> {
  if (existsSync(path)) return path;
  const { writeSnapshot } = await import("../rescore/snapshot.ts");
  await withOut("--out", path, (partial) => writeSnapshot(client, kept, partial));
  return path;
}

async function report(
  out: string,
  stored: readonly StoredGroup[],
  scored: readonly ScoredGroup[],
  isJson: boolean,
): Promise<void> {
  const { reportOf } = await import("../../clients/ts/src/rescore-report.ts");
  const { reportText, rowsOf } = await import("../rescore/report.ts");
  const { createWriter, rescoredColumns } = await import("../export/write.ts");
  const path = join(out, "rescored.parquet");
  const rows = rowsOf(stored, scored);
  await withOut("--out", path, (partial) => {
    const writer = createWriter(partial, "parquet", rescoredColumns);
    rows.forEach((row) => writer.add(row));
    writer.finish();
  });
  const made = { rows: path, ...reportOf(rows) };
  await writeOut("--out", join(out, "report.json"), `${JSON.stringify(made, undefined, 2)}\n`);
  if (isJson) printJson(made);
  else print(`${reportText(made)}\n\n${path}`);
}
