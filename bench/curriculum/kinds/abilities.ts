/** Kinds that differ in their first abilities, and in the effect of practising one arm on others. */
import { between } from "../../../server/simulation/student-law.ts";
import { type Described, hopeless, armsWhere, transferring } from "./kind.ts";

export const halfSolved: Described = {
  name: "half solved at the start",
  models: "the two easier levels are mastered before the run begins",
  nature: (nature) => ({ ...nature, start: nature.start.map((ability) => ability + 4), target: 0.9 }),
};

export const mostlySolved: Described = {
  name: "mostly solved at the start",
  models: "all but one arm are mastered before the run begins, and that one is hardly ever solved",
  nature: (nature, rng, of) => {
    const left = rng.pick([...of.keys()]);
    const start = nature.start.map((_, arm) => (arm === left ? between(rng, -3.5, -2.5) : between(rng, 3, 4)));
    return { ...nature, start, target: 0.95 };
  },
};

export const shuffled: Described = {
  name: "shuffled order",
  models: "what is called easy and hard has nothing to do with what is",
  nature: (nature, rng) => {
    const order = rng.shuffle([...nature.start.keys()]);
    const of = (arm: number): number => order[arm] ?? arm;
    return {
      ...nature,
      start: nature.start.map((_, arm) => nature.start[of(arm)] ?? 0),
      transfer: nature.transfer.map((row, from) => row.map((_, to) => nature.transfer[of(from)]?.[of(to)] ?? 0)),
    };
  },
};

export const reversed: Described = {
  name: "reversed order",
  models: "what is called hardest is the easiest, and the other way round",
  nature: (nature, _, of) => {
    const top = Math.max(...of.map(({ level }) => level));
    const twin = of.map(({ family, level }) =>
      of.findIndex((other) => other.family === family && other.level === top - level),
    );
    return { ...nature, start: nature.start.map((__, arm) => nature.start[twin[arm] ?? arm] ?? 0) };
  },
};

export const transferUp: Described = {
  name: "transfer up",
  models: "practice helps with what is harder, and not with what is easier",
  nature: (nature, rng, of) => transferring(nature, rng, of, { within: 0.45, across: 0.05, to: "up" }),
};

export const transferDown: Described = {
  name: "transfer down",
  models: "practice helps with what is easier, and not with what is harder",
  nature: (nature, rng, of) =>
    transferring({ ...nature, start: nature.start.map((ability) => 0.6 * ability) }, rng, of, {
      within: 0.6,
      across: 0.05,
      to: "down",
    }),
};

export const transferBoth: Described = {
  name: "transfer to all",
  models: "practice helps with all of a family nearly as much, and with the other family",
  nature: (nature, rng, of) => transferring(nature, rng, of, { within: 0.75, across: 0.3 }),
};

export const transferNone: Described = {
  name: "no transfer",
  models: "each arm is learnt by itself alone; none is out of reach at the start",
  nature: (nature, _, of) => ({
    ...nature,
    start: nature.start.map((ability) => 0.6 * ability),
    transfer: of.map((__, from) => of.map((___, to) => Number(from === to))),
  }),
};

export const forgetsAll: Described = {
  name: "forgets fast",
  models: "an arm left out of an update batch loses 2% to 3% of what was gained on it",
  nature: (nature, rng) => ({ ...nature, forgetting: between(rng, 0.02, 0.03), target: 0.65 }),
};

export const interferenceOfLevels: Described = {
  name: "interference of levels",
  models: "practice of the hardest level harms the easiest of its family",
  nature: (nature, _, of) => ({
    ...nature,
    transfer: nature.transfer.map((row, f) =>
      row.map((share, t) =>
        of[f]?.family === of[t]?.family && of[f]?.level === 3 && of[t]?.level === 0 ? -0.2 : share,
      ),
    ),
  }),
};

export const interferenceOfFamilies: Described = {
  name: "interference of families",
  models: "practice of either family harms the other",
  nature: (nature, _, of) => ({
    ...nature,
    transfer: nature.transfer.map((row, f) => row.map((share, t) => (of[f]?.family === of[t]?.family ? share : -0.06))),
    target: 0.7,
  }),
};

export const oneSkillAndHopeless: Described = {
  name: "one skill, and hopeless arms",
  models: "six arms are one skill, and two are out of reach",
  nature: (nature, rng, of) => {
    const [ability, rate] = [between(rng, -2.5, -1.5), between(rng, 0.0035, 0.0065)];
    const one = {
      ...nature,
      start: of.map(() => ability),
      rates: of.map(() => rate),
      transfer: of.map(() => of.map(() => 1)),
      forgetting: 0,
    };
    return hopeless(
      one,
      armsWhere(of, ({ level }) => level === 3),
    );
  },
};

export const blocked: Described = {
  name: "blocked in the middle",
  models: "an arm of the second level is out of reach, so that its level never looks mastered",
  nature: (nature, rng, of) => hopeless(nature, [rng.pick(armsWhere(of, ({ level }) => level === 1))]),
};
