/**
 * Makes tasks from seeds. Restores the instance of an earlier task from its origin, e.g. from its seed and parameters.
 */
import type { Environment, ParameterInfo, Parameters, SearchWork, Split } from "./environment.ts";
import { assertNever } from "./lib/assert-never.ts";
import { keyOf, type Rng, rngForKey } from "./lib/rng.ts";
import { madeOf, type MakeResult, type Origin } from "./origin.ts";
import { findRow, type Pool } from "./pool.ts";
import { instanceHash, liesIn, sharesRows } from "./splits.ts";

export type Restored<Instance = unknown> =
  { readonly kind: "ok"; readonly instance: Instance } | { readonly kind: "invalid"; readonly message: string };

/**
 * Maximum number of candidate instances that are generated for one seed. One candidate in ten lies in the smallest
 * split, and a level may refuse many of these.
 */
export const ATTEMPTS_MAX = 2000;

/**
 * Maximum number of nodes that all searches of the generator for one seed may visit together, about one second. The
 * levels need a few thousand nodes.
 */
export const SEARCH_NODES_MAX = 16_000_000;

export interface GeneratedRequest {
  /** All parameters, with defaults filled in. */
  readonly parameters: Parameters;
  readonly seed: bigint;
  readonly split: Split;
}

/** Progress of the search for the task of a seed. Plain data, so that another thread can continue the search. */
export interface SearchProgress {
  readonly attempts: number;
  /** Number of candidates that the generator returned. It may return none for an attempt. */
  readonly instances: number;
  /** Number of candidates that lie in the requested split. */
  readonly ofSplit: number;
  readonly nodes: number;
}

const NOT_BEGUN: SearchProgress = { attempts: 0, instances: 0, ofSplit: 0, nodes: 0 };

export type SliceResult<Instance = unknown> =
  MakeResult<Instance> | { readonly kind: "paused"; readonly progress: SearchProgress };

/** Returns the task of a seed: the first candidate that lies in the split and that the generator accepts. */
export function makeGenerated<Instance>(
  environment: Environment<Instance>,
  request: GeneratedRequest,
): MakeResult<Instance> {
  const result = searchGenerated(environment, request, () => false);
  if (result.kind === "paused") throw new Error("bug: the search paused although isDue returned false");
  return result;
}

/**
 * Searches for the task of a seed in slices. If `isDue` returns true between two candidates, the search pauses and
 * returns its progress. A later call continues from there. Pauses do not change the result.
 */
export function searchGenerated<Instance>(
  environment: Environment<Instance>,
  request: GeneratedRequest,
  isDue: () => boolean,
  begun: SearchProgress = NOT_BEGUN,
): SliceResult<Instance> {
  const { generator } = environment;
  if (generator === undefined) return { kind: "exhausted", message: `${environment.id} has no generator` };
  const { parameters, seed, split } = request;
  const work: SearchWork = { nodesLeft: SEARCH_NODES_MAX - begun.nodes };
  let { attempts, instances, ofSplit } = begun;
  while (attempts < ATTEMPTS_MAX && work.nodesLeft > 0) {
    if (attempts > begun.attempts && isDue())
      return { kind: "paused", progress: { attempts, instances, ofSplit, nodes: SEARCH_NODES_MAX - work.nodesLeft } };
    const attempt = attempts++;
    const instance = generator.generate(parameters, rngOf(environment, parameters, seed, attempt));
    if (instance === undefined) continue;
    instances++;
    // Check the split first: it is cheap, while `accepts` may search.
    if (!liesIn(environment, instance, split)) continue;
    ofSplit++;
    if (generator.accepts?.(instance, parameters, work) === false) continue;
    // If the search of `accepts` ran out of nodes, its result means nothing.
    if (generator.accepts !== undefined && work.nodesLeft <= 0) break;
    return madeOf(
      environment,
      { kind: "generated", parameters, seed, attempt },
      instanceHash(environment, instance),
      instance,
    );
  }
  const progress = { attempts, instances, ofSplit, nodes: SEARCH_NODES_MAX - work.nodesLeft };
  return { kind: "exhausted", message: exhausted(environment, generator.parameters, request, progress) };
}

