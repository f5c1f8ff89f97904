/** Makes tasks from seeds, and instances again from where they came from. */
import type { Environment, Generator, Parameters, Split } from "./environment.ts";
import { assertNever } from "./lib/assert-never.ts";
import { keyOf, type Rng, rngForKey } from "./lib/rng.ts";
import { madeOf, type MakeResult, type Origin } from "./origin.ts";
import type { Pool } from "./pool.ts";
import { instanceHash, splitOf } from "./splits.ts";

export type Restored<Instance = unknown> =
  { readonly kind: "ok"; readonly instance: Instance } | { readonly kind: "invalid"; readonly message: string };

/** Attempts for one seed. An instance lies in the smallest split one time in ten, and a level may refuse many of those. */
export const ATTEMPTS_MAX = 2000;

export interface GeneratedRequest {
  /** Complete. */
  readonly parameters: Parameters;
  readonly seed: bigint;
  readonly split: Split;
}

/** The task of a seed: the first attempt that gives an instance of the split which the generator accepts. */
export function makeGenerated<Instance>(
  environment: Environment<Instance>,
  request: GeneratedRequest,
): MakeResult<Instance> {
  const { generator } = environment;
  if (generator === undefined) return { kind: "exhausted", message: `${environment.id} has no generator` };
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const made = tryOnce(environment, generator, request, attempt);
    if (made === undefined) continue;
    const origin: Origin = { kind: "generated", parameters: request.parameters, seed: request.seed, attempt };
    return madeOf(environment, origin, made.hash, made.instance);
  }
  const message = `${environment.id}: none of ${ATTEMPTS_MAX} attempts gave an instance of split ${request.split} with these parameters; widen their ranges, for there may be no other instances`;
  return { kind: "exhausted", message };
}

/** One attempt for a seed; undefined: it gives no task that was asked for. */
function tryOnce<Instance>(
  environment: Environment<Instance>,
  generator: Generator<Instance>,
  { parameters, seed, split }: GeneratedRequest,
  attempt: number,
): { readonly instance: Instance; readonly hash: string } | undefined {
  const instance = generator.generate(parameters, rngOf(environment, parameters, seed, attempt));
  if (instance === undefined) return undefined;
  // The split is cheap, while accepting may take a search.
  if (splitOf(environment, instance) !== split) return undefined;
  if (generator.accepts?.(instance, parameters) === false) return undefined;
  return { instance, hash: instanceHash(environment, instance) };
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
  const key = keyOf(environment.id, environment.version, ...sorted.flat());
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
  const row = pool?.environment === environment.id ? pool.rowByIndex.get(origin.row) : undefined;
  if (row?.hash === origin.contentHash) return { kind: "ok", instance: row.instance as Instance };
  const message = `this server's pool '${origin.pool}' of ${environment.id} does not hold row ${origin.row} as it was issued`;
  return { kind: "invalid", message };
}
