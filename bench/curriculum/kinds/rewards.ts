/** Kinds that differ in what their rewards say: noise, caps, coins, arms out of reach, graded answers. */
import { armsWhere, at, besides, coins, type Described, hopeless, paced } from "./kind.ts";

const noise = 0.1;

export const noisyEasiest: Described = {
  name: "noisy easiest level",
  models:
    "one in five verdicts on the easiest levels is made by a coin: 10% of the wrong answers pass, and of the right ones fail",
  nature: (nature, _, of) => {
    const easiest = armsWhere(of, ({ level }) => level === 0);
    return { ...nature, floors: at(of, 0, easiest, () => noise), caps: at(of, 1, easiest, () => 1 - noise) };
  },
};

export const noisyThroughout: Described = {
  name: "noisy throughout",
  models: "one in five verdicts on every level is made by a coin",
  nature: (nature, _, of) => ({ ...nature, floors: of.map(() => noise), caps: of.map(() => 1 - noise), target: 0.68 }),
};

export const cappedEasiest: Described = {
  name: "capped easiest level",
  models:
    "the easiest levels are never solved by more than 60%, however well they are learnt, as half of their tasks are flawed",
  nature: (nature, _, of) => ({
    ...nature,
    caps: at(
      of,
      1,
      armsWhere(of, ({ level }) => level === 0),
      () => 0.6,
    ),
    target: 0.67,
  }),
};

export const cappedMiddle: Described = {
  name: "capped middle levels",
  models: "the second and third levels are never solved by more than 45%",
  shape: { batches: 1000 },
  nature: (nature, _, of) => ({
    ...nature,
    caps: at(
      of,
      1,
      armsWhere(of, ({ level }) => level === 1 || level === 2),
      () => 0.45,
    ),
    target: 0.55,
  }),
};

export const coinsAtEveryLevel: Described = {
  name: "a coin at every level",
  models: "beside the ladders an arm at each level is half solved for ever, and teaches nothing",
  places: besides("coin", 4, (i) => i),
  nature: (nature, _, of) =>
    coins(
      nature,
      armsWhere(of, ({ id }) => id.startsWith("coin")),
      0.5,
    ),
};

export const rareCoins: Described = {
  name: "rare coins at every level",
  models: "beside the ladders an arm at each level is solved by three in ten for ever, and teaches nothing",
  places: besides("coin", 4, (i) => i),
  nature: (nature, _, of) =>
    coins(
      nature,
      armsWhere(of, ({ id }) => id.startsWith("coin")),
      0.3,
    ),
};

export const halfHopeless: Described = {
  name: "half hopeless",
  models: "the two hardest levels of one family, and of the other the hardest and the second, are out of reach",
  nature: (nature, _, of) =>
    hopeless(
      nature,
      armsWhere(of, ({ family, level }) => level === 3 || level === (family === "a" ? 2 : 1)),
    ),
};

export const mostlyHopeless: Described = {
  name: "mostly hopeless",
  models: "beside the ladders there are twelve arms out of reach",
  places: besides("hopeless", 12, (i) => i % 4),
  shape: { batches: 1500 },
  nature: (nature, _, of) =>
    hopeless(
      nature,
      armsWhere(of, ({ id }) => id.startsWith("hopeless")),
    ),
};

export const graded: Described = {
  name: "graded",
  models: "answers are graded between 0 and 1, as ratios to an optimum are, and the best are solved",
  nature: (nature) => ({ ...paced(nature, 4), graded: { noise: 0.7, top: 1 } }),
};

export const gradedNeverSolved: Described = {
  name: "graded, never solved",
  models: "answers are graded, and no optimum is ever hit: the best have nine tenths of it",
  nature: (nature) => ({ ...paced(nature, 4), graded: { noise: 1, top: 0.9 }, target: 0.65 }),
};
