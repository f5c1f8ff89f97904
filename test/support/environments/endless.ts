/** An environment whose solver never ends for large numbers, as a bug would have it: such tasks run into the workers' limit. */
import { defineEnvironment } from "../../../envs/define.ts";
import { generator, type Sum, sums } from "./sums.ts";

/** Largest sum of the level, which workers make first to warm up. */
const LARGEST_SUM = 198;

export const endless = defineEnvironment<Sum, number>({
  ...sums,
  id: "test/endless",
  version: 1,
  description: "Add two numbers, for ever if they are above 99.",
  generator,
  goal: "maximize",
  solver: {
    solve({ a, b }) {
      const value = a + b;
      for (;;) if (value <= LARGEST_SUM) return { answer: value, value, bound: value, proven: true, nodes: 1 };
    },
    format: String,
  },
  verify: (_instance, answer) => ({ kind: "feasible", objective: answer }),
});

export default [endless];
