/**
 * Converts tasks of mounted environments (whose instances another process makes) to the task keys that the server
 * keeps, and back. The task store uses these functions.
 */
import type { MountedGenerator, MountedPlace, MountedResult, Environment, Parameters } from "./environment.ts";
import type { Origin, TaskKey } from "./origin.ts";
import { instanceHash } from "./splits.ts";

/** Environment whose instances another process makes. */
export interface MountedEnvironment<Instance = unknown> {
  readonly environment: Environment<Instance>;
  readonly asked: MountedGenerator<Instance>;
}

export function findMounted<Instance>(environment: Environment<Instance>): MountedEnvironment<Instance> | undefined {
  const { asked } = environment;
  return asked && { environment, asked };
}

type Made<Instance> = Extract<MountedResult<Instance>, { readonly kind: "made" }>;

/** Returns the key of a task that a mounted generator (one in another process) made. */
export function mountedTaskKey<Instance>(
  { environment }: MountedEnvironment<Instance>,
  { parameters, seed }: { readonly parameters: Parameters; readonly seed: bigint },
  { instance, attempt, baseline }: Made<Instance>,
): TaskKey {
  const origin: Origin = { kind: "generated", parameters, seed, attempt };
  const hash = instanceHash(environment, instance);
  return baseline === undefined ? { origin, hash } : { origin, hash, baseline };
}

/**
 * Returns what the generator of a mounted (externally provided) environment needs to make a task again, e.g. its seed.
 * Returns undefined if the task came from a data row or from a teacher model.
 */
export function mountedPlaceOf({ origin, hash }: Pick<TaskKey, "origin" | "hash">): MountedPlace | undefined {
  if (origin.kind !== "generated") return undefined;
  const { parameters, seed, attempt } = origin;
  return { parameters, seed, attempt, hash };
}

/**
 * Returns the error text for a task whose environment has changed since the task was made, so that its answers may be
 * scored differently. `before` is the digest of the environment's sources at that time. Undefined: the environment was
 * not mounted, so it had no digest.
 */
export function changedSources({ id, asked }: Pick<Environment, "id" | "asked">, before: string | undefined): string {
  const made = before === undefined ? "was the server's own" : `was of digest ${before}`;
  const now =
    asked === undefined ? "is the server's own now" : `is of digest ${asked.digest} now, mounted from ${asked.mount}`;
  return `${id} ${made} when the task was made, and ${now}: its answers may be scored differently; serve the sources that made it, or begin another run`;
}
