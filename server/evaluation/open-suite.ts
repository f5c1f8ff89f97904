/**
 * Opens suites: fixed sets of tasks that are defined as data. Opening looks up a suite's environments and pools on this
 * server.
 */
import type { Environment, Parameters, Split } from "../../envs/environment.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import { deriveSeed, hashKey } from "../../envs/lib/rng.ts";
import { findLevel, resolveParameters } from "../../envs/parameters.ts";
import { levelsText, type Pool, rowCount } from "../../envs/pool.ts";
import type { PortName } from "../../envs/ports.ts";
import type { Registry } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import { instanceFamily, sharesRows } from "../../envs/splits.ts";
import { resolveTurns } from "../tasks/resolve-turns.ts";
import type { TaskSpec } from "../tasks/spec.ts";

/** Part of a suite: tasks of one environment at one difficulty. */
export interface SuitePart {
  /** Name of the part, unique within the suite. */
  readonly name: string;
  readonly environment: string;
  readonly version: number;
  /** Name of the environment's level. Unset: `parameters` gives the difficulty. */
  readonly level?: string;
  readonly parameters?: Readonly<Record<string, number>>;
  readonly split: Split;
  /** Number of tasks. "all" means all rows of the level and split in the pool. */
  readonly tasks: number | "all";
  /**
   * Name of the pool whose rows are the tasks. "" is the pool that ships with the environment. Unset: the tasks are
   * generated.
   */
  readonly pool?: string;
  readonly category: Category;
  /** Name of the reward scheme, which is used with its default parameters. Unset: the environment's default scheme. */
  readonly rewardScheme?: string;
  /** Maximum number of calls of an episode. Unset: the environment's default. */
  readonly calls?: number;
  /** Names of the tools that the model may call. Unset: none. */
  readonly tools?: readonly string[];
}

/**
 * Category of a part's tasks in a report. It is a fixed name, or the value of a metadata field, or the number of values
 * in a metadata list, such as "3 numbers". A task without the field has the category "other".
 */
export type Category = string | { readonly countOf: string } | { readonly metadata: string };

export interface SuiteDefinition {
  readonly id: string;
  /** Version of the suite. A released version never changes. */
  readonly version: number;
  readonly description: string;
  /** Whether the overall statistics of a report are unweighted means over the categories or over the tasks. */
  readonly overall: "categories" | "tasks";
  /**
   * Whether the report also compares each answer with that of the environment's heuristic, a fast approximate solver.
   * Unset: it does not.
   */
  readonly heuristic?: true;
  readonly parts: readonly SuitePart[];
}

/** Part of an opened suite, with the environment and the settings that all its tasks share. */
export interface OpenPart extends Omit<SuitePart, "tasks"> {
  readonly tasks: number;
  readonly definition: Environment;
  /** Specification of the part's tasks, with the environment's default answer format. */
  readonly spec: TaskSpec;
  /** Number in the suite, from 0, of the part's first task. */
  readonly start: number;
  /**
   * Number of tasks of the same environment in earlier parts of the suite. The positions from which this part's tasks
   * get their seeds begin with this number.
   */
  readonly seedStart: number;
}

export interface Suite {
  readonly definition: SuiteDefinition;
  /** Digest that differs for suites with the same id and version but different tasks. */
  readonly digest: string;
  readonly parts: readonly OpenPart[];
  readonly tasks: number;
}

export type SuiteResult =
  | { readonly kind: "open"; readonly suite: Suite }
  /** This server cannot make the suite's tasks, e.g. because it lacks a pool or a level. The message says why. */
  | { readonly kind: "unavailable"; readonly message: string };

/** Pools that this server has, and the reasons why it lacks external resources. */
export interface SuiteSources {
  readonly pools?: ReadonlyMap<string, Pool>;
  /** Reasons why this server lacks external resources that verifiers need, by the resource's name, e.g. "judge". */
  readonly missingPorts?: Readonly<Partial<Record<PortName, string>>> | undefined;
}

