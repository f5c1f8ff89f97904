/**
 * A custom policy, which `gradus serve --policies examples/policies/weakest-part.ts` loads. The policy draws most from
 * the arms where one component of the reward is lowest, e.g. the format, so that answers become readable before they
 * become right. It keeps a moving average of that component for each arm.
 *
 * ```
 * policy: { named: { name: weakest-part, parameters: { part: format, worst: -1, best: 1 } } }
 * ```
 */
import { type Json, readNumbers } from "../../server/curriculum/json.ts";
import { invalid } from "../../server/curriculum/types.ts";
import { fieldsOf } from "../../server/curriculum/policies/fields.ts";
import { first, inRange, type PolicyDefinition, positive } from "../../server/curriculum/policies/policy.ts";

interface Config {
  /** Name of the reward's component. */
  readonly part: string;
  /** Values of the component that count as 1 (worst) and 0 (best). */
  readonly worst: number;
  readonly best: number;
  /** Rate of the moving average, in (0, 1]. */
  readonly rate: number;
  /** Weight of an arm at its best, relative to its weight at its worst, in (0, 1]. */
  readonly floor: number;
}

/** For each arm, the distance of its component from the best, from 0 to 1. 1 if nothing is known. */
type State = readonly number[];

const weakestPart: PolicyDefinition<Config, State> & { readonly examples: readonly Json[] } = {
  kind: "weakest-part",
  examples: [{}, { part: "correctness", worst: 0, rate: 1, floor: 0.5 }],
  read(parameters) {
    const fields = fieldsOf(parameters, ["part", "worst", "best", "rate", "floor"]);
    return {
      part: fields.text("part") || "format",
      worst: fields.number("worst") ?? -1,
      best: fields.number("best") ?? 1,
      rate: fields.number("rate") ?? 0.1,
      floor: fields.number("floor") ?? 0.1,
    };
  },
  write: (config) => ({ ...config }),
  check: ({ worst, best, rate, floor }) =>
    first([
      () => (worst < best ? undefined : invalid("worst", `must be below best, ${best}, not ${worst}`)),
      () => positive("rate", rate, 1),
      () => inRange("floor", floor, 1e-3, 1),
    ]),
  takesFeedback: true,
  reads: ({ part }) => [`component:${part}`],
  initial: (_, armCount) => new Array<number>(armCount).fill(1),
  resize: (_, state, armCount) => Array.from({ length: armCount }, (__, arm) => state[arm] ?? 1),
  inherit: (config, state, before) => (config.part === before.part ? state : state.map(() => 1)),
  state: { encode: (state) => state, decode: readNumbers },
  observe({ part, worst, best, rate }, state, groups) {
    const next = [...state];
    for (const { arm, weight, facts } of groups) {
      const value = facts?.[`component:${part}`];
      if (value === undefined) continue;
      const short = Math.min(1, Math.max(0, (best - value) / (best - worst)));
      next[arm] = (next[arm] ?? 1) + rate * weight * (short - (next[arm] ?? 1));
    }
    return next;
  },
  probabilities({ floor }, state, { arms }) {
    const shares = arms.map(({ weight }, arm) => weight * (floor + (1 - floor) * (state[arm] ?? 1)));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  },
};

export default [weakestPart];
