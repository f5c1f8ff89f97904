/** Defines the result of a comparison, and the state that all steps of a comparison share. */
import type { Budget } from "../numbers/budget.ts";
import type { Asked } from "../read/asked.ts";

/** Result of comparing two answers. "undecided": the comparison cannot tell, so the answer may be right. */
export type Comparison =
  | { readonly kind: "equal" }
  | { readonly kind: "different"; readonly reason: string }
  | { readonly kind: "undecided"; readonly reason: string };

/** State that all parts of one comparison share. */
export interface State {
  readonly budget: Budget;
  /** Seed of the random test points. */
  readonly seed: string;
  /** Base of "log" if none is written. */
  readonly logarithm: "e" | "10";
  readonly asked: Asked;
  /** Meaning of a pair such as (4, 7) in the expected answer. Undefined if it has no such pair. */
  readonly pair?: "point" | "interval";
}

export const EQUAL: Comparison = Object.freeze({ kind: "equal" });

export function different(reason: string): Comparison {
  return { kind: "different", reason };
}

export function undecided(reason: string): Comparison {
  return { kind: "undecided", reason };
}

/**
 * Compares parts, all of which must be equal. Returns the first difference. If there is none, returns an undecided
 * result, if there is one.
 */
export function all(count: number, compare: (i: number) => Comparison): Comparison {
  let found: Comparison = EQUAL;
  for (let i = 0; i < count; i++) {
    const next = compare(i);
    if (next.kind === "different") return next;
    if (next.kind === "undecided") found = next;
  }
  return found;
}

/**
 * Compares alternatives, of which one must be equal. Returns "equal" if one is. Otherwise returns the first undecided
 * result, or else the first difference.
 */
export function any(readings: readonly (() => Comparison)[]): Comparison {
  let found: Comparison | undefined;
  for (const reading of readings) {
    const next = reading();
    if (next.kind === "equal") return next;
    if (found === undefined || (found.kind === "different" && next.kind === "undecided")) found = next;
  }
  return found ?? undecided("there is nothing to compare");
}

/**
 * Compares the items of two lists in any order. Each item must be equal to an item of the other list that no other item
 * uses.
 */
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
