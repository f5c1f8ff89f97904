/** gradus run check: what is wrong with run files and with the pools that they draw from, without a server. */
import type { Command } from "commander";
import type { RunConfig } from "../../../clients/ts/src/public.ts";
import { Source } from "../../../clients/ts/src/public.ts";
import type { Registry } from "../../../envs/registry.ts";
import { portKinds } from "../../../server/ports/list.ts";
import { rowWarnings } from "../../../server/services/check-rows.ts";
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
import { lineOfProblem, readRunFile, type RunFile } from "../../run-file.ts";
import { createdOf } from "./create.ts";

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
    flags.server === undefined || (flags.pool ?? []).length > 0 ? check(paths, flags) : checkThere(paths, flags),
  );
}

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
}

/** By a server, which knows its pools, and what it can ask. */
async function checkThere(paths: readonly string[], flags: Flags): Promise<void> {
  const files = await withClient(flags, async (client) => {
    const checked: Checked[] = [];
    for (const file of paths) {
      const { problems, warnings } = await client.checkRun({ file: readFileOf("<files...>", file) });
      const said = (remarks: typeof problems) => remarks.map((remark) => lineOfProblem(file, remark));
      checked.push({ file, problems: said(problems), warnings: said(warnings) });
    }
    return checked;
  });
  if (flags.json) printJson({ files });
  for (const { file, problems, warnings } of flags.json ? [] : files) {
    if (problems.length === 0) print(`${file}: can be created`);
    warnings.forEach(warn);
  }
  const wrong = files.flatMap(({ problems }) => problems);
  if (wrong.length > 0) throw new CliProblem("usage", wrong.join("\n"));
}

/** What is said of a file; without problems it can be created. */
interface Checked {
  readonly file: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** Ids of all arms, those of families among them. */
  readonly arms?: readonly string[];
}

async function check(paths: readonly string[], { json, ...flags }: Flags): Promise<void> {
  const asked = { ...ANY_TEACHER, ...flags };
  const local = await localOf(asked, "runs");
  const problems: CliProblem[] = [];
  const files: Checked[] = [];
  try {
    const poolWords = poolWarnings(local, configOf(asked).pools);
    if (!json) poolWords.forEach(warn);
    for (const [i, path] of paths.entries()) {
      const file = await checked(local, path, `check-${i}`);
      if (file instanceof CliProblem) {
        problems.push(file);
        files.push({ file: path, problems: file.message.split("\n"), warnings: [] });
        continue;
      }
      const ofRows = (await rowsOf(local, `check-${i}`)).map((warning) => `${path}: ${warning}`);
      const warnings = [...ofRows, ...needWarnings(local.deps.registry, file)];
      const arms = file.created.arms.map(({ id }) => id);
      files.push({ file: path, problems: [], warnings, arms });
      if (json) continue;
      print(`${path}: can be created`);
      familyLines(file).forEach((line) => print(line));
      warnings.forEach(warn);
    }
    if (json) printJson({ files, pools: poolWords });
  } finally {
    local.client.close();
  }
  const [first] = problems;
  if (first !== undefined) throw new CliProblem(first.kind, problems.map(({ message }) => message).join("\n"));
}

interface CreatedFile extends RunFile {
  /** As a server makes it of the file: with families spelled out. */
  readonly created: RunConfig;
}

/** What families of arms stand for: those that the file does not name come behind the others. */
function familyLines({ config, created }: CreatedFile): readonly string[] {
  const families = config.arms.flatMap(({ spec }) => (spec?.environment.includes("*") ? [spec.environment] : []));
  if (families.length === 0) return [];
  const named = config.arms.length - families.length;
  const ids = created.arms.slice(named).map(({ id }) => id);
  return [`  ${families.join(", ")}: ${ids.length} arms: ${ids.join(", ")}`];
}

/** The file, or what is wrong with it. */
async function checked({ client }: Local, path: string, id: string): Promise<CreatedFile | CliProblem> {
  try {
    const file = readRunFile("<files...>", path);
    const { config } = await createdOf(client, file, id);
    if (config === undefined) throw new Error("a run was created without a configuration");
    return { ...file, created: config };
  } catch (error) {
    const problem = problemOf(error, undefined);
    if (problem instanceof CliProblem) return problem;
    throw error;
  }
}

/** What the rows of a run that was created here are worth a word about. */
async function rowsOf({ deps }: Local, id: string): Promise<readonly string[]> {
  const created = await deps.runs.get(id);
  return created.kind === "ok" ? rowWarnings(deps, created.value.config) : [];
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
function needWarnings(registry: Registry, { path, created, lineOf }: CreatedFile): readonly string[] {
  const seen = new Set<string>();
  return specsOf(created).flatMap(([field, spec]) => {
    const found = registry.find(spec?.environment ?? "", spec?.version || undefined);
    const port = found.kind === "found" ? found.environment.resource?.port : undefined;
    const needs = [
      ...(port === undefined ? [] : [[`${field}.environment`, needOf(port)] as const]),
      ...(spec?.source === Source.TEACHER ? [[`${field}.source`, needOf("teacher")] as const] : []),
    ];
    return needs.flatMap(([at, need]) => {
      if (seen.has(need)) return [];
      seen.add(need);
      return [`${path}:${lineOf(at)}: ${at}: needs a server with ${need}`];
    });
  });
}

function specsOf({ arms, evaluationArms }: RunConfig) {
  return [
    ...arms.map(({ spec }, i) => [`arms[${i}].spec`, spec] as const),
    ...evaluationArms.map(({ spec }, i) => [`evaluation_arms[${i}].spec`, spec] as const),
  ];
}
