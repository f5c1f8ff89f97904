/** A policy that learns nothing and answers the same task the same way: right, wrong and malformed answers mixed. */
import type { GroupChoice, RunChoice } from "../../clients/ts/src/index.ts";
import { countdown } from "../../envs/countdown/index.ts";
import { rngFor } from "../../envs/lib/rng.ts";

/** Fields of a task that the policy reads. */
export interface SeenTask {
  readonly taskId: string;
  readonly groupId: string;
  readonly cursor: bigint;
  readonly armId: string;
  readonly hints?: { readonly metadata: Readonly<Record<string, string>> } | undefined;
}

/** ADSC's eight arms with its constraints (ADSC 3.3). */
export function adscRun(overrides: Partial<RunChoice> = {}): RunChoice {
  const arms = (["real", "synthetic"] as const).flatMap((source) =>
    ["T0", "T1", "T2", "T3"].map((level) => {
      const id = `${source}/${level}`;
      return { id, environment: "countdown", level, source, hard: level === "T2" || level === "T3" };
    }),
  );
  const constraints = { realShareMin: 0.3, syntheticShareMax: 0.5, hardShareMin: 0.1, hardWarmupBatches: 2 };
  return {
    arms,
    policy: { kind: "bandit", constraints },
    numGenerations: 4,
    promptsPerUpdate: 8,
    seed: 20261120,
    ...overrides,
  };
}

/** Returns a line with the policy's view of a task, without ids. Equal runs give equal lines. */
export function taskLine(task: SeenTask): string {
  const { numbers, target } = task.hints?.metadata ?? {};
  return `${task.cursor} ${task.armId} ${numbers} -> ${target}`;
}

export function complete(task: SeenTask, sample: number): string {
  const { numbers = "", target = "" } = task.hints?.metadata ?? {};
  const given = numbers.split(" ").map(Number);
  const chance = rngFor("scripted-policy", numbers, target, sample).float();
  // Answers are right more often if there are few numbers, so that arms differ.
  const right = given.length === 3 ? 0.6 : 0.3;
  if (chance < right) return wrap(solve(given, Number(target)));
  return chance < right + 0.2 ? "I do not know." : wrap(given.join(" + "));
}

export function completionsOf(task: SeenTask, generations: number): GroupChoice {
  return { task, completions: Array.from({ length: generations }, (_, sample) => complete(task, sample)) };
}

function wrap(answer: string): string {
  return `<think>…</think><answer>${answer}</answer>`;
}

/** Returns a right answer to a countdown task. */
export function solve(numbers: readonly number[], target: number): string {
  const solution = countdown.solver?.solve({ numbers, target });
  if (solution === undefined) throw new Error("countdown has no solver");
  return countdown.solver!.format(solution.answer);
}
