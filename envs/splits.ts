/** Assigns instances to disjoint splits by a hash of the instance itself, not of its origin. */
import type { Environment, Split } from "./environment.ts";
import { hashKey } from "./lib/rng.ts";

/**
 * Returns the id under which an environment's instances are hashed and its pools are stored: the id of its twin
 * (`twinOf`), or its own.
 */
export function instanceFamily({ id, twinOf }: Pick<Environment, "id" | "twinOf">): string {
  return twinOf ?? id;
}

/** Returns whether two environments have the same rows: they are the same environment or twins, in the same version. */
export function sharesRows(one: Environment, other: Environment): boolean {
  return instanceFamily(one) === instanceFamily(other) && one.version === other.version;
}

/**
 * Returns the first 8 bytes, in hex, of a hash over the environment's id and the canonical instance. The version is
 * left out, so that an instance keeps its hash when the environment changes.
 */
export function instanceHash<Instance>(environment: Environment<Instance>, instance: Instance): string {
  return hashKey(instanceFamily(environment), environment.canonical(instance)).slice(0, 16);
}

/**
 * Minimum number of instances that are divided into the splits. With fewer instances, a tenth would be too few for
 * evaluation, so all of them lie in every split.
 */
export const SMALL = 1000;

/** Returns whether an instance may be a task of the split. */
export function liesIn<Instance>(environment: Environment<Instance>, instance: Instance, split: Split): boolean {
  return environment.inEverySplit?.(instance) === true || splitOf(environment, instance) === split;
}

const TRAIN_SHARE = 0.8;
const EVAL_SHARE = 0.1;

/** Returns the text that decides the split. Equal for two instances that differ only in names or order. */
export function invariantOf<Instance>(environment: Environment<Instance>, instance: Instance): string {
  return environment.invariant?.(instance) ?? environment.canonical(instance);
}

/**
 * Returns the split of an instance that does not lie in every split. The shares are 80% train, 10% eval and 10% bench;
 * instances that differ only in names or order count as one. Level and version do not matter, because training on an
 * instance reveals its twins at every level.
 */
export function splitOf<Instance>(environment: Environment<Instance>, instance: Instance): Split {
  const hash = hashKey(instanceFamily(environment), invariantOf(environment, instance));
  const position = parseInt(hash.slice(0, 8), 16) / 2 ** 32;
  if (position < TRAIN_SHARE) return "train";
  return position < TRAIN_SHARE + EVAL_SHARE ? "eval" : "bench";
}
