/**
 * Whether expressions that agreed at all points are equal on every side of what turns in them: each amount is put in with
 * either sign, and what does not come out equal by algebra must lie where there is nothing, or where it was seen to agree.
 */
import { evaluate } from "../evaluate.ts";
import { isFeasible } from "../exact/feasible.ts";
import { nodeOf } from "../exact/node.ts";
import { plus, type Polynomial, ZERO } from "../exact/polynomial.ts";
import { type Ring, reduced, substituted } from "../exact/ring.ts";
import { type Num, signOf } from "../numbers/arithmetic.ts";
import type { Node } from "../syntax.ts";
import type { Algebra } from "./algebra.ts";
import type { State } from "./outcome.ts";
import { pointPlace } from "./places.ts";

/** On which side of each switch a point lies: "+-"; undefined: on one of them, or nothing is known. */
export function sideOf(switches: readonly Node[], point: ReadonlyMap<string, Num>, state: State): string | undefined {
  let side = "";
  for (const node of switches) {
    const value = evaluate(node, pointPlace(state, true, "e", point));
    const sign = value && signOf(value);
    if (sign === undefined || sign === 0) return undefined;
    side += sign > 0 ? "+" : "-";
  }
  return side;
}

export function switchNodes({ ring, switches }: Algebra): readonly Node[] {
  return switches.map((each) => nodeOf(each, ring));
}

const SWITCHES_MAX = 10;

/** `seen`: the sides on which the two were seen to agree. */
export function areSettled({ ring, gap, switches }: Algebra, seen: ReadonlySet<string>): boolean {
  if (switches.length > SWITCHES_MAX) return false;
  const amounts = switches.map((each) => ring.atoms.findIndex((atom) => atom.kind === "amount" && atom.of === each));
  return settled({ gap, switches, amounts, at: switches.length - 1, side: "" }, ring, seen);
}

interface Side {
  /** With the amounts behind `at` put in; undefined: it is not known. */
  readonly gap: Polynomial | undefined;
  /** Those behind `at` are above 0 on this side. */
  readonly switches: readonly Polynomial[];
  readonly amounts: readonly number[];
  readonly at: number;
  readonly side: string;
}

function settled({ gap, switches, amounts, at, side }: Side, ring: Ring, seen: ReadonlySet<string>): boolean {
  if (gap?.size === 0) return true;
  if (ring.budget.left < 0) return false;
  // What is 0 all over this side bounds nothing there.
  const decided = switches.slice(at + 1).filter(({ size }) => size > 0);
  if (isFeasible(decided.filter(isLinear), ring.budget) === false) return true;
  if (at < 0) return seen.has(side);
  return ([1n, -1n] as const).every((sign) => {
    const turned = sign > 0n ? (switches[at] as Polynomial) : plus(ZERO, switches[at] as Polynomial, -1n);
    const index = amounts[at] as number;
    const put = (a: Polynomial | undefined): Polynomial | undefined => {
      const found = a === undefined || index < 0 ? a : substituted(a, index, turned, ring);
      return found && reduced(found, ring);
    };
    const next = switches.with(at, turned).map((each, i) => (i > at ? (put(each) ?? each) : each));
    return settled(
      { gap: put(gap), switches: next, amounts, at: at - 1, side: (sign > 0n ? "+" : "-") + side },
      ring,
      seen,
    );
  });
}

function isLinear(a: Polynomial): boolean {
  return [...a.keys()].every((monomial) => [...monomial].reduce((sum, each) => sum + each.charCodeAt(0), 0) <= 1);
}
