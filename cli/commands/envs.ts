/** `gradus envs`: lists and describes environments. */
import type { Command } from "commander";
import { AnswerFormat, EnvironmentSchema, Goal, Source, Split } from "../../clients/ts/src/public.ts";
import type {
  AxisParameter,
  Environment,
  GradusClient,
  GrowthAxis,
  ParameterInfo,
  PoolInfo,
  RewardSchemeInfo,
} from "../../clients/ts/src/public.ts";
import { addConnectionOptions, configOf, withClient } from "../connection.ts";
import type { ConnectionFlags } from "../connection.ts";
import { mountEntries, mountHead, mountRow } from "../../server/outside/mounted/mount-table.ts";
import { fields, jsonOf, number, print, printJson, table, word } from "../print.ts";
import { CliProblem } from "../problem.ts";
import { environmentVersionOption } from "../task-options.ts";

interface Flags extends ConnectionFlags {
  readonly json?: boolean;
  readonly category?: string;
  readonly environmentVersion?: number;
  readonly mounts?: boolean;
}

export function addEnvs(program: Command): void {
  const command = program
    .command("envs")
    .argument("[environment]", "e.g. np/tsp")
    .option("--category <name>", "only environments of this category")
    .addOption(environmentVersionOption())
    .option("--mounts", "list what --mount of gradus serve can mount, and how to install it")
    .option("--json", "print JSON");
  addConnectionOptions(command).action((id: string | undefined, flags: Flags) => {
    if (flags.mounts) return listMounts(id, flags);
    return withClient(
      flags,
      (client) => (id === undefined ? list(client, flags) : describe(client, id, flags)),
      "environments",
    );
  });
}

function listMounts(id: string | undefined, { category, environmentVersion, json }: Flags): void {
  if (id !== undefined || category !== undefined || environmentVersion !== undefined)
    throw new CliProblem("usage", "--mounts lists all that can be mounted: give no environment, category or version");
  if (json) printJson(mountEntries);
  else print(mountEntries.map((entry) => fields(mountHead.map((name, i) => [name, mountRow(entry)[i]]))).join("\n\n"));
}

async function list(client: GradusClient, flags: Flags): Promise<void> {
  const { category = "", environmentVersion, json } = flags;
  if (environmentVersion !== undefined)
    throw new CliProblem("usage", "--environment-version needs one environment: give its id too");
  const environments = await client.listEnvironments({ category });
  if (environments.length === 0) throw new CliProblem("usage", await noneOf(client, category));
  if (json) printJson(environments.map((environment) => jsonOf(EnvironmentSchema, environment)));
  else print(listed(environments, await drawnHere(flags)));
}

/**
 * Returns a function that says whether this process can draw pictures of an environment's tasks. `gradus draw` draws in
 * this process, even if a server makes the tasks.
 */
async function drawnHere(flags: ConnectionFlags): Promise<(id: string, version: number) => boolean> {
  const { loadEnvironments } = await import("../../server/tasks/making/load-environments.ts");
  const { drawingOf } = await import("../../pictures/drawings.ts");
  const loaded = await loadEnvironments(configOf(flags).environmentFiles);
  if (loaded.kind === "invalid") throw new CliProblem("failure", loaded.message);
  return (id, version) => {
    const found = loaded.registry.find(id, version);
    return found.kind === "found" && drawingOf(found.environment) !== undefined;
  };
}

async function noneOf(client: GradusClient, category: string): Promise<string> {
  const all = await client.listEnvironments({});
  const names = [...new Set(all.map((environment) => environment.category))].sort();
  return `--category: there is no category '${category}'; there are: ${names.join(", ")}`;
}

async function describe(client: GradusClient, id: string, flags: Flags): Promise<void> {
  const { category, environmentVersion: version, json } = flags;
  if (category !== undefined) throw new CliProblem("usage", "give either an id or --category");
  const environment = await client.getEnvironment(id, version);
  if (json) printJson(jsonOf(EnvironmentSchema, environment));
  else
    print(
      described(
        environment,
        (await drawnHere(flags))(environment.id, environment.version),
        await timesOf(client, environment),
      ),
    );
}

/** Number of tasks that are made to measure the time for one. */
const TIMED_TASKS = 4;

/**
 * Mean milliseconds that the server took to make a task, at the first and the last value of a growth axis such as
 * "vertices". Undefined: it made no task.
 */
type AxisTime = readonly [first: number | undefined, last: number | undefined];

/** Measures how long the server takes to make tasks at the first and the last value of each growth axis. */
async function timesOf(client: GradusClient, { id, version, axes }: Environment): Promise<readonly AxisTime[]> {
  const timeAt = async (axis: GrowthAxis, value: number): Promise<number | undefined> => {
    const of = ({ name, values }: AxisParameter) => [name, values[value - axis.first] ?? value] as const;
    const parameters = Object.fromEntries(axis.parameters.map(of));
    try {
      // Make a first task outside the measurement, because it also loads the environment's code and warms up a thread.
      await client.reset({ environment: id, version, parameters, seed: TIMED_TASKS });
      const began = performance.now();
      // Make one task after the other, so that the time is that of one task and not of several threads.
      for (let seed = 0; seed < TIMED_TASKS; seed++) await client.reset({ environment: id, version, parameters, seed });
      return (performance.now() - began) / TIMED_TASKS;
    } catch {
      return undefined;
    }
  };
  const times: AxisTime[] = [];
  for (const axis of axes) times.push([await timeAt(axis, axis.first), await timeAt(axis, axis.last)]);
  return times;
}

