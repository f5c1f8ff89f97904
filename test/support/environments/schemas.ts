/** An environment whose rows come in two schemas, as a module for threads that read files. */
import { defineEnvironment } from "../../../envs/define.ts";
import { judged } from "./slow.ts";
import { type Sum, sums } from "./sums.ts";

/** Knows two schemas, as an environment for math does. */
export const twoSchemas = defineEnvironment<Sum, number>({
  ...sums,
  id: "test/schemas",
  version: 1,
  description: "Add.",
  rows: {
    columns: ["problem", "answer", "prompt", "reward_model"],
    read: (row) => {
      const { prompt, reward_model, problem, answer } = row as {
        readonly prompt?: readonly { readonly content: string }[];
        readonly reward_model?: { readonly ground_truth: string };
        readonly problem?: string;
        readonly answer?: string;
      };
      const asked = /(\d+) \+ 1/.exec(problem ?? prompt?.[0]?.content ?? "");
      const total = Number(answer ?? reward_model?.ground_truth);
      if (asked === null || Number(asked[1]) + 1 !== total) return { kind: "malformed", reason: "no sum" };
      return { kind: "answer", answer: { a: Number(asked[1]), b: 1 } };
    },
  },
  verify: judged,
});

export default [twoSchemas];
