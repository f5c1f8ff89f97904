/** Answers to countdown tasks whose rewards under "graded" are known: 1, 0.1 and 0. */
import { countdown } from "../../../envs/countdown/index.ts";
import type { NoReward, Outcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";

function numbersOf({ hints }: Task): { readonly numbers: readonly number[]; readonly target: number } {
  const { numbers = "", target = "" } = hints?.metadata ?? {};
  return { numbers: numbers.split(" ").map(Number), target: Number(target) };
}

const marked = (answer: string): string => `<think>…</think><answer>${answer}</answer>`;

export function right(task: Task): string {
  const solution = countdown.solver?.solve(numbersOf(task));
  if (solution === undefined) throw new Error("countdown has no solver");
  return marked(countdown.solver!.format(solution.answer));
}

/** Can be read, and is not the target. */
export function wrong(task: Task): string {
  const { numbers, target } = numbersOf(task);
  const sum = numbers.reduce((total, number) => total + number, 0);
  return marked(numbers.join(sum === target ? " * " : " + "));
}

export const MALFORMED = "I do not know.";

/** Rewards 1, 0.1, 0 and 0.1. */
export function mixed(task: Task): string[] {
  return [right(task), wrong(task), MALFORMED, wrong(task)];
}

/** Completions of one prompt, as BatchStep takes them. */
export interface Group {
  readonly taskId: string;
  readonly groupId: string;
  readonly completions: { readonly sampleIndex: number; readonly text?: string }[];
  readonly numGenerations?: number;
}

/** The group at another cursor of the same run and incarnation. */
export function groupAt({ groupId }: Pick<Task, "groupId">, cursor: number): string {
  return groupId.replace(/\d+$/, String(cursor));
}

export function groupOf({ taskId, groupId }: Task, texts: readonly string[], more: Partial<Group> = {}): Group {
  return { taskId, groupId, completions: texts.map((text, sampleIndex) => ({ sampleIndex, text })), ...more };
}

export function rewardOf({ result }: Outcome): number | undefined {
  return result.case === "score" ? result.value.reward : undefined;
}

export function noRewardOf({ result }: Outcome): NoReward | undefined {
  return result.case === "noReward" ? result.value : undefined;
}
