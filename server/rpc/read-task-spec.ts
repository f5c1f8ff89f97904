/** Reads a TaskSpec: checks it and fills in defaults. */
import { LIMITS } from "../../proto/limits.ts";
import type { Thinking as ThinkingName } from "../../envs/answers/locate.ts";
import type { Environment, Level, Parameters, Split as SplitName } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { findLevel, resolveParameters } from "../../envs/parameters.ts";
import { levelsText, type Pool, rowCount } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import { neededResource } from "../../envs/resource.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { sharesRows } from "../../envs/splits.ts";
import {
  type RewardScheme,
  Source,
  Split,
  type TaskSpec as WireSpec,
  Thinking,
} from "../../proto/gen/gradus/v1/task_pb.js";
import type { TaskSpec } from "../tasks/spec.ts";
import { resolveTurns } from "../tasks/resolve-turns.ts";
import { teacher as teacherKind } from "../outside/teacher/teacher-port.ts";
import { takesTeachers } from "../outside/teacher/check-proposal.ts";
import { answerFormats, sources, splits, thinkings } from "./enums.ts";
import type { Source as SourceName } from "../curriculum/types.ts";
import { RpcError } from "../base/rpc.ts";
import { checkBytes, checkCount, createProblemCollector, invalid, required } from "./request-checks.ts";
import type { ServiceDeps } from "./deps.ts";

const PARAMETERS_MAX = 32;
export const REWARD_PARAMETERS_MAX = 16;

/**
 * Returns an environment; version 0 means the newest. If its id is unknown, throws NOT_FOUND with the most similar id.
 * If only its version is unknown, throws FAILED_PRECONDITION.
 */
export function lookUpEnvironment(registry: Registry, id: string, version: number, field: string): Environment {
  if (id === "") throw invalid(field, "must be set");
  checkBytes(id, LIMITS.TaskSpec.environment.max, field);
  const found = registry.find(id, version === 0 ? undefined : version);
  if (found.kind === "unknown_version") throw new RpcError("FAILED_PRECONDITION", `${field}: ${found.message}`);
  if (found.kind !== "found") throw new RpcError("NOT_FOUND", `${field}: ${found.message}`);
  return found.environment;
}

export function readSpec(
  spec: WireSpec | undefined,
  { registry, pools, teacher, missingPorts }: Pick<ServiceDeps, "registry" | "pools" | "teacher" | "missingPorts">,
  field: string,
): TaskSpec {
  const given = required(spec, field);
  const environment = lookUpEnvironment(registry, given.environment, given.version, `${field}.environment`);
  const { each, add, problem } = createProblemCollector();
  const lacks = (part: string, why: string | undefined): void => {
    const at = `${field}.${part}`;
    if (why !== undefined) add([new RpcError("FAILED_PRECONDITION", `${at}: ${why}`, { field: at })]);
  };
  const split = each(() => readSplit(given, field), "train");
  const source = each(() => readSource(given, environment, field), defaultSource(environment));
  lacks("source", source === "teacher" && teacher === undefined ? teacherKind.words.missing : undefined);
  const pool = each(() => readPool(given, environment, source, pools, field), undefined);
  const easiest = pool && easiestLevel(pool, split);
  const difficulty = each(() => readDifficulty(given, { environment, source, easiest }, field), undefined);
  const level = difficulty?.level;
  each(() => checkEvaluationOnly(environment, level, split, field), undefined);
  if (pool !== undefined && level !== undefined) each(() => checkRows(pool, level.name, split, field), undefined);
  const answerFormat = each(() => readFormat(given.answerFormat, environment, field), undefined);
  const thinking = each(() => readThinking(given, field), undefined);
  const none: SpecTurns = {};
  const turns = each(() => readTurns(given, environment, difficulty?.parameters, field), none);
  const hasTurns = turns.calls !== undefined;
  const port = neededResource(environment, turns)?.port;
  lacks("environment", port && missingPorts?.[port]);
  const scheme = each(() => readScheme(given.rewardScheme, environment, hasTurns, field), undefined);
  const refused = problem();
  if (refused !== undefined) throw refused;
  return {
    environment: environment.id,
    version: given.version === 0 ? environment.version : given.version,
    level: level?.name ?? "",
    parameters: difficulty!.parameters,
    split,
    source,
    pool: pool?.name ?? "",
    answerFormat: answerFormat!,
    thinking: thinking!,
    ...(environment.asked && { digest: environment.asked.digest }),
    ...scheme!,
    ...turns,
  };
}

