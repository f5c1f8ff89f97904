/** What holds of two sides: facts only. */
import type { Facts } from "../../environment.ts";
import type { BisectionInstance } from "./instance.ts";
import { cutWeight } from "./instance.ts";
import type { Sides } from "./parse.ts";

/** Feasible if every vertex is in exactly one list and their sizes differ by at most one. Else what is wrong first. */
export function verify(instance: BisectionInstance, sides: Sides): Facts {
  const { vertices } = instance;
  /** 1 and 2 for the lists, 0 for neither. */
  const side = new Uint8Array(vertices);
  for (const [i, list] of sides.entries()) {
    for (const v of list) {
      if (!(v >= 0 && v < vertices)) {
        return infeasible(`vertex ${v} does not exist: vertices are 0 to ${vertices - 1}`);
      }
      if (side[v] === i + 1) return infeasible(`vertex ${v} is listed twice`);
      if (side[v] !== 0) return infeasible(`vertex ${v} is in both lists`);
      side[v] = i + 1;
    }
  }
  const missed = side.indexOf(0);
  if (missed >= 0) return infeasible(`vertex ${missed} is in neither list`);
  const [one, other] = sides;
  if (Math.abs(one.length - other.length) > 1) {
    return infeasible(
      `the lists have ${one.length} and ${other.length} vertices: their sizes may differ by at most one`,
    );
  }
  return { kind: "feasible", objective: cutWeight(instance, side) };
}

function infeasible(violation: string): Facts {
  return { kind: "infeasible", violation };
}