function axisTable(axes: readonly GrowthAxis[], timed: readonly AxisTime[]): string {
  const ms = (time: number | undefined): string =>
    time === undefined ? "none made" : `${number(Number(time.toPrecision(2)))} ms`;
  const rows = axes.map(({ name, first, last, parameters, smallThrough }, i) => [
    name,
    `${first} to ${last}`,
    `${ms(timed[i]?.[0])} to ${ms(timed[i]?.[1])}`,
    parameters.map((parameter) => parameter.name).join(" "),
    smallThrough === 0 ? "" : `up to ${smallThrough}`,
  ]);
  return table(["growth axis", "values", "time for a task", "parameters", "fewer than 1,000 tasks"], rows);
}

function listed(environments: readonly Environment[], isDrawn: (id: string, version: number) => boolean): string {
  const rows = environments.map(({ id, version, goal, levels, description }) => [
    id,
    String(version),
    word(Goal, goal),
    levels.map(({ name }) => name).join(" "),
    isDrawn(id, version) ? "yes" : "",
    description,
  ]);
  return table(["id", "version", "goal", "levels", "pictures", "description"], rows);
}

function parameterRows(parameters: readonly ParameterInfo[]): readonly (readonly string[])[] {
  return parameters.map(({ name, min, max, defaultValue, description }) => [
    name,
    `${number(min)} to ${number(max)}`,
    number(defaultValue),
    description,
  ]);
}

/**
 * Returns a table of the reward schemes' parameters, such as component weights. They are set in a spec's reward_scheme
 * or by --scheme-param.
 */
function schemeParameters(schemes: readonly RewardSchemeInfo[]): readonly string[] {
  const rows = schemes.flatMap(({ name, parameters }) =>
    parameterRows(parameters).map((row, i) => [i === 0 ? name : "", ...row]),
  );
  return rows.length === 0 ? [] : [table(["reward scheme", ...parameterHead], rows)];
}

const poolSplits = [Split.TRAIN, Split.EVAL, Split.BENCH] as const;

const parameterHead = ["parameter", "range", "default", "meaning"];

function described(environment: Environment, isDrawn: boolean, timed: readonly AxisTime[]): string {
  const { id, version, description, goal, levels, parameters, answerFormats, rewardSchemes, sources, pools, axes } =
    environment;
  const levelRows = levels.map(({ name, description: meaning, parameters: of, evaluationOnly, small }) => [
    name,
    Object.entries(of?.values ?? {})
      .map(([key, value]) => `${key}=${number(value)}`)
      .join(" "),
    [meaning, evaluationOnly && "(evaluation only)", small && "(small: all its tasks lie in every split)"]
      .filter(Boolean)
      .join(" "),
  ]);
  const schemeRows = rewardSchemes.map(({ name, rewardMin, rewardMax, description: meaning }) => [
    name,
    `${number(rewardMin)} to ${number(rewardMax)}`,
    meaning,
  ]);
  const head = fields([
    ["environment", `${id}, version ${version}`],
    ["goal", word(Goal, goal)],
    ["calls", callsOf(environment)],
    ["tools", environment.tools.map(({ name }) => name).join(", ") || undefined],
    ["deterministic", determinismOf(environment)],
    ["answer formats", answerFormats.map((format) => word(AnswerFormat, format)).join(", ")],
    ["pictures", isDrawn ? `gradus draw ${id}` : "none"],
    ["sources", sources.map((source) => word(Source, source)).join(", ")],
    ["pools", sources.includes(Source.REAL) && pools.length === 0 ? "none: give --pool name=path" : undefined],
  ]);
  return [
    description,
    head,
    parameters.length === 0
      ? table(
          ["level", "meaning"],
          levelRows.map(([name = "", , meaning = ""]) => [name, meaning]),
        )
      : table(["level", "parameters", "meaning"], levelRows),
    ...(parameters.length === 0 ? [] : [table(parameterHead, parameterRows(parameters))]),
    ...(axes.length === 0 ? [] : [axisTable(axes, timed)]),
    table(["reward scheme", "rewards", "meaning"], schemeRows),
    ...schemeParameters(rewardSchemes),
    ...(pools.length === 0 ? [] : [poolTable(pools)]),
  ].join("\n\n");
}

function callsOf({ calls, callsMax }: Environment): string {
  if (callsMax === 0) return "none: each task takes one completion";
  return `${calls === 0 ? "none" : calls}, or up to ${callsMax} by --calls`;
}

function determinismOf({ deterministic, nondeterministicTools }: Environment): string {
  if (!deterministic) return "no: an equal completion may get another score or reply";
  return nondeterministicTools.length === 0 ? "yes" : `yes, apart from the tools ${nondeterministicTools.join(", ")}`;
}

/**
 * Returns a table with a row for each level of each pool. It shows the number of rows in each split, and of rows from
 * which no task can be made.
 */
function poolTable(pools: readonly PoolInfo[]): string {
  const rows = pools.flatMap(({ name, groups, rejected, leftOut, unchecked, shipped }) => {
    const levels = [...new Set(groups.map(({ level }) => level))];
    const counts = (level: string) =>
      poolSplits.map((split) => {
        const group = groups.find((each) => each.level === level && each.split === split);
        return String(group?.rows ?? 0);
      });
    const notes = [
      shipped ? "ships with it" : "the operator's",
      ...(rejected > 0 ? [`${rejected} rows rejected`] : []),
      ...(leftOut > 0 ? [`${leftOut} left out`] : []),
      ...(unchecked > 0 ? [`${unchecked} unchecked`] : []),
    ];
    return levels.map((level, i) => [i === 0 ? name : "", level, ...counts(level), i === 0 ? notes.join(", ") : ""]);
  });
  return table(["pool", "level", ...poolSplits.map((split) => word(Split, split)), "rows"], rows);
}
