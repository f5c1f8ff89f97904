/** Makes tasks from seeds, and instances again from where they came from. */
import type { Environment, ParameterInfo, Parameters, SearchWork, Split } from "./environment.ts";
import { assertNever } from "./lib/assert-never.ts";
import { keyOf, type Rng, rngForKey } from "./lib/rng.ts";
import { madeOf, type MakeResult, type Origin } from "./origin.ts";
import { findRow, type Pool } from "./pool.ts";
import { instanceHash, liesIn, sharesRows } from "./splits.ts";

export type Restored<Instance = unknown> =
  { readonly kind: "ok"; readonly instance: Instance } | { readonly kind: "invalid"; readonly message: string };

/** Attempts for one seed. An instance lies in the smallest split one time in ten, and a level may refuse many of those. */
export const ATTEMPTS_MAX = 2000;

/** Nodes that a generator's searches for one seed may visit together: about a second. Levels need a few thousand. */
export const SEARCH_NODES_MAX = 16_000_000;

export interface GeneratedRequest {
  /** Complete. */
  readonly parameters: Parameters;
  readonly seed: bigint;
  readonly split: Split;
}

/** How far the search for the task of a seed has come. Plain data: another thread may go on with it. */
export interface SearchProgress {
  readonly attempts: number;
  /** Of the attempts, those that gave an instance; and of these, those of the split. */
  readonly instances: number;
  readonly ofSplit: number;
  readonly nodes: number;
}

const NOT_BEGUN: SearchProgress = { attempts: 0, instances: 0, ofSplit: 0, nodes: 0 };

export type SliceResult<Instance = unknown> =
  MakeResult<Instance> | { readonly kind: "paused"; readonly progress: SearchProgress };

/** The task of a seed: the first attempt that gives an instance of the split which the generator accepts. */
export function makeGenerated<Instance>(
  environment: Environment<Instance>,
  request: GeneratedRequest,
): MakeResult<Instance> {
  const result = searchGenerated(environment, request, () => false);
  if (result.kind === "paused") throw new Error("bug: a search paused that nobody asked to");
  return result;
}

/**
 * The same in slices: where `isDue` says so between two attempts the search pauses, to be gone on with from its progress.
 * Where it pauses does not change what it finds.
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
    // The split is cheap, while accepting may take a search.
    if (!liesIn(environment, instance, split)) continue;
    ofSplit++;
    if (generator.accepts?.(instance, parameters, work) === false) continue;
    // A search that ran out of nodes has not told.
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

/** Names what was asked for, the share that was found of it, and what would help. */
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
  const found = `${instances} gave an instance, ${ofSplit} of them in split ${split}, and 0 were such tasks`;
  const remedy = "widen the ranges of these parameters, for there may be no other instances, or ask for another split";
  return `${asked}: none of ${attempts} attempts${searched} gave a task: ${found}; ${remedy}`;
}

/** The randomness of one attempt. Parameters are sorted by name, so that their order does not matter. */
function rngOf(environment: Environment, parameters: Parameters, seed: bigint, attempt: number): Rng {
  return rngForKey(prefixOf(environment, parameters) + keyOf(seed, attempt));
}

/** The part of a key that all seeds of an environment and its parameters share. */
interface Prefix {
  readonly environment: Environment;
  readonly key: string;
}

/** One for each set of parameters, of which levels have few: putting a dozen names in order costs more than a draw. */
const prefixes = new WeakMap<Parameters, Prefix>();

function prefixOf(environment: Environment, parameters: Parameters): string {
  const known = prefixes.get(parameters);
  if (known?.environment === environment) return known.key;
  const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = keyOf(environment.id, environment.earlier?.[0] ?? environment.version, ...sorted.flat());
  prefixes.set(parameters, { environment, key });
  return key;
}

/** The instance of an origin, again. Invalid: the origin is not one that this server, with these pools, issues. */
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
      return { kind: "invalid", message: `${environment.id} takes no tasks from outside` };
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
