/** Verifies a cover. Returns facts such as its size; rewards are computed elsewhere. */
import type { Facts } from "../../facts.ts";
import { hasBit } from "../../lib/bit-matrix.ts";
import { type IndexList as Cover, indexProblem } from "../../lib/parse-lists.ts";
import type { SetCoverInstance } from "./generate.ts";

/**
 * Verifies a cover. It is feasible if no subset is listed twice and every element is in a listed one. Otherwise the
 * facts name the first fault.
 */
export function verify({ subsets }: SetCoverInstance, cover: Cover): Facts {
  const wrong = indexProblem(cover, subsets.rows, "subset", "subsets");
  if (wrong !== undefined) return { kind: "infeasible", violation: wrong };
  for (let element = 0; element < subsets.columns; element++) {
    if (cover.some((subset) => hasBit(subsets, subset, element))) continue;
    return { kind: "infeasible", violation: `element ${element} is in none of the chosen subsets` };
  }
  return { kind: "feasible", objective: cover.length };
}
