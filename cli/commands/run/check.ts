/** gradus run check: what is wrong with run files and with the pools that they draw from, without a server. */
import type { Command } from "commander";
import type { GradusClient, RunConfig } from "../../../clients/ts/src/public.ts";
import { Source } from "../../../clients/ts/src/public.ts";
import type { Registry } from "../../../envs/registry.ts";
import { portKinds } from "../../../server/ports/list.ts";
import { readPoolPath } from "../../../server/pools/selection.ts";
import { contradictionLine, rejectionLines } from "../../../server/pools/report.ts";
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
import { lineOfProblem, readRunFile } from "../../run-file.ts";

export function addCheck(group: Command): void {
  const command = group
    .command("check")
    .description("say all that is wrong with run files, each with its line; with --server, what that server would say")
    .argument("<files...>", "e.g. examples/*.yaml")
    .option("--json", "print JSON: problems and warnings of each file")
    .addHelpText(
      "after",
      `
Rows of --pool that hold no task, and what a server must have for a file (a judge, a sandbox, a teacher), are warnings.
With --pool it is always said here, and no server is asked.`,
    );
  addSuiteOptions(addConnectionOptions(command)).action((paths: readonly string[], flags: Flags) =>
    flags.server === undefined || (flags.pool ?? []).length > 0 ? checkHere(paths, flags) : checkThere(paths, flags),
  );
}

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

/** What is said of a file; without problems it can be created. */
interface Checked {
  readonly file: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Ids of all arms, those of families among them. */
  readonly arms?: readonly string[];
}

interface CheckedRun extends Checked {
  /** Of a file that cannot be read: what kind of problem that is. */
  readonly unread?: CliProblem["kind"];
  /** As the file has it, and as a server makes it of that, with families spelled out; undefined: there are problems. */
  readonly run?: { readonly config: RunConfig; readonly created: RunConfig };
}

/** By a server, or by the same handlers here; a file that cannot be read has a problem like others. */
async function checkedBy(client: GradusClient, file: string): Promise<CheckedRun> {
  let text: string;
  try {
    text = readFileOf("<files...>", file);
  } catch (error) {
    if (!(error instanceof CliProblem)) throw error;
    return { file, problems: [error.message], warnings: [], unread: error.kind };
  }
  const { problems, warnings, config, created } = await client.checkRun({ file: text });
  const said = (remarks: typeof problems) => remarks.map((remark) => lineOfProblem(file, remark));
  return {
    file,
    problems: said(problems),
    warnings: said(warnings),
    ...(created !== undefined && { arms: created.arms.map(({ id }) => id) }),
    ...(config !== undefined && created !== undefined && { run: { config, created } }),
  };
}

/** By a server, which knows its pools, and what it can ask. */
async function checkThere(paths: readonly string[], flags: Flags): Promise<void> {
  const files = await withClient(flags, (client) => eachOf(paths, (path) => checkedBy(client, path)));
  tell(files, [], flags.json);
}

async function checkHere(paths: readonly string[], { json, ...flags }: Flags): Promise<void> {
  const asked = { ...ANY_TEACHER, ...flags };
  const local = await localOf(asked, "runs");
  try {
    const poolWords = poolWarnings(local, configOf(asked).pools);
    const files = await eachOf(paths, async (path) => {
      const checked = await checkedBy(local.client, path);
      return { ...checked, warnings: [...checked.warnings, ...needWarnings(local.deps.registry, checked)] };
    });
    tell(files, poolWords, json);
  } catch (error) {
    throw problemOf(error, undefined);
  } finally {
    local.client.close();
  }
}

async function eachOf<T>(paths: readonly string[], check: (path: string) => Promise<T>): Promise<readonly T[]> {
  const checked: T[] = [];
  for (const path of paths) checked.push(await check(path));
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

/** What families of arms stand for: those that the file does not name come behind the others. */
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
    const lines = [...rejectionLines(file.path, pool), ...(contradiction === undefined ? [] : [contradiction])];
    return lines;
  });
}

/** What a server needs for arms of an environment. */
const needOf = (port: string): string => portKinds.find(([name]) => name === port)?.[1].words.needs ?? `a ${port}`;

/** What not every server has, each at the first arm that needs it. */
function needWarnings(registry: Registry, { file, run }: CheckedRun): readonly string[] {
  if (run === undefined) return [];
  const { lineOf } = readRunFile("<files...>", file);
  const seen = new Set<string>();
  return specsOf(run.created).flatMap(([field, spec]) => {
    const found = registry.find(spec?.environment ?? "", spec?.version || undefined);
    const port = found.kind === "found" ? found.environment.resource?.port : undefined;
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
