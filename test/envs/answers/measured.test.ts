/** Right answers that were once scored as if nothing had been said, and wrong ones that look like them. */
import { expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { type Graph, graphOf } from "../../../envs/lib/graph.ts";
import { bisection } from "../../../envs/np/bisection/index.ts";
import { clique } from "../../../envs/np/clique/index.ts";
import { coloring } from "../../../envs/np/coloring/index.ts";
import { meetings } from "../../../envs/np/meetings/index.ts";
import { score } from "../../../envs/score.ts";
import { scoreTask } from "../every.ts";
import { THREE } from "../np/meetings/three.ts";

interface Task {
  readonly environment: SyncEnvironment;
  readonly instance: unknown;
}

/** Graph with twelve vertices, in which 6, 7, 10 and 11 are all joined. */
const CLIQUE: Graph = graphOf([[1], [2], [3], [4], [5], [], [7, 10, 11], [10, 11], [], [], [11], []]);
const TASKS: Readonly<Record<"clique" | "bisection" | "meetings" | "coloring" | "countdown", Task>> = {
  clique: { environment: clique, instance: CLIQUE },
  bisection: {
    environment: bisection,
    instance: {
      vertices: 4,
      edges: [
        { a: 0, b: 1, weight: 3 },
        { a: 1, b: 2, weight: 1 },
        { a: 2, b: 3, weight: 3 },
      ],
    },
  },
  meetings: { environment: meetings, instance: THREE },
  coloring: { environment: coloring, instance: graphOf([[1, 2], [3], [3], []]) },
  countdown: { environment: countdown, instance: { numbers: [1, 59, 19], target: 40 } },
};

function verdict(name: keyof typeof TASKS, format: AnswerFormat, completion: string): string {
  const { environment, instance } = TASKS[name];
  const solution = environment.goal === "satisfy" ? undefined : environment.solver?.solve(instance);
  const origin = { kind: "inline", instance: new Uint8Array() } as const;
  const issued = { origin, hash: "", instance, ...(solution && { baseline: solution }) };
  const scored = score(scoreTask(environment, issued, format), completion);
  return scored.solved ? "solved" : scored.verdict;
}

type Row = readonly [task: keyof typeof TASKS, format: AnswerFormat, completion: string];
const R = "[6, 7, 10, 11]";
const S = "(0, 0, 09:00), (1, 1, 10:00), (2, 0, 10:30)";

test.each<Row>([
  ["clique", "think_answer", `<think>In <think> tags, then.</think><answer>${R}</answer>`],
  ["clique", "think_answer", `<think>a</think><answer>${R}</answer> (in <answer></answer> tags)`],
  ["clique", "answer_tag", "<answer>[6, 7, 10, 11,]</answer>"],
  ["clique", "answer_tag", "<answer>6, 7, 10, 11</answer>"],
  ["clique", "answer_tag", `<answer>\n\`\`\`json\n${R}\n\`\`\`\n</answer>`],
  ["clique", "answer_tag", `<answer>\`${R}\`</answer>`],
  ["clique", "answer_tag", `<answer>$${R}$</answer>`],
  ["clique", "answer_tag", `<answer>\\(${R}\\)</answer>`],
  ["clique", "answer_tag", `<answer>**${R}**</answer>`],
  ["clique", "answer_tag", `<answer>\\boxed{${R}}</answer>`],
  ["clique", "boxed", `\\boxed{\\text{${R}}}`],
  ["clique", "boxed", `\\boxed {${R}}`],
  ["clique", "boxed", "$\\boxed{\\left[6, 7, 10, 11\\right]}$"],
  ["clique", "boxed", "\\boxed{\\{6, 7,\\ 10,\\, 11\\}}"],
  ["clique", "answer_tag", `<answer>${R}.</answer>`],
  ["clique", "answer_tag", "<answer>[6,\u00a07,\u00a010,\u00a011]</answer>"],
  ["clique", "answer_line", `**Answer**: ${R}`],
  ["clique", "answer_line", `Final Answer: ${R}`],
  ["clique", "answer_line", `**Final answer:** ${R}.`],
  ["clique", "answer_line", `### Answer: ${R}`],
  ["bisection", "answer_tag", "<answer>[0, 1], [2, 3]</answer>"],
  ["meetings", "answer_tag", `<answer>${S}</answer>`],
  ["meetings", "answer_line", `Answer: ${S}.`],
  ["coloring", "answer_tag", "<answer>[1234567890, 2, 2, 1234567890]</answer>"],
  [
    "coloring",
    "answer_tag",
    `<answer>[${"7".repeat(30)}, ${"8".repeat(30)}, ${"8".repeat(30)}, ${"7".repeat(30)}]</answer>`,
  ],
  ["countdown", "answer_tag", "<answer>40 = 1 * 59 - 19</answer>"],
  ["countdown", "answer_tag", "<answer>1 * 59 - 19 = 40</answer>"],
  ["countdown", "answer_tag", "<answer>-19 + 1 * 59</answer>"],
  ["countdown", "answer_tag", "<answer>40 = -19 + 1 * 59</answer>"],
  ["countdown", "answer_tag", "<answer>1 * 59 – 19</answer>"],
  ["countdown", "answer_tag", "<answer>1 × 59 − 19</answer>"],
  ["countdown", "answer_tag", "<answer>（59 - 19）* 1</answer>"],
  ["countdown", "boxed", "\\[\\boxed{1 \\cdot 59 - 19 = 40}\\]"],
])("%s, %s: %j is solved", (task, format, completion) => {
  expect(verdict(task, format, completion)).toBe("solved");
});

test.each<readonly [...Row, string]>([
  ["clique", "think_answer", `<think>${R}</think>`, "malformed"],
  ["clique", "think_answer", `<think>a</think><answer></answer> not <answer> </answer>`, "malformed"],
  ["clique", "answer_tag", "<answer>[6, 7][10, 11]</answer>", "malformed"],
  ["clique", "answer_tag", "<answer>[6, 7, 10, 11.5]</answer>", "malformed"],
  ["clique", "answer_tag", `<answer>${R} ${R}</answer>`, "malformed"],
  ["clique", "answer_tag", `<answer>${R} is a clique</answer>`, "malformed"],
  ["clique", "answer_tag", "<answer>6, 7, 10, 11]</answer>", "malformed"],
  ["clique", "answer_tag", "<answer>[6, 7, 10, 11, 6,]</answer>", "infeasible"],
  ["clique", "answer_tag", "<answer>**[6, 7, 8]**.</answer>", "infeasible"],
  ["clique", "answer_tag", "<answer>[1234567890]</answer>", "malformed"],
  ["bisection", "answer_tag", "<answer>[0, 1], [2, 3], []</answer>", "malformed"],
  ["bisection", "answer_tag", "<answer>[0, 1], [1, 2, 3]</answer>", "infeasible"],
  ["meetings", "answer_tag", `<answer>${S}, (0, 1, 13:00)</answer>`, "infeasible"],
  ["coloring", "answer_tag", "<answer>[1234567890, 1234567890, 2, 3]</answer>", "infeasible"],
  ["coloring", "answer_tag", `<answer>[${"7".repeat(30)}, 0${"7".repeat(30)}, 1, 2]</answer>`, "infeasible"],
  ["countdown", "answer_tag", "<answer>40</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>40 = 40</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>41 = 1 * 59 - 19</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>40 = 59 - 19</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>40 = 40 * 1 * (59 - 59) + 19</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>-1 * 59 - 19</answer>", "infeasible"],
  ["countdown", "answer_tag", "<answer>40 = 1 * 59 - 19 = 40</answer>", "malformed"],
  ["countdown", "answer_tag", "<answer>1 * 59 - 19 = 59 - 19</answer>", "malformed"],
  ["countdown", "answer_tag", "<answer>40 * 1 = 59 - 19</answer>", "malformed"],
  ["countdown", "answer_tag", "<answer>1 + 2 # 40 1 59 19</answer>", "malformed"],
  ["countdown", "answer_tag", "<answer>-(19 - 1 * 59)</answer>", "malformed"],
])("%s, %s: %j is not: %s", (task, format, completion, expected) => {
  expect(verdict(task, format, completion)).toBe(expected);
});
