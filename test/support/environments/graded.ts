/** Environment with graded components, some of which it cannot always determine. */
import { defineEnvironment } from "../../../envs/define.ts";
import type { Grading } from "../../../envs/environment.ts";
import type { GradedComponent } from "../../../envs/facts.ts";
import { generator, inline, type Sum, sums } from "./sums.ts";

const grading: Grading = {
  primary: "correctness",
  components: [
    { name: "correctness", description: "1 for the sum, else 0.", weight: 1 },
    { name: "closeness", description: "Near the sum; nobody can tell for answers over 1,000.", weight: 0.5 },
  ],
};

function closeness(off: number, answer: number): GradedComponent {
  if (answer > 1000) return { name: "closeness", value: undefined, reason: "numbers over 1,000 are not compared" };
  return { name: "closeness", value: 1 / (1 + off) };
}

export const graded = defineEnvironment<Sum, number>({
  ...sums,
  generator,
  inline,
  id: "test/graded",
  version: 1,
  description: "Add, and be graded.",
  grading,
  verify({ a, b }, answer) {
    const off = Math.abs(answer - a - b);
    return {
      kind: "graded",
      components: [{ name: "correctness", value: Number(off === 0) }, closeness(off, answer)],
      solved: off === 0,
      ...(off > 0 && { violation: `it is off by ${off}` }),
    };
  },
});
