/**
 * `gradus run check`: reports what is wrong with run files and with the pools that their arms draw from. The check runs
 * in this process, or on a server if --server is given.
 */
import type { Command } from "commander";
import { type GradusClient, type RunConfig, Source } from "../../../clients/ts/src/public.ts";
import type { Registry } from "../../../envs/registry.ts";
import { neededResource } from "../../../envs/resource.ts";
import { portKinds } from "../../../server/outside/port-kinds.ts";
import { readPoolPath } from "../../../server/rows/selection.ts";
import { contradictionLine, remarkLines } from "../../../server/rows/report.ts";
import {
  addConnectionOptions,
  addSuiteOptions,
  ANY_TEACHER,
  configOf,
  type ConnectionFlags,
  localOf,
  withClient,
} from "../../connection.ts";
import { readFileOf } from "../../files.ts";
import type { Local } from "../../local.ts";
import { warn } from "../../notes.ts";
import { print, printJson } from "../../print.ts";
import { CliProblem, problemOf } from "../../problem.ts";
import { addChangeOptions, type ChangeFlags, lineOfProblem, parseRunFile, type RunFile } from "../../run-file.ts";

export function addCheck(group: Command): void {
  const command = group
    .command("check")
    .description("list all problems of run files with their lines; with --server, those that this server finds")
    .argument("<files...>", "e.g. examples/*.yaml")
    .option("--json", "print JSON: problems and warnings of each file")
    .addHelpText(
      "after",
      `
Warnings name rows of --pool that hold no task, and services that a server needs for a file (judge, sandbox, teacher).
With --pool, files are checked in this process, and no server is asked.`,
    );
  const takes = addConnectionOptions(addChangeOptions(command, { pool: false }));
  addSuiteOptions(takes).action((paths: readonly string[], flags: Flags) => {
    const files = paths.map((path) => readAs(path, flags));
    // If no run file uses a value of --pool for its arms, take the value as a pool of this process, e.g.
    // train=rows.jsonl.
    const pool = (flags.pool ?? []).filter((given) => !files.some(({ file }) => file?.pools.includes(given) === false));
    const isHere = flags.server === undefined || pool.length > 0;
    return isHere ? checkHere(files, { ...flags, pool }) : checkThere(files, flags);
  });
}

interface Flags extends ConnectionFlags, ChangeFlags {
  readonly json?: boolean;
}

/** Problems and warnings of a run file. Without problems, the run can be created. */
interface Checked {
  readonly file: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Ids of all arms, including the arms that a pattern such as "np/*" stands for. */
  readonly arms?: readonly string[];
}

interface CheckedRun extends Checked {
  /** Kind of the problem, e.g. "missing", which decides the exit code. Set only if the file cannot be read. */
  readonly unread?: CliProblem["kind"];
  /**
   * Configuration as in the file, and as a server would create it, with patterns such as "np/*" expanded to arms.
   * Undefined if there are problems.
   */
  readonly run?: Pick<RunFile, "config" | "lineOf"> & { readonly created: RunConfig };
}

/** A run file with its content, or with its problems. A file that cannot be opened is a problem too. */
interface ReadRun {
  readonly path: string;
  readonly file?: RunFile;
  readonly problems: readonly string[];
  readonly unread?: CliProblem["kind"];
}

function readAs(path: string, flags: Flags): ReadRun {
  try {
    const result = parseRunFile(path, readFileOf("<files...>", path), flags);
    return result.kind === "read" ? { path, file: result.file, problems: [] } : { path, problems: result.problems };
  } catch (error) {
    if (!(error instanceof CliProblem)) throw error;
    return { path, problems: [error.message], unread: error.kind };
  }
}

/** Checks a run file by a server, or by the same handlers in this process. */
async function checkedBy(client: GradusClient, { path, file, ...read }: ReadRun): Promise<CheckedRun> {
  if (file === undefined) return { file: path, warnings: [], ...read };
  const { config, lineOf } = file;
  const { problems, warnings, created } = await client.checkRun(config);
  const withLines = (remarks: typeof problems) =>
    remarks.map((remark) => ({ ...remark, line: remark.field === "" ? 0 : lineOf(remark.field) }));
  const inOrder = withLines(problems).sort((a, b) => a.line - b.line);
  return {
    file: path,
    problems: inOrder.map((remark) => lineOfProblem(path, remark)),
    warnings: withLines(warnings).map((remark) => lineOfProblem(path, remark)),
    ...(created !== undefined && { arms: created.arms.map(({ id }) => id), run: { config, created, lineOf } }),
  };
}

/** Checks run files by a server, which knows its own pools and resources. */
async function checkThere(read: readonly ReadRun[], flags: Flags): Promise<void> {
  const files = await withClient(flags, (client) => eachOf(read, (each) => checkedBy(client, each)));
  tell(files, [], flags.json);
}

