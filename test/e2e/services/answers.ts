/** Answers to countdown tasks whose rewards under "graded" are known: 1, 0.1 and 0. */
import { countdown } from "../../../envs/countdown/index.ts";
import type { Task } from "../../../server/gen/gradus/v1/task_pb.js";

function numbersOf({ hints }: Task): { readonly numbers: readonly number[]; readonly target: number } {
  const { numbers = "", target = "" } = hints?.metadata ?? {};
  return { numbers: numbers.split(" ").map(Number), target: Number(target) };
}

const marked = (answer: string): string => `<think>…</think><answer>${answer}</answer>`;

export function right(task: Task): string {
  const solution = countdown.solver?.solve(numbersOf(task));
  if (solution === undefined) throw new Error("countdown has no solver");
  return marked(countdown.format(solution.answer));
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
