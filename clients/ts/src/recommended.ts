/** The policy to begin with. */
import { policyOf } from "./policies.ts";
import type { Policy } from "../../../proto/gen/gradus/v1/curriculum_pb.js";

/**
 * A frontier as it is: it needs to be told nothing of the arms. Chosen by simulated students (bench/curriculum), of which
 * none needed much more than with equal shares.
 */
export function recommended(): Policy {
  return policyOf({ kind: "frontier" });
}
