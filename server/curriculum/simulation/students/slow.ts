/** Learns slowly, and little of it carries over. */
import { rngFor } from "../../../../envs/lib/rng.ts";
import { between, ladderTransfer, studentOf, type Abilities } from "../law.ts";
import type { Family } from "../student.ts";
import { ladder } from "./base.ts";

export const student: Family<Abilities> = {
  name: "slow",
  models: "a small model: each group teaches three quarters as much, and less of it carries over to the next level",
  create(seed, places) {
    const rng = rngFor("student", "slow", seed);
    const law = ladder(places, rng);
    const transfer = ladderTransfer(places, { within: between(rng, 0.3, 0.4), across: between(rng, 0, 0.05) });
    return studentOf({ ...law, rates: law.rates.map((rate) => 0.75 * rate), transfer });
  },
};
