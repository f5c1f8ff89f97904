/** Kinds that differ in the run: the number of arms, the size of batches and groups, and the delay of feedback. */
import { between } from "../../../server/simulation/student-law.ts";
import { armsWhere, besides, coins, type Described, hopeless, laddersOf, paced, transferring } from "./kind.ts";

export const thirtyArms: Described = {
  name: "30 arms",
  models: "six families of five levels",
  places: laddersOf(6, 5),
  shape: { promptsPerUpdate: 32, batches: 1500 },
  nature: (nature) => ({ ...nature, start: nature.start.map((ability) => 0.8 * ability) }),
};

export const mostArms: Described = {
  name: "256 arms",
  models: "as many arms as a run may have: 64 families of four levels, which help one another a little",
  places: laddersOf(64, 4),
  shape: { promptsPerUpdate: 64, batches: 1000 },
  nature: (nature, rng, of) => ({
    ...transferring(paced(nature, 8), rng, of, { within: 0.5, across: 0.02 }),
    target: 0.5,
  }),
};

export const mostOfThirtyHopeless: Described = {
  name: "26 of 34 arms hopeless",
  models: "two ladders among 26 arms out of reach",
  places: besides("hopeless", 26),
  shape: { batches: 2500 },
  nature: (nature, _, of) =>
    hopeless(
      nature,
      armsWhere(of, ({ id }) => id.startsWith("hopeless")),
    ),
};

export const smallBatches: Described = {
  name: "batches of 4",
  models: "the ladder, in update batches of 4 prompts",
  shape: { promptsPerUpdate: 4, batches: 600 },
};

export const largeBatches: Described = {
  name: "batches of 128",
  models: "the ladder, in update batches of 128 prompts, each of which moves it as far as one of 16 does",
  shape: { promptsPerUpdate: 128 },
};

export const lagThree: Described = {
  name: "lag 3",
  models: "the ladder, with feedback three update batches late",
  shape: { lag: 3 },
};

export const lagEight: Described = {
  name: "lag 8",
  models: "the ladder, with feedback eight update batches late",
  shape: { lag: 8 },
};

export const groupsOfFour: Described = {
  name: "groups of 4",
  models: "the ladder, with 4 completions a prompt",
  shape: { numGenerations: 4 },
};

export const groupsOfTwo: Described = {
  name: "groups of 2",
  models: "the ladder, with 2 completions a prompt",
  shape: { numGenerations: 2 },
};

export const groupsOfSixteen: Described = {
  name: "groups of 16",
  models: "the ladder, with 16 completions a prompt",
  shape: { numGenerations: 16 },
};

export const everythingAtOnce: Described = {
  name: "everything at once",
  models: "a coin, a hopeless arm, noise, forgetting, feedback three batches late and groups of 4",
  shape: { lag: 3, numGenerations: 4, batches: 1000 },
  nature: (nature, rng, of) => {
    const coin = rng.pick(armsWhere(of, ({ level }) => level === 1));
    const out = rng.pick(armsWhere(of, ({ level }) => level === 3));
    const both = hopeless(coins(nature, [coin], 0.5), [out]);
    const caps = of.map((_, arm) => (arm === coin ? 0.5 : 0.95));
    const floors = of.map((_, arm) => (arm === coin ? 0.5 : 0.05));
    return { ...both, caps, floors, forgetting: between(rng, 0.004, 0.008), target: 0.65 };
  },
};
