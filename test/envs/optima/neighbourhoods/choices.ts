/** Answers that choose some of a numbered lot: one is added, dropped, exchanged for another, or repeated. */
import { type Rng, sample } from "../../../../envs/lib/rng.ts";
import { anyPosition, type List, missing, repeated, without } from "./lists.ts";
import { anyOf, type Change, type Neighbourhood } from "./neighbourhood.ts";

/**
 * Returns the neighbourhood of choices from `countOf` numbered things, beginning at `start`; `more` adds changes of its
 * own.
 */
export function choices<Instance>(
  countOf: (instance: Instance) => number,
  start: (instance: Instance, rng: Rng) => List,
  ...more: readonly Change<Instance, List>[]
): Neighbourhood<Instance, List> {
  const another = (instance: Instance, list: List, rng: Rng): List => {
    const others = missing(list, countOf(instance));
    return others.length === 0 ? [] : [rng.pick(others)];
  };
  const add: Change<Instance, List> = (instance, list, rng) => [...list, ...another(instance, list, rng)];
  const drop: Change<Instance, List> = (_, list, rng) => without(list, anyPosition(list, rng));
  const exchange: Change<Instance, List> = (instance, list, rng) => drop(instance, add(instance, list, rng), rng);
  const repeat: Change<Instance, List> = (_, list, rng) => repeated(list, rng);
  return {
    move: anyOf(add, drop, exchange, repeat, ...more),
    random: (instance, rng) => sample(countOf(instance), rng.int(0, countOf(instance)), rng),
    start,
  };
}

/** Exchanges one number for another one or for two with an equal sum, or two for one, if it finds such numbers. */
export function exchangeEqualSums(amounts: ArrayLike<number>, list: List, rng: Rng): List {
  const others = missing(list, amounts.length);
  const [from, to] = rng.int(0, 1) === 0 ? [list, others] : [others, list];
  if (from.length === 0 || to.length < 2) return list;
  const one = rng.pick(from);
  const first = rng.pick(to);
  const amountOf = (index: number): number => amounts[index] as number;
  const lacking = amountOf(one) - amountOf(first);
  const second = to.find((index) => index !== first && amountOf(index) === lacking);
  if (lacking !== 0 && second === undefined) return list;
  const many = lacking === 0 || second === undefined ? [first] : [first, second];
  if (from === list) return [...list.filter((index) => index !== one), ...many];
  return [...list.filter((index) => !many.includes(index)), one];
}
