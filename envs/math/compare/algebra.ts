/** Two expressions in one ring: whether they are equal by algebra, and where they turn or break off. */
import { fractionOf } from "../exact/normal.ts";
import type { Polynomial } from "../exact/polynomial.ts";
import { gap, newRing, type Ring } from "../exact/ring.ts";
import type { Node } from "../syntax.ts";
import type { State } from "./outcome.ts";

export interface Algebra {
  readonly ring: Ring;
  /** Their difference without its denominator, 0 where they are equal; undefined: it cannot be worked out. */
  readonly gap: Polynomial | undefined;
  /** Zero where something turns, jumps, breaks off or has no value. */
  readonly turns: readonly Polynomial[];
  /** Zero where an amount or a case turns: on each side of it the expressions are others. */
  readonly switches: readonly Polynomial[];
}

/** Of the steps that are left, what an expression's algebra may take. */
const SHARE = 0.4;

export function algebraOf(gold: Node, answer: Node, real: boolean, state: State): Algebra {
  const budget = { left: Math.floor(state.budget.left * SHARE) };
  const before = budget.left;
  const ring = newRing(budget, real);
  const [left, right] = [fractionOf(gold, ring), fractionOf(answer, ring)];
  const found = left && right && gap(left, right, ring);
  const switches = ring.atoms.flatMap((atom, index): readonly Polynomial[] => {
    if (atom.kind === "amount") return ring.turning.has(index) ? [atom.of] : [];
    return atom.kind === "other" && atom.node.kind === "cases" ? atom.turns : [];
  });
  const dens = [left, right].flatMap((fraction) => (fraction === undefined ? [] : [fraction.den]));
  const turns = [...turnsIn(ring), ...dens].filter((each) => each.size > 1 || !each.has(""));
  state.budget.left -= before - budget.left;
  return { ring: { ...ring, budget: state.budget }, gap: found, turns, switches };
}

/** Whether there are variables alone: what is not 0 by algebra is not 0. */
export function isPlain({ ring }: Algebra): boolean {
  return ring.atoms.every(({ kind }) => kind === "variable");
}

/** Where an atom turns or breaks off. */
export function turnsIn({ atoms }: Ring): readonly Polynomial[] {
  return atoms.flatMap((atom): readonly Polynomial[] => {
    if (atom.kind === "root") return atom.degree % 2 === 0 ? [atom.of] : [];
    return atom.kind === "amount" ? [atom.of] : atom.kind === "other" ? atom.turns : [];
  });
}
