/** Pairs of answers with known truth: equal by an identity, or unequal at a place where their exact values differ. */
import type { Rng } from "../../../../envs/lib/rng.ts";
import { changedOnce, IDENTITIES, MISTAKES, randomFn } from "./changes.ts";
import { type Fn, meet, witness, written } from "./functions.ts";
import { RELATIONS } from "./relations.ts";

export interface KnownPair {
  readonly gold: string;
  readonly answer: string;
  readonly isEqual: boolean;
  /** Whether the verifier has a rule that compares the two. Other equal pairs are undecided, if not equal. */
  readonly isCompared: boolean;
  /** Description of how the pair was made. */
  readonly how: string;
}

export type Maker = (rng: Rng) => KnownPair | undefined;

const LENGTH_MAX = 400;

function someFn(rng: Rng): Fn {
  return randomFn(rng, rng.int(1, 3), ["x", "y", "z"].slice(0, rng.int(1, 3)));
}

/** Identities of functions that turn or jump are compared only in part. */
const TURNING = /\||max|min|sgn|sqrt|floor/;

function pairOf(gold: Fn, answer: Fn, isEqual: boolean, how: string, rng: Rng): KnownPair | undefined {
  const [left, right] = [written(gold, rng), written(answer, rng)];
  return left === right || left.length + right.length > LENGTH_MAX
    ? undefined
    : { gold: left, answer: right, isEqual, isCompared: !TURNING.test(left + right), how };
}

const identity: Maker = (rng) => {
  const gold = someFn(rng);
  let answer: Fn = gold;
  for (let i = rng.int(1, 3); i > 0; i--) answer = changedOnce(answer, rng.pick(IDENTITIES), rng) ?? answer;
  if (answer === gold || !meet(gold, answer, rng)) return undefined;
  // A wrong identity would be a mistake of this file.
  if (witness(gold, answer, rng) !== undefined) throw new Error(`${written(gold, rng)} is not ${written(answer, rng)}`);
  return pairOf(gold, answer, true, "identity", rng);
};

const mistake: Maker = (rng) => {
  const gold = someFn(rng);
  const wrong = changedOnce(gold, rng.pick(MISTAKES), rng);
  // Under an identity, for a mistake is seldom alone.
  const answer = wrong && (rng.int(0, 1) === 0 ? wrong : (changedOnce(wrong, rng.pick(IDENTITIES), rng) ?? wrong));
  if (answer === undefined || witness(gold, answer, rng) === undefined) return undefined;
  return pairOf(gold, answer, false, "mistake", rng);
};

const MAKERS: readonly Maker[] = [...Array.from({ length: 4 }, () => [identity, mistake]).flat(), ...RELATIONS];
const TRIES = 100;

/** Yields pairs of each kind in turn. */
export function* knownPairs(count: number, rng: Rng): Generator<KnownPair> {
  for (let turn = 0, made = 0; made < count; turn++) {
    const make = MAKERS[turn % MAKERS.length] as Maker;
    let pair: KnownPair | undefined;
    for (let i = 0; i < TRIES && pair === undefined; i++) pair = make(rng);
    if (pair === undefined) continue;
    made++;
    yield pair;
  }
}
