/** Verifies a choice of items. Returns facts such as its value; rewards are computed elsewhere. */
import type { Facts } from "../../facts.ts";
import { type IndexList as Choice, indexProblem, sumAt } from "../../lib/parse-lists.ts";
import type { KnapsackInstance } from "./generate.ts";

/**
 * Verifies a choice. It is feasible if no item is chosen twice and the capacity holds them all. An empty choice is
 * feasible, with value 0.
 */
export function verify({ capacity, weights, values }: KnapsackInstance, choice: Choice): Facts {
  const problem = indexProblem(choice, weights.length, "item", "items");
  if (problem !== undefined) return { kind: "infeasible", violation: problem };
  const weight = sumAt(weights, choice);
  if (weight <= capacity) return { kind: "feasible", objective: sumAt(values, choice) };
  return { kind: "infeasible", violation: `the items weigh ${weight}, more than the capacity ${capacity}` };
}
