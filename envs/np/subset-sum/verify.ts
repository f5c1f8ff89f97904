/** Verifies a subset. Returns facts such as its size; rewards are computed elsewhere. */
import type { Facts } from "../../facts.ts";
import { type IndexList as Subset, indexProblem, sumAt } from "../../lib/parse-lists.ts";
import type { SubsetSumInstance } from "./generate.ts";

/**
 * Verifies a subset. It is feasible if no index is repeated and the numbers sum to the target. The objective is the
 * count of numbers.
 */
export function verify({ target, numbers }: SubsetSumInstance, subset: Subset): Facts {
  const problem = indexProblem(subset, numbers.length, "index", "indices");
  if (problem !== undefined) return { kind: "infeasible", violation: problem };
  const sum = sumAt(numbers, subset);
  if (sum === target) return { kind: "feasible", objective: subset.length };
  return { kind: "infeasible", violation: `the numbers sum up to ${sum}, not to the target ${target}` };
}
