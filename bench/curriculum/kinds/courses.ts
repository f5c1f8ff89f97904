/** Kinds that differ in their pace, and in events during the run. */
import { rngFor } from "../../../envs/lib/rng.ts";
import { between } from "../../../server/simulation/student-law.ts";
import { armsWhere, at, coins, type Described, hopeless, paced, transferring } from "./kind.ts";

const middle = ({ level }: { readonly level: number }): boolean => level === 1;

export const plateau: Described = {
  name: "a plateau that breaks through",
  models: "the second level hardly moves for 30 to 60 teaching groups, and then twice as fast as others",
  nature: (nature, rng, of) => ({ ...nature, opens: at(of, 0, armsWhere(of, middle), () => between(rng, 30, 60)) }),
};

export const longPlateaus: Described = {
  name: "long plateaus",
  models: "every level but the easiest hardly moves for 40 to 120 teaching groups, and then twice as fast as others",
  nature: (nature, rng, of) => ({
    ...nature,
    start: nature.start.map((ability) => 0.7 * ability),
    opens: at(
      of,
      0,
      armsWhere(of, ({ level }) => level > 0),
      () => between(rng, 40, 120),
    ),
  }),
};

export const drift: Described = {
  name: "drift",
  models: "all that was gained wears off a little with each update batch, practised or not",
  nature: (nature, rng) => ({ ...nature, drift: between(rng, 0.005, 0.01), target: 0.7 }),
};

export const sudden: Described = {
  name: "sudden falls",
  models: "the tasks of some arm change every 40 update batches, and what was learnt of them falls by two logits",
  nature: (nature, rng, of) => ({
    ...nature,
    falls: Array.from({ length: 5 }, (_, i) => ({ batch: 40 * (i + 1), arm: rng.int(0, of.length - 1), by: 2 })),
  }),
};

/** A kind that learns `times` as fast, in a run that is as much longer. */
const rate = (name: string, times: number): Described => ({
  name: `pace ${name}`,
  models: `every group teaches ${name} as much`,
  nature: (nature) => paced(nature, times),
  shape: { batches: Math.ceil(500 * Math.max(0.5, 1 / times)) },
});

export const eighthPace = rate("1/8", 1 / 8);
export const thirdPace = rate("1/3", 1 / 3);
export const triplePace = rate("3 times", 3);
export const sixfoldPace = rate("6 times", 6);

/**
 * An arm that is practised where it pays needs 500 to 5,000 groups, evenly by their logarithm, to come .15 further,
 * however many are in an update batch: at a solved share of .3 that is .9 logits, and a group teaches .84 of the rate.
 */
const slow = (name: string, models: string, promptsPerUpdate: number, nature: Described["nature"]): Described => ({
  name: `slow, ${name}batches of ${promptsPerUpdate}`,
  models: `needs 500 to 5,000 groups of an arm for .15 of success${models}`,
  nature(ladder, rng, of) {
    const groups = Math.exp(between(rngFor("pace", rng.int(0, 2 ** 31)), Math.log(500), Math.log(5000)));
    const perGroup = 0.9 / (0.84 * groups);
    const rates = of.map(() => (perGroup * promptsPerUpdate) / 16);
    return nature?.({ ...ladder, rates, forgetting: 0, target: 0.42 }, rng, of) ?? { ...ladder, rates };
  },
  shape: { promptsPerUpdate, batches: Math.ceil(400_000 / promptsPerUpdate) },
});

const sizes = [16, 128, 256] as const;

export const slowLadders = sizes.map((size) => slow("", "", size, (same) => same));

export const slowWithCoins = sizes.map((size) =>
  slow(
    "with a coin, a hopeless arm and little transfer, ",
    ", with a coin, a hopeless arm and little transfer",
    size,
    (nature, rng, of) => {
      const little = transferring(nature, rng, of, { within: 0.2, across: 0 });
      const coin = rng.pick(armsWhere(of, middle));
      return hopeless(coins(little, [coin], 0.5), [rng.pick(armsWhere(of, ({ level }) => level === 3))]);
    },
  ),
);
