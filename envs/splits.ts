/** Splits: disjoint sets of instances, told apart by a hash of what an instance is, not of how it came about. */
import type { Environment, Split } from "./environment.ts";
import { hashKey } from "./lib/rng.ts";

/** The id that an environment's instances are told apart by, and that its pools belong to. */
export function instanceFamily({ id, twinOf }: Pick<Environment, "id" | "twinOf">): string {
  return twinOf ?? id;
}

/** Whether the rows that are the one's tasks are the other's, too: it is the same environment, or a twin. */
export function sharesRows(one: Environment, other: Environment): boolean {
  return instanceFamily(one) === instanceFamily(other) && one.version === other.version;
}

/**
 * The first 8 bytes, in hex, of a hash over the environment's id and the canonical instance. The version is left out:
 * the same instance has the same hash when the environment changes.
 */
export function instanceHash<Instance>(environment: Environment<Instance>, instance: Instance): string {
  return hashKey(instanceFamily(environment), environment.canonical(instance)).slice(0, 16);
}

/** Of fewer instances than this, a tenth is too few to evaluate by: they lie in every split. */
export const SMALL = 1000;

/** Whether an instance may be a task of the split. */
export function liesIn<Instance>(environment: Environment<Instance>, instance: Instance, split: Split): boolean {
  return environment.inEverySplit?.(instance) === true || splitOf(environment, instance) === split;
}

const TRAIN_SHARE = 0.8;
const EVAL_SHARE = 0.1;

/** What the split is decided by: the same for two instances that differ only in names or order. */
export function invariantOf<Instance>(environment: Environment<Instance>, instance: Instance): string {
  return environment.invariant?.(instance) ?? environment.canonical(instance);
}

/**
 * The split of an instance that does not lie in every one: 80% of those that differ by more than names and order are
 * train, 10% eval, 10% bench. Neither level nor version counts: who trained on an instance has seen its twins of every level.
 */
export function splitOf<Instance>(environment: Environment<Instance>, instance: Instance): Split {
  const hash = hashKey(instanceFamily(environment), invariantOf(environment, instance));
  const position = parseInt(hash.slice(0, 8), 16) / 2 ** 32;
  if (position < TRAIN_SHARE) return "train";
  return position < TRAIN_SHARE + EVAL_SHARE ? "eval" : "bench";
}
