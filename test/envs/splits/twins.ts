/** Tasks of a level in each split, and how many of them are relabelled twins of tasks in another split. */
import type { Environment, Level, Split } from "../../../envs/environment.ts";
import { makeGenerated } from "../../../envs/instances.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { relabel } from "./relabel.ts";

export interface Twins {
  /** Different classes among all tasks. */
  readonly classes: number;
  /** Tasks of a split that have a twin in another one: none should have. */
  readonly eval: number;
  readonly bench: number;
  /** Tasks that are not in one class with their own relabelling: the labelling is wrong where there are any. */
  readonly mislabelled: number;
}

/** The class of each instance: equal exactly for relabelled twins. */
export type Labelling = (environment: string, instances: readonly unknown[]) => readonly string[];

/** The instances of a level's tasks with these seeds. */
function instancesOf(environment: Environment, level: Level, split: Split, tasks: number): readonly unknown[] {
  // Without its goal an environment is not solved while it issues.
  const drawn: Environment = { ...environment, goal: "satisfy" };
  return Array.from({ length: tasks }, (_, seed) => {
    const result = makeGenerated(drawn, { parameters: level.parameters, seed: BigInt(seed), split });
    if (result.kind !== "made") throw new Error(result.message);
    return result.instance;
  });
}

/** Twins among so many tasks of each split that the level has. */
export function twinsOf(environment: Environment, level: Level, tasks: number, labelling: Labelling): Twins {
  const { id } = environment;
  const from = (split: Split): readonly unknown[] => instancesOf(environment, level, split, tasks);
  const train = level.evaluationOnly === true ? [] : from("train");
  const all = [...train, ...from("eval"), ...from("bench")];
  const classes = labelling(id, all);
  const again = labelling(
    id,
    all.map((instance, i) => relabel(id, instance, rngFor("twins", i))),
  );
  const [inTrain, inEval, inBench] = [
    ...[classes.slice(0, train.length), classes.slice(train.length, -tasks), classes.slice(-tasks)],
  ] as const as readonly [readonly string[], readonly string[], readonly string[]];
  const within = (own: readonly string[], others: readonly string[]): number => {
    const known = new Set(others);
    return own.filter((each) => known.has(each)).length;
  };
  return {
    classes: new Set(classes).size,
    eval: within(inEval, [...inTrain, ...inBench]),
    bench: within(inBench, [...inTrain, ...inEval]),
    mislabelled: classes.filter((each, i) => each !== again[i]).length,
  };
}
