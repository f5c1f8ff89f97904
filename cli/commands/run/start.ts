/**
 * `gradus run start`: previews a run before there is a model. A scripted policy drives the run to its end, and a chart
 * shows what it drew.
 */
import { type Command, Option } from "commander";
import { join } from "node:path";
import type { GradusClient, RunConfig, RunState } from "../../../clients/ts/src/public.ts";
import type { AnyScoreTask } from "../../../envs/score.ts";
import { addConnectionOptions, type ConnectionFlags, localOf, VERIFIERS_HELP, withClient } from "../../connection.ts";
import type { Local } from "../../local.ts";
import { isShown, show } from "../../open.ts";
import { note } from "../../notes.ts";
import { checkOut, makeDirectory } from "../../out.ts";
import { print, printJson } from "../../print.ts";
import { CliProblem, problemOf } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, readRunFile } from "../../run-file.ts";
import { wholeNumber } from "../../task-options.ts";
import { createdOf } from "./create.ts";
import { drawnBy, drawnText, writeChart } from "./history.ts";

interface Flags extends ConnectionFlags, ChangeFlags {
  readonly runId?: string;
  readonly updates?: number;
  readonly chart?: string;
  readonly open?: boolean;
  readonly json?: boolean;
}

/** Default number of update batches to preview, for a run without an end. */
const UPDATES_DEFAULT = 100n;

/** Note after a run that was driven within this command, without a server. */
const ENDED = "The run ended with this command. With --server HOST:PORT it stays on a server, whose page shows it.";

export function addStart(group: Command): void {
  const command = group
    .command("start")
    .description("preview a run without a model: a scripted policy drives it, and a chart shows what it drew")
    .argument("<file>", "the run's configuration, e.g. examples/adsc.yaml")
    .option("--scripted", "drive it by the scripted policy, which is the only one there is today", true)
    .option(
      "--updates <n>",
      "number of update batches to drive (default: the whole run, or 100 if the run has no end)",
      wholeNumber(1, 1e9),
    )
    .option("--run-id <id>", "the run's id (default: the file's run_id, or its name)")
    .option("--chart <file>", "the SVG to write (default: out/<run-id>.svg)")
    .addOption(new Option("--no-open", "do not show the chart (default on a desktop's terminal: show it)"))
    .option(
      "--json",
      "print JSON: the chart's path, the tasks drawn from each arm, and the samples without a reward by reason",
    )
    .addHelpText(
      "after",
      `
The scripted policy is right more often at easier levels, and in arms of which it has seen more tasks. Practice in one
arm does not help others, and nothing is forgotten: it shows how a run draws, not which curriculum is better.

Examples:
  gradus run start examples/adsc.yaml
  gradus run start examples/adsc.yaml --updates 20 --chart adsc.svg`,
    );
  addConnectionOptions(addChangeOptions(command, { pool: false }))
    .addHelpText("after", VERIFIERS_HELP)
    .action(start);
}

async function start(path: string, asked: Flags): Promise<void> {
  const file = readRunFile("<file>", path, asked);
  const flags = { ...asked, pool: file.pools };
  const id = flags.runId ?? file.runId ?? nameOf(path);
  const chart = flags.chart ?? join("out", `${id}.svg`);
  if (flags.chart === undefined) makeDirectory("--chart", "out");
  const local = await localOf(flags, flags.server === undefined ? "runs" : "tasks");
  const work = async (client: GradusClient): Promise<void> => {
    const { state } = await createdOf(client, file, id);
    checkOut("--chart", chart);
    const run = client.run(id);
    const { numGenerations, promptsPerUpdate, length } = state?.shape ?? file.config;
    // Use the shape of the created run, because an existing run may by now differ from its file.
    const config = { ...file.config, numGenerations, promptsPerUpdate, length };
    const unscored = await driven(client, { id, config, state }, opener(local, flags.server), flags);
    const drawn = await drawnBy(run);
    await writeChart("--chart", chart, id, drawn);
    if (flags.json) printJson({ runId: id, chart, drawn: await drawnOf(client, id), unscored });
    else print(`${drawnText(drawn)}\n\n${chart}`);
    if (!flags.json && flags.server === undefined) note(ENDED);
  };
  try {
    if (flags.server === undefined) await work(local.client);
    else await withClient(flags, work);
  } catch (error) {
    throw problemOf(error, undefined);
  } finally {
    local.client.close();
  }
  if (!flags.json && flags.open !== false && isShown(process.stdout.isTTY, process.env, process.platform))
    await show(chart);
}

