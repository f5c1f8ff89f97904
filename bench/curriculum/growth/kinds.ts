/**
 * Kinds of students for arms that grow: four generators of 16 levels each, of which the last four cannot be solved. A level
 * is .9 to 1.2 logits harder than the one before.
 *
 * The kinds in `apart` were set apart by the commit that brought this file, before `grow` was run against any kind. The
 * lengths of runs, drift and forgetting were set later, by equal shares alone, so that these arrive.
 */
import { between } from "../../../server/simulation/student-law.ts";
import type { ArmPosition } from "../../../server/simulation/student.ts";
import * as abilities from "../kinds/abilities.ts";
import * as courses from "../kinds/courses.ts";
import { armsWhere, at, type Described, hopeless, type Kind, kindOf } from "../kinds/kind.ts";
import * as rewards from "../kinds/rewards.ts";
import * as shapes from "../kinds/shapes.ts";

export const GENERATORS = 4;
export const LEVELS = 16;
/** Number of levels of each generator that can be solved. */
const SOLVABLE = 12;
/** Level of a ladder's law for each level here: a ladder's levels are 2 to 2.6 logits apart. */
const SCALE = 0.45;

export interface GrowthKind extends Kind {
  /** Share of success that guessing reaches, as the axis declares it. */
  readonly guess: number;
  /** Whether the bar of the worst kind leaves the kind out: it has adjacent levels that cannot be solved. */
  readonly adjacent: boolean;
}

const places: readonly ArmPosition[] = Array.from({ length: GENERATORS * LEVELS }, (_, i) => {
  const [family, level] = [Math.floor(i / LEVELS), i % LEVELS];
  return { id: `${family}/${level}`, family: String(family), level: SCALE * level };
});

const indexOf = ({ level }: ArmPosition): number => Math.round(level / SCALE);
const where = (of: readonly ArmPosition[], holds: (index: number, family: number) => boolean): readonly number[] =>
  armsWhere(of, (place) => holds(indexOf(place), Number(place.family)));

interface GrowthDescribed extends Described {
  readonly guess?: number;
  readonly adjacent?: true;
}

const plain: GrowthDescribed = { name: "ladders", models: "four ladders of twelve levels that can be solved" };

const plateaus: GrowthDescribed = {
  name: "plateaus",
  models: "every third level hardly moves for 30 to 60 teaching groups, and then twice as fast as others",
  nature: (nature, rng, of) => ({
    ...nature,
    opens: at(
      of,
      0,
      where(of, (index) => index % 3 === 2),
      () => between(rng, 30, 60),
    ),
  }),
};

/** With 48 levels an update batch leaves out most of them: what the usual kinds lose, no run of equal shares gains. */
const drift: GrowthDescribed = {
  name: "drift",
  models: "all that was gained wears off a little with each update batch, practised or not",
  nature: (nature, rng) => ({ ...nature, drift: between(rng, 0.0005, 0.001), target: 0.7 }),
};

const forgetsFast: GrowthDescribed = {
  name: "forgets fast",
  models: "a level left out of an update batch loses 0.4% to 0.6% of what was gained on it",
  nature: (nature, rng) => ({ ...nature, forgetting: between(rng, 0.004, 0.006), target: 0.65 }),
};

const impossible: GrowthDescribed = {
  name: "an impossible level",
  models: "the sixth level of each generator is never solved",
  nature: (nature, _, of) =>
    hopeless(
      nature,
      where(of, (index) => index === 5),
    ),
};

const capped: GrowthDescribed = {
  name: "a capped level",
  models: "the fifth level of each generator is never solved by more than 45%",
  nature: (nature, _, of) => ({
    ...nature,
    caps: at(
      of,
      1,
      where(of, (index) => index === 4),
      () => 0.45,
    ),
    target: 0.7,
  }),
};

const guessing: GrowthDescribed = {
  name: "guessing",
  models: "every answer is one of four, and the axis declares it",
  guess: 0.25,
  nature: (nature, _, of) => ({ ...nature, floors: of.map(() => 0.25), target: 0.8 }),
};

const undeclared: GrowthDescribed = {
  name: "guessing, undeclared",
  models: "every answer is one of four, and the axis does not declare it",
  nature: (nature, _, of) => ({ ...nature, floors: of.map(() => 0.25), target: 0.8 }),
};

const adjacent: GrowthDescribed = {
  name: "two impossible levels in a row",
  models: "the fifth and sixth level of three of the four generators are never solved",
  adjacent: true,
  nature: (nature, _, of) =>
    hopeless(
      nature,
      where(of, (index, family) => (index === 4 || index === 5) && family < 3),
    ),
};

const tuned: readonly GrowthDescribed[] = [
  plain,
  courses.thirdPace,
  courses.triplePace,
  abilities.halfSolved,
  abilities.transferBoth,
  rewards.noisyThroughout,
  drift,
  rewards.graded,
  plateaus,
  shapes.groupsOfFour,
  shapes.lagThree,
  impossible,
];

const apart: readonly GrowthDescribed[] = [
  courses.sixfoldPace,
  courses.eighthPace,
  abilities.transferUp,
  abilities.transferDown,
  forgetsFast,
  rewards.gradedNeverSolved,
  courses.sudden,
  shapes.groupsOfTwo,
  shapes.groupsOfSixteen,
  shapes.lagEight,
  shapes.largeBatches,
  capped,
  guessing,
  undeclared,
  adjacent,
];

/** Update batches that equal shares have to reach the target, relative to the time on two ladders of four levels. */
const LONGER = 40;

function growthKind(described: GrowthDescribed, isApart: boolean): GrowthKind {
  const { nature = (same) => same, guess = 0, adjacent: isAdjacent = false } = described;
  const made = kindOf({
    ...described,
    places,
    // The last levels are out of reach whatever the kind makes of the others.
    nature: (ladder, rng, of) => {
      const whole = nature(ladder, rng, of);
      return hopeless(
        whole,
        where(of, (index) => index >= SOLVABLE),
      );
    },
  });
  const shape = { ...made.shape, batches: LONGER * made.shape.batches };
  return { ...made, shape, apart: isApart, guess, adjacent: isAdjacent };
}

export const growthKinds: readonly GrowthKind[] = [
  ...tuned.map((described) => growthKind(described, false)),
  ...apart.map((described) => growthKind(described, true)),
];
