/** Tasks of environments whose instances something outside makes: their keys, and the way back from these. */
import type { AskedGenerator, AskedPlace, AskedResult, Environment, Parameters } from "./environment.ts";
import type { Origin, TaskKey } from "./origin.ts";
import { instanceHash } from "./splits.ts";

/** An environment whose instances are asked for. */
export interface Asking<Instance = unknown> {
  readonly environment: Environment<Instance>;
  readonly asked: AskedGenerator<Instance>;
}

export function askingOf<Instance>(environment: Environment<Instance>): Asking<Instance> | undefined {
  const { asked } = environment;
  return asked && { environment, asked };
}

type Made<Instance> = Extract<AskedResult<Instance>, { readonly kind: "made" }>;

/** What is kept of a task that was asked for. */
export function askedKey<Instance>(
  { environment }: Asking<Instance>,
  { parameters, seed }: { readonly parameters: Parameters; readonly seed: bigint },
  { instance, attempt, baseline }: Made<Instance>,
): TaskKey {
  const origin: Origin = { kind: "generated", parameters, seed, attempt };
  const hash = instanceHash(environment, instance);
  return baseline === undefined ? { origin, hash } : { origin, hash, baseline };
}

/** Where the task of a key is asked for; undefined: it was never asked for, but a row or a teacher's. */
export function askedPlace({ origin, hash }: Pick<TaskKey, "origin" | "hash">): AskedPlace | undefined {
  if (origin.kind !== "generated") return undefined;
  const { parameters, seed, attempt } = origin;
  return { parameters, seed, attempt, hash };
}

/**
 * That an environment is not of the digest that tasks or arms of it were made by, in words. One that is asked for nothing has
 * no digest.
 */
export function changedSources({ id, asked }: Pick<Environment, "id" | "asked">, before: string | undefined): string {
  const made = before === undefined ? "was the server's own" : `was of digest ${before}`;
  const now =
    asked === undefined ? "is the server's own now" : `is of digest ${asked.digest} now, mounted from ${asked.mount}`;
  return `${id} ${made} when the task was made, and ${now}: its answers may be worth something else; serve the sources that it was made by, or begin another run`;
}
