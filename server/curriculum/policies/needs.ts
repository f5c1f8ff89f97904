/** What feedback a policy and the filter around it need. */
import type { Policy } from "../types.ts";
import { looksBack } from "./filter.ts";
import { definitionOf } from "./registry.ts";

/** Whether draws under a policy wait for feedback that is due, and it is folded in. */
export function takesFeedback(policy: Policy): boolean {
  return definitionOf(policy).takesFeedback || looksBack(policy.filter);
}

/** The field, from "policy" down, that asks for what was solved, which reported advantages do not say. */
export function needsSolved(policy: Policy): string | undefined {
  const field = definitionOf(policy).needsSolved?.(policy.config);
  if (field !== undefined) return `policy.${policy.kind}.${field}`;
  return looksBack(policy.filter) ? "policy.filter" : undefined;
}
