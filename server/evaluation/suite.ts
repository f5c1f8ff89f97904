/** What a suite is: a fixed set of tasks, written down as data, and opened against the environments that are here. */
import type { AnswerFormat, Environment, Parameters, Split } from "../../envs/environment.ts";
import { deriveSeed, hashKey } from "../../envs/lib/rng.ts";
import { findLevel, resolveParameters } from "../../envs/parameters.ts";
import type { Registry } from "../../envs/registry.ts";
import { resolveScheme } from "../../envs/reward/schemes.ts";
import type { TaskSpec } from "../tasks/spec.ts";

/** Tasks of one environment at one difficulty. */
export interface SuitePart {
  /** Unique within the suite. */
  readonly name: string;
  readonly environment: string;
  readonly version: number;
  /** A level's name, or parameters in its place. */
  readonly level?: string;
  readonly parameters?: Readonly<Record<string, number>>;
  readonly split: Split;
  readonly tasks: number;
  readonly category: Category;
  /** With its default parameters. Left out: the environment's default. */
  readonly rewardScheme?: string;
}

/** A name; or how many numbers a task gives, by its metadata. */
export type Category = string | { readonly countOf: "numbers" };

export interface SuiteDefinition {
  readonly id: string;
  /** A suite is the same for ever under one version. */
  readonly version: number;
  readonly description: string;
  /** What the suite's own figures are the unweighted mean of. */
  readonly overall: "categories" | "tasks";
  readonly parts: readonly SuitePart[];
}

/** A part, with all that its tasks have in common. */
export interface OpenPart extends SuitePart {
  readonly definition: Environment;
  /** With the environment's default answer format. */
  readonly spec: TaskSpec;
  /** Ordinal of its first task in the suite. */
  readonly start: number;
  /** How many tasks of its environment stand before it: its seeds go on from there. */
  readonly seedStart: number;
}

export interface Suite {
  readonly definition: SuiteDefinition;
  /** Tells suites apart that carry one id and version but are not the same. */
  readonly digest: string;
  readonly parts: readonly OpenPart[];
  readonly tasks: number;
}

export type SuiteResult =
  | { readonly kind: "open"; readonly suite: Suite }
  /** This server lacks what the suite is made of; the message names it. */
  | { readonly kind: "unavailable"; readonly message: string };

/** Binds a suite to the environments of this process. */
export function openSuite(registry: Registry, definition: SuiteDefinition): SuiteResult {
  const parts: OpenPart[] = [];
  const problems: string[] = [];
  const seeds = new Map<string, number>();
  let start = 0;
  for (const part of definition.parts) {
    const bound = bind(registry, part);
    if (typeof bound === "string") {
      problems.push(bound);
      continue;
    }
    const seedStart = seeds.get(part.environment) ?? 0;
    parts.push({ ...part, ...bound, start, seedStart });
    seeds.set(part.environment, seedStart + part.tasks);
    start += part.tasks;
  }
  if (problems.length === 0)
    return { kind: "open", suite: { definition, digest: hashKey(JSON.stringify(definition)), parts, tasks: start } };
  const { id, version } = definition;
  const message = `suite '${id}' version ${version} cannot be issued here: ${[...new Set(problems)].join("; ")}`;
  return { kind: "unavailable", message };
}

/** What is wrong with the part, or what it is bound to. */
function bind(registry: Registry, part: SuitePart): Pick<OpenPart, "definition" | "spec"> | string {
  const { version, split, level = "" } = part;
  const found = registry.find(part.environment, version);
  if (found.kind !== "found") return found.message;
  const definition = found.environment;
  const parameters = parametersOf(definition, part);
  if (typeof parameters === "string") return parameters;
  const answerFormat = definition.answerFormats[0] as AnswerFormat;
  const resolved = resolveScheme(definition, part.rewardScheme ?? "", {});
  if (resolved.kind === "invalid") return resolved.message;
  const { name: rewardScheme, parameters: rewardParameters } = resolved.scheme;
  const spec: TaskSpec = {
    ...{ environment: definition.id, version, level, parameters, split, source: "synthetic", pool: "" },
    ...{ answerFormat, thinking: "required", rewardScheme, rewardParameters },
  };
  return { definition, spec };
}

function parametersOf(definition: Environment, { level, parameters, split }: SuitePart): Parameters | string {
  if (definition.generator === undefined) return `${definition.id} has no generator`;
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

/** The part that a task of the suite belongs to. */
export function partOf(suite: Suite, ordinal: number): OpenPart {
  const part = suite.parts.findLast(({ start }) => start <= ordinal);
  if (part === undefined || ordinal >= suite.tasks) throw new Error(`the suite has no task ${ordinal}`);
  return part;
}

/** A task's seed: fixed by the suite, its version, the environment, and the task's place among those of it. */
export function seedOf({ definition: { id, version } }: Suite, part: OpenPart, ordinal: number): bigint {
  return deriveSeed(id, version, part.environment, part.seedStart + ordinal - part.start);
}

/** The category of a task, by its metadata where the part does not say. */
export function categoryOf({ category }: SuitePart, metadata: Readonly<Record<string, string>>): string {
  if (typeof category === "string") return category;
  const count = (metadata[category.countOf] ?? "").split(" ").length;
  return `${count} ${category.countOf}`;
}