/**
 * Returns the file name without folder and ending, such as "adsc" for "examples/adsc.yaml", in the characters that an
 * id allows.
 */
function nameOf(path: string): string {
  const name = path.replace(/^.*[\\/]/, "").replace(/\.\w+$/, "");
  return name.replaceAll(/[^a-zA-Z0-9._-]+/g, "-").slice(0, 128) || "run";
}

/** Returns a function that opens task ids, which contain the tasks. This needs the keys that signed the ids. */
function opener({ deps }: Local, server: string | undefined): (taskId: string) => AnyScoreTask {
  return (taskId) => {
    const opened = deps.scorer.open(taskId);
    if (opened.kind !== "none") return opened.scoring;
    const remedy =
      server === undefined
        ? ""
        : `: the scripted policy needs the server's keys, by --key-file or --data-dir, or no --server`;
    throw new CliProblem("failure", opened.detail + remedy);
  };
}

async function driven(
  client: GradusClient,
  { id, config, state }: { readonly id: string; readonly config: RunConfig; readonly state: RunState | undefined },
  open: (taskId: string) => AnyScoreTask,
  { updates }: Flags,
): Promise<Readonly<Record<string, number>>> {
  const [{ drive }, { createScripted }, { createDriveProgress }] = await Promise.all([
    import("../../runs/drive.ts"),
    import("../../runs/scripted.ts"),
    import("../../runs/progress.ts"),
  ]);
  const perUpdate = BigInt(config.promptsPerUpdate);
  const whole = config.length === 0n ? UPDATES_DEFAULT * perUpdate : config.length;
  const asked = updates === undefined ? whole : BigInt(updates) * perUpdate;
  const total = Number(config.length !== 0n && asked > config.length ? config.length : asked);
  // Count only the tasks that are left, because an existing run may already have progressed.
  const left = config.length === 0n ? total : Math.max(0, Number(config.length - (state?.cursor ?? 0n)));
  // Let the scripted policy learn most of an arm in a quarter of the arm's share of the tasks. Count the arms of the
  // state, because a pattern in the file such as "np/*" stands for several.
  const practice = Math.max(1, total / Math.max(1, state?.arms.length ?? 0) / 4);
  const scripted = createScripted({ open, practice });
  const { dynamicSampling: reserve } = config;
  // End the bar at the maximum number of tasks: dynamic sampling may draw spare tasks (a reserve) beyond the run's
  // length.
  const progress = createDriveProgress(Math.ceil(Math.min(total, left) * (reserve?.oversampleMax ?? 1)));
  const updatesMax = config.length === 0n || updates !== undefined ? asked / perUpdate : undefined;
  try {
    await drive({
      client,
      config,
      run: client.run(id),
      tasksMax: reserve === undefined ? total : undefined,
      ...(reserve && updatesMax !== undefined && { batchesMax: (state?.batchesDrawn ?? 0n) + updatesMax }),
      signal: new AbortController().signal,
      complete: (tasks) => scripted.complete(tasks, config.numGenerations),
      onGroups: progress.groups,
    });
  } finally {
    progress.stop();
  }
  return progress.unscored();
}

async function drawnOf(client: GradusClient, id: string): Promise<Readonly<Record<string, number>>> {
  const { state } = await client.run(id).get();
  return Object.fromEntries((state?.arms ?? []).map(({ armId, issued }) => [armId, Number(issued)]));
}
