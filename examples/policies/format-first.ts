/**
 * A policy of one's own, as `gradus serve --policies examples/policies/format-first.ts` loads it: it draws most where
 * answers cannot be read, until they can. It reads a part of the reward, "format", which is 1 or −1 in the schemes of
 * FORGE, and keeps a moving average of it for each arm.
 *
 *   policy: { named: { name: format-first, parameters: { rate: 0.2 } } }
 */
import { type Json, readNumbers } from "../../server/curriculum/core/json.ts";
import { fieldsOf } from "../../server/curriculum/policies/fields.ts";
import { first, inRange, type PolicyDefinition, positive } from "../../server/curriculum/policies/policy.ts";

interface Config {
  /** Of the moving average, in (0, 1]. */
  readonly rate: number;
  /** What an arm has whose answers can all be read, of one none of whose answers can, in [0, 1]. */
  readonly floor: number;
}

const FORMAT = "component:format";

/** By arm: the share of answers that cannot be read, as far as is known. */
type State = readonly number[];

const formatFirst: PolicyDefinition<Config, State> & { readonly examples: readonly Json[] } = {
  kind: "format-first",
  examples: [{}, { rate: 1, floor: 0.5 }],
  read(parameters) {
    const fields = fieldsOf(parameters, ["rate", "floor"]);
    return { rate: fields.number("rate") ?? 0.1, floor: fields.number("floor") ?? 0.1 };
  },
  write: ({ rate, floor }) => ({ rate, floor }),
  check: ({ rate, floor }) => first([() => positive("rate", rate, 1), () => inRange("floor", floor, 1e-3, 1)]),
  takesFeedback: true,
  reads: () => [FORMAT],
  initial: (_, armCount) => new Array<number>(armCount).fill(1),
  resize: (_, state, armCount) => Array.from({ length: armCount }, (__, arm) => state[arm] ?? 1),
  state: { encode: (state) => state, decode: readNumbers },
  observe({ rate }, state, groups) {
    const next = [...state];
    for (const { arm, weight, facts } of groups) {
      const format = facts?.[FORMAT];
      if (format === undefined) continue;
      const unread = (1 - format) / 2;
      next[arm] = (next[arm] ?? 1) + rate * weight * (unread - (next[arm] ?? 1));
    }
    return next;
  },
  probabilities({ floor }, state, { arms }) {
    const shares = arms.map(({ weight }, arm) => weight * (floor + (1 - floor) * Math.max(0, state[arm] ?? 1)));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
  },
};

export default [formatFirst];