type SpecTurns = Pick<TaskSpec, "calls" | "tools" | "detail">;

function readTurns(
  { calls, tools, replyDetail }: WireSpec,
  environment: Environment,
  parameters: Parameters | undefined,
  field: string,
): SpecTurns {
  checkBytes(replyDetail, LIMITS.TaskSpec.reply_detail.max, `${field}.reply_detail`);
  checkCount(tools.length, LIMITS.TaskSpec.tools.max, `${field}.tools`);
  const resolved = resolveTurns(environment, { calls, tools, detail: replyDetail }, parameters);
  if (resolved.kind === "invalid")
    throw invalid(`${field}.${resolved.field === "detail" ? "reply_detail" : resolved.field}`, resolved.message);
  return resolved.turns;
}

function checkEvaluationOnly({ id }: Environment, level: Level | undefined, split: SplitName, field: string): void {
  if (level?.evaluationOnly !== true || split !== "train") return;
  const remedy = "ask for SPLIT_EVAL or SPLIT_BENCH";
  throw invalid(`${field}.split`, `level '${level.name}' of ${id} is for evaluation: ${remedy}`);
}

function readSplit(spec: WireSpec, field: string): SplitName {
  if (spec.split === Split.UNSPECIFIED) return "train";
  return required(splits.fromWire(spec.split), `${field}.split`);
}

function readSource(spec: WireSpec, environment: Environment, field: string): SourceName {
  const source =
    spec.source === Source.UNSPECIFIED
      ? defaultSource(environment)
      : required(sources.fromWire(spec.source), `${field}.source`);
  if (source === "teacher" && !takesTeachers(environment))
    throw invalid(`${field}.source`, `${environment.id} takes no tasks from teachers: leave it out`);
  if (source === "synthetic" && environment.generator === undefined && environment.asked === undefined)
    throw invalid(
      `${field}.source`,
      `${environment.id} has no generator${environment.rows === undefined ? "" : ": ask for SOURCE_REAL"}`,
    );
  if (source === "real" && environment.rows === undefined)
    throw invalid(`${field}.source`, `${environment.id} has no data pools: ask for SOURCE_SYNTHETIC`);
  return source;
}

function defaultSource({ generator, asked, rows }: Environment): SourceName {
  return generator === undefined && asked === undefined && rows !== undefined ? "real" : "synthetic";
}

interface Levels {
  readonly environment: Environment;
  readonly source: SourceName;
  /** Easiest level of which the pool has rows. Undefined: there is no pool, or it has no rows of the split. */
  readonly easiest: Level | undefined;
}

/**
 * Returns the easiest level of which a pool has rows. This is the default level, because some levels may have no rows.
 */
function easiestLevel(pool: Pool, split: SplitName): Level | undefined {
  return pool.definition.levels.find(({ name }) => rowCount(pool, name, split) > 0);
}

function readDifficulty(spec: WireSpec, { environment, source, easiest }: Levels, field: string) {
  const { difficulty } = spec;
  if (difficulty.case === "parameters") {
    if (source === "real") throw invalid(`${field}.parameters`, "rows of a pool are selected by level: give a level");
    if (source === "teacher")
      throw invalid(`${field}.parameters`, "a teacher proposes tasks of a level: give a level, not parameters");
    const values = difficulty.value.values;
    const count = Object.keys(values).length;
    if (count > PARAMETERS_MAX)
      throw invalid(`${field}.parameters`, `must have at most ${PARAMETERS_MAX} entries; got ${count}`);
    const resolved = resolveParameters(environment, values);
    if (resolved.kind === "invalid") throw invalid(`${field}.${resolved.field}`, resolved.message);
    return { level: undefined, parameters: resolved.parameters };
  }
  const name =
    difficulty.case === "level" ? checkBytes(difficulty.value, LIMITS.TaskSpec.level.max, `${field}.level`) : "";
  const level = name === "" ? (easiest ?? firstLevel(environment)) : knownLevel(environment, name, `${field}.level`);
  return { level, parameters: level.parameters };
}