/**
 * Opens a suite with this server's environments and pools. A part that takes all rows of a level and split is left out
 * if its pool has no such rows.
 */
export function openSuite(registry: Registry, definition: SuiteDefinition, sources: SuiteSources = {}): SuiteResult {
  const parts: OpenPart[] = [];
  const problems: string[] = [];
  const seeds = new Map<string, number>();
  const walked = new Set<string>();
  let start = 0;
  for (const part of definition.parts) {
    const bound = bind(registry, sources, part);
    if (typeof bound === "string") {
      problems.push(bound);
      continue;
    }
    if (bound.tasks === 0) continue;
    const { environment, level, split, source, pool } = bound.spec;
    const walk = JSON.stringify([environment, level, split, pool]);
    if (source === "real" && walked.has(walk))
      problems.push(`two of its parts contain the same rows of ${environment}`);
    walked.add(walk);
    const seedStart = seeds.get(part.environment) ?? 0;
    parts.push({ ...part, ...bound, start, seedStart });
    seeds.set(part.environment, seedStart + bound.tasks);
    start += bound.tasks;
  }
  if (problems.length === 0 && parts.length === 0)
    problems.push("this server's pools have no rows of the suite's levels and splits");
  if (problems.length === 0)
    return { kind: "open", suite: { definition, digest: digestOf(definition, parts), parts, tasks: start } };
  const { id, version } = definition;
  const message = `suite '${id}' version ${version} cannot be issued: ${[...new Set(problems)].join("; ")}`;
  return { kind: "unavailable", message };
}

/**
 * Returns the digest of a suite. It changes with the number of rows of a part that takes all rows, and with the source
 * code of a mounted environment. Environment versions that make the same tasks count as the earliest of these versions,
 * so that an evaluation continues after an upgrade.
 */
function digestOf(definition: SuiteDefinition, parts: readonly OpenPart[]): string {
  const counts = parts.flatMap(({ name, tasks }) =>
    definition.parts.some((part) => part.name === name && part.tasks === "all") ? [name, tasks] : [],
  );
  const digests = parts.flatMap(({ name, spec: { digest } }) => (digest === undefined ? [] : [name, digest]));
  const sameTasks = definition.parts.map((part) => {
    const [version = part.version] = parts.find(({ name }) => name === part.name)?.definition.earlier ?? [];
    return { ...part, version };
  });
  return hashKey(JSON.stringify({ ...definition, parts: sameTasks }), ...counts, ...digests);
}

/** Returns the environment, specification and number of tasks of a part, or an error message. */
function bind(
  registry: Registry,
  { pools = new Map(), missingPorts = {} }: SuiteSources,
  part: SuitePart,
): Pick<OpenPart, "definition" | "spec" | "tasks"> | string {
  const { version, split, level = "" } = part;
  const found = registry.find(part.environment, version);
  if (found.kind !== "found") return found.message;
  const definition = found.environment;
  const missing = definition.resource?.port && missingPorts[definition.resource.port];
  if (missing !== undefined) return missing;
  const parameters = parametersOf(definition, part);
  if (typeof parameters === "string") return parameters;
  const rows = part.pool === undefined ? { pool: "", tasks: part.tasks } : rowsOf(definition, pools, part);
  if (typeof rows === "string") return rows;
  if (rows.tasks === "all")
    return `part '${part.name}' asks for all tasks, which is only possible for rows of a pool: give a number of tasks`;
  const answerFormat = definition.answerFormats[0] as AnswerFormat;
  const turns = resolveTurns(definition, { calls: part.calls ?? 0, tools: part.tools ?? [], detail: "" }, parameters);
  if (turns.kind === "invalid") return `part '${part.name}': ${turns.field}: ${turns.message}`;
  const resolved = resolveScheme(definition, part.rewardScheme ?? "", {}, turns.turns.calls !== undefined);
  if (resolved.kind === "invalid") return resolved.message;
  const { name: rewardScheme, parameters: rewardParameters } = resolved.scheme;
  const spec: TaskSpec = {
    environment: definition.id,
    version,
    level,
    parameters,
    split,
    source: part.pool === undefined ? "synthetic" : "real",
    pool: rows.pool,
    answerFormat,
    thinking: "required",
    ...(definition.asked && { digest: definition.asked.digest }),
    rewardScheme,
    rewardParameters,
    ...turns.turns,
  };
  return { definition, spec, tasks: rows.tasks };
}

