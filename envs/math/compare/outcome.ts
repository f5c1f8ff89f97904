/** What a comparison may find, and what it may spend. */
import type { Budget } from "../numbers/budget.ts";
import type { Asked } from "../read/asked.ts";

/** Whether two answers say the same. Undecided: it cannot be told, which is nobody's mistake. */
export type Comparison =
  | { readonly kind: "equal" }
  | { readonly kind: "different"; readonly reason: string }
  | { readonly kind: "undecided"; readonly reason: string };

/** What all parts of one comparison share. */
export interface State {
  readonly budget: Budget;
  /** Randomness comes from these. */
  readonly seed: string;
  /** What "log" without a base is. */
  readonly logarithm: "e" | "10";
  readonly asked: Asked;
  /** What the pair (4, 7) of the expected answer is; undefined where it has none. */
  readonly pair?: "point" | "interval";
}

export const EQUAL: Comparison = Object.freeze({ kind: "equal" });

export function different(reason: string): Comparison {
  return { kind: "different", reason };
}

export function undecided(reason: string): Comparison {
  return { kind: "undecided", reason };
}

/** Of parts that must all be equal: the first that is different, else the first that is undecided. */
export function all(count: number, compare: (i: number) => Comparison): Comparison {
  let found: Comparison = EQUAL;
  for (let i = 0; i < count; i++) {
    const next = compare(i);
    if (next.kind === "different") return next;
    if (next.kind === "undecided") found = next;
  }
  return found;
}

/** Of readings of which one suffices: equal, else undecided, else different as the first says. */
export function any(readings: readonly (() => Comparison)[]): Comparison {
  let found: Comparison | undefined;
  for (const reading of readings) {
    const next = reading();
    if (next.kind === "equal") return next;
    if (found === undefined || (found.kind === "different" && next.kind === "undecided")) found = next;
  }
  return found ?? undecided("there is nothing to compare");
}

/** Things in any order, each once: whether each finds its partner. */
export function unordered(
  count: number,
  otherCount: number,
  compare: (i: number, j: number) => Comparison,
  { budget }: State,
): Comparison {
  if (count !== otherCount) return different(`it has ${otherCount} parts where ${count} are expected`);
  const free = new Set(Array.from({ length: otherCount }, (_, j) => j));
  let unclear: Comparison | undefined;
  for (let i = 0; i < count; i++) {
    let partner: number | undefined;
    let doubt: Comparison | undefined;
    for (const j of free) {
      if (budget.left < 0) return undecided("it takes too many steps to compare");
      const found = compare(i, j);
      if (found.kind === "equal") {
        partner = j;
        break;
      }
      if (found.kind === "undecided") doubt = found;
    }
    if (partner !== undefined) free.delete(partner);
    else if (doubt === undefined) return different("one of its parts is not expected");
    else unclear ??= doubt;
  }
  return unclear ?? EQUAL;
}