function firstLevel(environment: Environment): Level {
  const [level] = environment.levels;
  if (level === undefined) throw new Error(`${environment.id} has no levels`);
  return level;
}

function knownLevel(environment: Environment, name: string, field: string): Level {
  const found = findLevel(environment, name);
  if (found.kind === "unknown") throw invalid(field, found.message);
  return found.level;
}

function readPool(
  spec: WireSpec,
  environment: Environment,
  source: SourceName,
  pools: ReadonlyMap<string, Pool>,
  field: string,
): Pool | undefined {
  if (source !== "real") {
    if (spec.pool !== "") throw invalid(`${field}.pool`, "pools are for SOURCE_REAL only: leave it empty");
    return undefined;
  }
  checkBytes(spec.pool, LIMITS.TaskSpec.pool.max, `${field}.pool`);
  const own = [...pools.values()].filter(({ definition }) => sharesRows(definition, environment));
  const names = own.map((pool) => pool.name);
  const name = spec.pool === "" ? defaultPool(environment, names) : spec.pool;
  const pool = own.find((each) => each.name === name);
  if (pool !== undefined) return pool;
  const other = pools.get(name);
  const owner = other && `${other.environment} version ${other.definition.version}`;
  throw new RpcError("NOT_FOUND", `${field}.pool: ${noPool(environment, name, names, owner)}`);
}

/**
 * Returns the name of the pool that ships with the environment, else of its only pool. Empty: it has no pool, or
 * several.
 */
function defaultPool({ rows }: Environment, names: readonly string[]): string {
  const shipped = rows?.defaultPool?.name;
  if (shipped !== undefined) return shipped;
  return names.length === 1 ? (names[0] as string) : "";
}

/**
 * Returns the error message for a pool that the environment does not have. `owner`: another environment that has a pool
 * of this name.
 */
function noPool({ id, version }: Environment, name: string, names: readonly string[], owner?: string): string {
  if (owner !== undefined)
    return `pool '${name}' is of ${owner}, and not of ${id} version ${version}: start the server with --pool another-name=${id}@${version}:path to have its rows there too`;
  if (names.length === 0)
    return `${id} version ${version} has no data pool: start the server with --pool name=${id}:path`;
  if (name === "") return `${id} has several pools and none that ships with it: name one of ${names.join(", ")}`;
  return `${id} has no pool '${name}'${didYouMean(name, names)}; it has: ${names.join(", ")}; --pool ${name}=path adds it`;
}

function checkRows(pool: Pool, level: string, split: SplitName, field: string): void {
  if (rowCount(pool, level, split) === 0)
    throw invalid(
      `${field}.level`,
      `pool '${pool.name}' has no rows of level '${level}' in split ${split}; ${levelsText(pool, split)}`,
    );
}

function readFormat(wire: number, environment: Environment, field: string): AnswerFormat {
  const [first] = environment.answerFormats;
  if (wire === 0 && first !== undefined) return first;
  const format = answerFormats.fromWire(wire);
  if (format !== undefined && environment.answerFormats.includes(format)) return format;
  throw invalid(`${field}.answer_format`, `${environment.id} accepts only ${environment.answerFormats.join(", ")}`);
}

function readThinking({ thinking }: WireSpec, field: string): ThinkingName {
  if (thinking === Thinking.UNSPECIFIED) return "required";
  return required(thinkings.fromWire(thinking), `${field}.thinking`);
}

function readScheme(wire: RewardScheme | undefined, environment: Environment, hasTurns: boolean, field: string) {
  const name = checkBytes(wire?.name ?? "", LIMITS.RewardScheme.name.max, `${field}.reward_scheme.name`);
  const parameters = wire?.parameters ?? {};
  const count = Object.keys(parameters).length;
  if (count > REWARD_PARAMETERS_MAX)
    throw invalid(
      `${field}.reward_scheme.parameters`,
      `must have at most ${REWARD_PARAMETERS_MAX} entries; got ${count}`,
    );
  const resolved = resolveScheme(environment, name, parameters, hasTurns);
  if (resolved.kind === "invalid") throw invalid(`${field}.reward_scheme.${resolved.field}`, resolved.message);
  return { rewardScheme: resolved.scheme.name, rewardParameters: resolved.scheme.parameters };
}
