/** Learns quickly, and much of it carries over to the levels beside. */
import { rngFor } from "../../../../envs/lib/rng.ts";
import { between, ladderTransfer, studentOf, type Abilities } from "../law.ts";
import type { Family } from "../student.ts";
import { ladder } from "./base.ts";

export const student: Family<Abilities> = {
  name: "fast",
  models: "a large model: each group teaches twice as much, and more of it carries over to the next level",
  create(seed, places) {
    const rng = rngFor("student", "fast", seed);
    const law = ladder(places, rng);
    const transfer = ladderTransfer(places, { within: between(rng, 0.55, 0.65), across: between(rng, 0.05, 0.15) });
    return studentOf({ ...law, rates: law.rates.map((rate) => 2 * rate), transfer });
  },
};
