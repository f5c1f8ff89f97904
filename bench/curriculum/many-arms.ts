/**
 * A student of 300 mounted arms, as a library of generators has them: half out of reach, a quarter mastered before the run
 * begins, and a quarter ladders of three levels, a generator each. Nobody is told which is which.
 *
 *   node bench/curriculum/run.ts --students bench/curriculum/many-arms.ts --only "300 mounted arms" --seeds 20
 */
import { rngFor } from "../../envs/lib/rng.ts";
import type { Place } from "../../server/simulation/student.ts";
import { between } from "../../server/simulation/law.ts";
import { ladder } from "../../server/simulation/students/base.ts";
import { armsWhere, hopeless, type Kind, paced, transferring, unteachable } from "./kinds/kind.ts";
import { studentOf } from "./kinds/nature.ts";

const [HOPELESS, MASTERED, LADDERS] = [150, 75, 25];
const LEVELS = 3;

/** Of generators of one level nothing is known: their levels stand for what their parameters look like. */
const single = (name: string, count: number): readonly Place[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${name}${i}/0`, family: `${name}${i}`, level: i % LEVELS }));

const places: readonly Place[] = [
  ...single("hopeless", HOPELESS),
  ...single("mastered", MASTERED),
  ...Array.from({ length: LADDERS * LEVELS }, (_, i) => {
    const [family, level] = [`ladder${Math.floor(i / LEVELS)}`, i % LEVELS];
    return { id: `${family}/${level}`, family, level };
  }),
];

const named = (name: string): readonly number[] => armsWhere(places, ({ family }) => family.startsWith(name));

export const student: Omit<Kind, "apart"> = {
  name: "300 mounted arms",
  models: "a library of 300 mounted levels: 150 out of reach, 75 solved from the start, 25 ladders of three levels",
  places,
  shape: { batches: 1500, promptsPerUpdate: 256, numGenerations: 8, lag: 1 },
  create(seed, of) {
    const rng = rngFor("student", "300 mounted arms", seed);
    // An update batch has less than one group of each arm: of a pace that 400,000 groups suffice for equal shares.
    const law = paced(ladder(of, rng), 4);
    // Generators have little to do with each other.
    const related = transferring(law, rng, of, { within: 0.4, across: 0.005 });
    const nature = unteachable(hopeless(related, named("hopeless")), named("mastered"));
    const mastered = new Set(named("mastered"));
    return studentOf({
      ...nature,
      start: nature.start.map((start, arm) => (mastered.has(arm) ? between(rng, 4, 5) : start)),
    });
  },
};
