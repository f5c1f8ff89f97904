/** What holds of a subset: facts only. */
import type { Facts } from "../../facts.ts";
import { type IndexList as Subset, indexProblem, sumAt } from "../../lib/lists.ts";
import type { SubsetSumInstance } from "./generate.ts";

/** Feasible if no index comes twice and the numbers sum up to the target; then their count is the objective. */
export function verify({ target, numbers }: SubsetSumInstance, subset: Subset): Facts {
  const problem = indexProblem(subset, numbers.length, "index", "indices");
  if (problem !== undefined) return { kind: "infeasible", violation: problem };
  const sum = sumAt(numbers, subset);
  if (sum === target) return { kind: "feasible", objective: subset.length };
  return { kind: "infeasible", violation: `the numbers sum up to ${sum}, not to the target ${target}` };
}
