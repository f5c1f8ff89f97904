/**
 * The one place where kinds of students are registered. Half of them were set apart before any policy was run against any
 * of them: policies are tuned on the others, and judged by all, those set apart by themselves.
 */
import { students } from "../../../server/simulation/students.ts";
import { places, setting } from "../setting.ts";
import * as abilities from "./abilities.ts";
import * as courses from "./courses.ts";
import { type Described, type Kind, kindOf } from "./kind.ts";
import * as rewards from "./rewards.ts";
import * as shapes from "./shapes.ts";

/** The kinds of `gradus simulate`. Policies were tuned on them before there were others. */
const known: readonly Kind[] = students.map((family) => ({ ...family, apart: false, places, shape: setting }));

const tuned: readonly Described[] = [
  rewards.noisyEasiest,
  rewards.cappedEasiest,
  rewards.coinsAtEveryLevel,
  rewards.halfHopeless,
  rewards.graded,
  abilities.halfSolved,
  abilities.shuffled,
  abilities.transferUp,
  abilities.transferBoth,
  abilities.interferenceOfLevels,
  courses.plateau,
  courses.drift,
  courses.thirdPace,
  courses.triplePace,
  ...courses.slowLadders,
  shapes.thirtyArms,
  shapes.smallBatches,
  shapes.lagThree,
  shapes.groupsOfFour,
];

const apart: readonly Described[] = [
  rewards.noisyThroughout,
  rewards.cappedMiddle,
  rewards.rareCoins,
  rewards.mostlyHopeless,
  rewards.gradedNeverSolved,
  abilities.mostlySolved,
  abilities.reversed,
  abilities.transferDown,
  abilities.transferNone,
  abilities.forgetsAll,
  abilities.interferenceOfFamilies,
  abilities.oneSkillAndHopeless,
  abilities.blocked,
  courses.longPlateaus,
  courses.sudden,
  courses.eighthPace,
  courses.sixfoldPace,
  ...courses.slowWithCoins,
  shapes.mostArms,
  shapes.mostOfThirtyHopeless,
  shapes.largeBatches,
  shapes.lagEight,
  shapes.groupsOfTwo,
  shapes.groupsOfSixteen,
  shapes.everythingAtOnce,
];

export const kinds: readonly Kind[] = [
  ...known,
  ...tuned.map((described) => ({ ...kindOf(described), apart: false })),
  ...apart.map((described) => ({ ...kindOf(described), apart: true })),
];