/**
 * Returns the name of the pool whose rows are a part's tasks, and the number of rows that the part uses. Returns a
 * message if the pool or enough rows are missing.
 */
function rowsOf(
  definition: Environment,
  pools: ReadonlyMap<string, Pool>,
  { name, pool, level, split, tasks }: SuitePart,
) {
  if (level === undefined) return `part '${name}' takes rows of a pool, which are selected by level: give a level`;
  const wanted = pool === "" ? (definition.rows?.defaultPool?.name ?? "") : (pool ?? "");
  const found = pools.get(wanted);
  if (found === undefined || !sharesRows(found.definition, definition))
    return `${definition.id} has no pool '${wanted}': add it by --pool ${wanted === "" ? "name" : wanted}=${definition.id}:path`;
  const count = rowCount(found, level, split);
  if (tasks !== "all" && tasks > count)
    return `part '${name}' asks for ${tasks} rows, and pool '${wanted}' has ${count} of level '${level}' in split ${split}${count === 0 ? `; ${levelsText(found, split)}` : ""}`;
  return { pool: wanted, tasks: tasks === "all" ? count : tasks };
}

function parametersOf(definition: Environment, { level, parameters, split, pool }: SuitePart): Parameters | string {
  if ((definition.generator ?? definition.asked) === undefined && pool === undefined)
    return `${definition.id} has no generator: name a pool`;
  if (level === undefined) {
    const resolved = resolveParameters(definition, parameters ?? {});
    return resolved.kind === "ok" ? resolved.parameters : `${definition.id}: ${resolved.message}`;
  }
  const found = findLevel(definition, level);
  if (found.kind === "unknown") return found.message;
  if (found.level.evaluationOnly === true && split === "train")
    return `level '${level}' of ${definition.id} is for evaluation: it has no train split`;
  return found.level.parameters;
}

/** Returns the part of the suite to which a task belongs. */
export function partOf(suite: Suite, ordinal: number): OpenPart {
  const part = suite.parts.findLast(({ start }) => start <= ordinal);
  if (part === undefined || ordinal >= suite.tasks) throw new Error(`the suite has no task ${ordinal}`);
  return part;
}

/**
 * Returns the seed for the order of a part's rows. Environments that read the same rows, e.g. qa and qa/letter, get
 * them in the same order, so that they can be compared.
 */
export function walkSeedOf(
  { definition: { id, version } }: Suite,
  { definition, level = "", split }: OpenPart,
): bigint {
  return deriveSeed(id, version, "rows", instanceFamily(definition), level, split);
}

/**
 * Returns a task's seed. It depends on the suite's id and version, the environment, and the task's position among the
 * suite's tasks of that environment.
 */
export function seedOf({ definition: { id, version } }: Suite, part: OpenPart, ordinal: number): bigint {
  return deriveSeed(id, version, part.environment, part.seedStart + ordinal - part.start);
}

/** Returns the category of a task: the fixed name that the part gives, or a value from the task's metadata. */
export function categoryOf({ category }: SuitePart, metadata: Readonly<Record<string, string>>): string {
  if (typeof category === "string") return category;
  if ("metadata" in category) return metadata[category.metadata] || "other";
  const values = (metadata[category.countOf] ?? "").split(/[\s,]+/).filter((value) => value !== "");
  return values.length === 0 ? "other" : `${values.length} ${category.countOf}`;
}
