/** What holds of a choice: facts only. */
import type { Facts } from "../../environment.ts";
import { indexProblem } from "../../lib/index-list.ts";
import type { KnapsackInstance } from "./instance.ts";
import { total } from "./instance.ts";
import type { Choice } from "./parse.ts";

/** Feasible if no item is chosen twice and all fit together; nothing chosen is feasible, of value 0. */
export function verify({ capacity, weights, values }: KnapsackInstance, choice: Choice): Facts {
  const problem = indexProblem(choice, weights.length, "item", "items");
  if (problem !== undefined) return { kind: "infeasible", violation: problem };
  const weight = total(weights, choice);
  if (weight <= capacity) return { kind: "feasible", objective: total(values, choice) };
  return { kind: "infeasible", violation: `the items weigh ${weight}, more than the capacity ${capacity}` };
}