async function checkHere(read: readonly ReadRun[], { json, ...flags }: Flags): Promise<void> {
  const asked = { ...ANY_TEACHER, ...flags };
  const local = await localOf(asked, "runs");
  try {
    const poolWords = poolWarnings(local, configOf(asked).pools);
    const files = await eachOf(read, async (each) => {
      const checked = await checkedBy(local.client, each);
      return { ...checked, warnings: [...checked.warnings, ...needWarnings(local.deps.registry, checked)] };
    });
    tell(files, poolWords, json);
  } catch (error) {
    throw problemOf(error, undefined);
  } finally {
    local.client.close();
  }
}

async function eachOf<Of, T>(read: readonly Of[], check: (each: Of) => Promise<T>): Promise<readonly T[]> {
  const checked: T[] = [];
  for (const each of read) checked.push(await check(each));
  return checked;
}

function tell(checked: readonly CheckedRun[], pools: readonly string[], asJson = false): void {
  if (asJson) printJson({ files: checked.map(({ run: _, unread: __, ...told }): Checked => told), pools });
  else {
    pools.forEach(warn);
    for (const { file, problems, warnings, run } of checked) {
      if (problems.length > 0) continue;
      print(`${file}: can be created`);
      if (run !== undefined) familyLines(run).forEach((line) => print(line));
      warnings.forEach(warn);
    }
  }
  const wrong = checked.flatMap(({ problems }) => problems);
  if (wrong.length === 0) return;
  const [first, ...others] = new Set(checked.flatMap(({ problems, unread }) => (problems.length > 0 ? [unread] : [])));
  throw new CliProblem(others.length === 0 ? (first ?? "usage") : "usage", wrong.join("\n"));
}

/**
 * Returns a line that lists the arms that patterns such as "np/*" stand for. They come last in the created run, after
 * the arms that the file names.
 */
function familyLines({ config, created }: NonNullable<CheckedRun["run"]>): readonly string[] {
  const families = config.arms.flatMap(({ spec }) => (spec?.environment.includes("*") ? [spec.environment] : []));
  if (families.length === 0) return [];
  const named = config.arms.length - families.length;
  const ids = created.arms.slice(named).map(({ id }) => id);
  return [`  ${families.join(", ")}: ${ids.length} arms: ${ids.join(", ")}`];
}

function poolWarnings({ deps }: Local, named: readonly { readonly name: string; readonly path: string }[]) {
  return named.flatMap(({ name, path }) => {
    const [file, pool] = [readPoolPath(path, deps.registry), deps.pools.get(name)];
    if (file.kind === "invalid" || pool === undefined) return [];
    const contradiction = contradictionLine(file.path, pool);
    const lines = [...remarkLines(file.path, pool), ...(contradiction === undefined ? [] : [contradiction])];
    return lines;
  });
}

/** Returns words for what a server needs in order to offer an external service such as "judge". */
const needOf = (port: string): string => portKinds.find(([name]) => name === port)?.[1].words.needs ?? `a ${port}`;

/**
 * Returns warnings about services that not every server has, e.g. a judge. Each warning names the first arm that needs
 * the service.
 */
function needWarnings(registry: Registry, { file, run }: CheckedRun): readonly string[] {
  if (run === undefined) return [];
  const { lineOf } = run;
  const seen = new Set<string>();
  return specsOf(run.created).flatMap(([field, spec]) => {
    const found = registry.find(spec?.environment ?? "", spec?.version || undefined);
    const environment = found.kind === "found" ? found.environment : undefined;
    const hasTurns =
      environment?.turns !== undefined && (environment.turns.optional !== true || (spec?.calls ?? 0) > 1);
    const port =
      environment &&
      neededResource(environment, hasTurns ? { calls: spec?.calls ?? 0, tools: spec?.tools ?? [] } : {})?.port;
    const needs = [
      ...(port === undefined ? [] : [[`${field}.environment`, needOf(port)] as const]),
      ...(spec?.source === Source.TEACHER ? [[`${field}.source`, needOf("teacher")] as const] : []),
    ];
    return needs.flatMap(([at, need]) => {
      if (seen.has(need)) return [];
      seen.add(need);
      return [`${file}:${lineOf(at)}: ${at}: needs a server with ${need}`];
    });
  });
}

function specsOf({ arms, evaluationArms }: RunConfig) {
  return [
    ...arms.map(({ spec }, i) => [`arms[${i}].spec`, spec] as const),
    ...evaluationArms.map(({ spec }, i) => [`evaluation_arms[${i}].spec`, spec] as const),
  ];
}