/** Returns an error text that names the request, says how many candidates failed and why, and suggests a remedy. */
function exhausted(
  { id }: Environment,
  infos: readonly ParameterInfo[],
  { parameters, split }: GeneratedRequest,
  { attempts, instances, ofSplit, nodes }: SearchProgress,
): string {
  const changed = infos.filter(({ name, defaultValue }) => (parameters[name] ?? defaultValue) !== defaultValue);
  const named = changed.map(({ name }) => `${name} ${parameters[name]}`).join(", ");
  const asked = `${id} with ${named === "" ? "its default parameters" : named}`;
  const searched = nodes > 0 ? ` and ${nodes} search nodes` : "";
  const found = `${instances} gave an instance, ${ofSplit} of them in split ${split}, and the generator accepted none of these`;
  const remedy =
    "widen the ranges of these parameters, because there may be no other instances, or ask for another split";
  return `${asked}: none of ${attempts} attempts${searched} gave a task: ${found}; ${remedy}`;
}

/**
 * Returns the random generator of one candidate. Parameters are sorted by name, so that their order does not matter.
 */
function rngOf(environment: Environment, parameters: Parameters, seed: bigint, attempt: number): Rng {
  return rngForKey(prefixOf(environment, parameters) + keyOf(seed, attempt));
}

/** Part of a random stream's key that is the same for all seeds of an environment with these parameters. */
interface Prefix {
  readonly environment: Environment;
  readonly key: string;
}

/**
 * Caches the prefix by the parameters object, because sorting a dozen names costs more than generating random numbers.
 */
const prefixes = new WeakMap<Parameters, Prefix>();

function prefixOf(environment: Environment, parameters: Parameters): string {
  const known = prefixes.get(parameters);
  if (known?.environment === environment) return known.key;
  const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = keyOf(environment.id, environment.earlier?.[0] ?? environment.version, ...sorted.flat());
  prefixes.set(parameters, { environment, key });
  return key;
}

/**
 * Restores an instance from its origin. Returns "invalid" if this server, with its pools, issues no task of that
 * origin.
 */
export function restore<Instance>(
  environment: Environment<Instance>,
  origin: Origin,
  pools: ReadonlyMap<string, Pool>,
): Restored<Instance> {
  switch (origin.kind) {
    case "generated": {
      const { parameters, seed, attempt } = origin;
      const instance = environment.generator?.generate(parameters, rngOf(environment, parameters, seed, attempt));
      if (instance !== undefined) return { kind: "ok", instance };
      return { kind: "invalid", message: `this is not a task that ${environment.id} generates` };
    }
    case "row":
      return restoreRow(environment, origin, pools.get(origin.pool));
    case "inline":
      if (environment.inline !== undefined) return { kind: "ok", instance: environment.inline.decode(origin.instance) };
      return { kind: "invalid", message: `${environment.id} has no tasks whose instance travels in the task id` };
    default:
      return assertNever(origin);
  }
}

function restoreRow<Instance>(
  environment: Environment<Instance>,
  origin: Extract<Origin, { kind: "row" }>,
  pool: Pool | undefined,
): Restored<Instance> {
  const isOwn = pool !== undefined && sharesRows(pool.definition, environment);
  const row = isOwn ? findRow(pool, origin.row, origin.contentHash) : undefined;
  if (row !== undefined) return { kind: "ok", instance: row.instance as Instance };
  const message = `this server's pool '${origin.pool}' of ${environment.id} does not hold the task of row ${origin.row} as it was issued: ${isOwn ? "the row was removed or changed" : "start the server with that pool"}`;
  return { kind: "invalid", message };
}
