/**
 * Defines the reward schemes of tasks with several turns. Each takes the reward of a single call (a tool call or an
 * answer) from another scheme. It defines the return of an episode: the reward of the last call, the best reward, or
 * the sum. The reward of call k, counted from 0, is multiplied by discount^k.
 */
import type { Parameters } from "../environment.ts";
import { isRight, qualityRatio, type Fold, type RewardScheme } from "./scheme.ts";

const words =
  "the quality of a feasible answer relative to the baseline, 0 for others. Without a baseline, 1 for a right answer.";

/**
 * Returns the scheme whose reward for a call is the quality of its answer, so that returns lie in [0, 1] whatever the
 * environment. `primary` is the component by which graded answers are judged, if the environment has components.
 */
export const ratioScheme = (primary: string | undefined): RewardScheme => ({
  name: "ratio",
  description: primary === undefined ? words : `the component '${primary}' of a graded answer, 0 for others.`,
  parameters: [],
  usesTrivial: false,
  range: () => ({ min: 0, max: 1 }),
  price({ goal, findings, baseline }) {
    if (findings.kind === "graded" && primary !== undefined) {
      const grade = findings.components.find(({ name }) => name === primary)?.value ?? 0;
      return { reward: grade, components: [{ name: "ratio", value: grade, weight: 1 }] };
    }
    const objective = findings.kind === "feasible" ? findings.objective : undefined;
    const isMeasured = goal !== "satisfy" && baseline !== undefined && objective !== undefined;
    const value = isMeasured ? qualityRatio(goal, objective, baseline) : Number(isRight(findings));
    return { reward: value, components: [{ name: "ratio", value, weight: 1 }] };
  },
});

type Returned = ReturnType<Fold>;

/**
 * One way to compute a return: a description, and a function that adds a call's discounted reward to the return so far.
 */
interface Return {
  readonly words: string;
  readonly add: (value: number | undefined, reward: number) => Returned;
}

const FOLDS: Readonly<Record<string, Return>> = {
  last: { words: "the reward of the last call that has one", add: (_, value) => ({ value, isTaken: true }) },
  best: {
    words: "the best reward of a call",
    add: (value, reward) =>
      value === undefined || reward > value ? { value: reward, isTaken: true } : { value, isTaken: false },
  },
  sum: { words: "the sum of the calls' rewards", add: (sum = 0, reward) => ({ value: sum + reward, isTaken: true }) },
};

/** Names of the reward schemes of tasks with several turns, the default first. */
export const RETURNS: readonly string[] = Object.keys(FOLDS);

/**
 * Returns the reward scheme "last", "best" or "sum", in which `inner` computes the reward of each call. Returns
 * undefined for another name.
 */
export function returnScheme(name: string, inner: RewardScheme, callsMax: number): RewardScheme | undefined {
  const known = Object.hasOwn(FOLDS, name) ? FOLDS[name] : undefined;
  if (known === undefined) return undefined;
  return {
    ...inner,
    name,
    description: `The return of an episode is ${known.words}, with discounts. The reward of a call: ${inner.description}`,
    parameters: [
      {
        name: "discount",
        description: "The reward of call k, counted from 0, is multiplied by discount^k.",
        min: 0,
        max: 1,
        defaultValue: 1,
        integer: false,
      },
      ...inner.parameters,
    ],
    range(parameters) {
      const { min, max } = inner.range(parameters);
      const times = name === "sum" ? weightOf(parameters, callsMax) : 1;
      return { min: Math.min(0, min) * times, max: Math.max(0, max) * times };
    },
    fold: (value, reward, call, parameters) => known.add(value, reward * discountOf(parameters) ** call),
  };
}

function discountOf(parameters: Parameters): number {
  return parameters["discount"] as number;
}

/** Returns the sum of the weights of an episode's calls. Call k, counted from 0, has the weight discount^k. */
function weightOf(parameters: Parameters, calls: number): number {
  let [sum, weight] = [0, 1];
  for (let call = 0; call < calls; call++) {
    sum += weight;
    weight *= discountOf(parameters);
  }
  return sum;
}
