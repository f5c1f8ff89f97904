/** Small runs for tests: two arms of countdown, two prompts in an update batch, two completions of each. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunConfigSchema } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import type { Outcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../../proto/gen/gradus/v1/task_pb.js";
import { right, wrong } from "./answers.ts";
import type { Wire } from "./wire.ts";

export type Config = MessageInitShape<typeof RunConfigSchema>;

const countdown = (level: string) => ({
  environment: "countdown",
  difficulty: { case: "level", value: level } as const,
});

export const BANDIT = { kind: { case: "bandit", value: {} } } as const;
export const MIXTURE = { kind: { case: "mixture", value: {} } } as const;

export function configOf(over: Readonly<Record<string, unknown>> = {}): Config {
  const arms = [
    { id: "easy", spec: countdown("T0") },
    { id: "hard", spec: countdown("T1"), hard: true },
  ];
  const sizes = { numGenerations: 2, promptsPerUpdate: 2, seed: 5n };
  return { arms, policy: BANDIT, lag: { case: "feedbackLag", value: 0 }, ...sizes, ...over };
}

export interface TestRun {
  readonly runId: string;
  /** The tasks of [cursor, cursor + count). Does not wait for feedback. */
  next(cursor: number, count?: number): Promise<Task[]>;
  /** Scores one completion of a task. */
  step(task: Task, sampleIndex: number, completion: string): Promise<Outcome>;
  /** Answers every sample of tasks: the first right, the second wrong. */
  answer(tasks: readonly Task[]): Promise<void>;
}

export async function runOf(wire: Wire, runId: string, over: Readonly<Record<string, unknown>> = {}): Promise<TestRun> {
  await wire.curriculum.createRun({ runId, config: configOf(over) });
  return handleOf(wire, runId);
}

export function handleOf({ curriculum, environments }: Wire, runId: string): TestRun {
  const step = async ({ taskId, groupId }: Task, sampleIndex: number, completion: string): Promise<Outcome> => {
    const { outcome } = await environments.step({ taskId, groupId, sampleIndex, completion });
    if (outcome === undefined) throw new Error("no outcome");
    return outcome;
  };
  return {
    runId,
    step,
    async next(cursor, count = 0) {
      const wait = { seconds: 0n };
      return (await curriculum.nextBatch({ runId, cursor: BigInt(cursor), count, wait })).tasks;
    },
    async answer(tasks) {
      await Promise.all(tasks.flatMap((task) => [step(task, 0, right(task)), step(task, 1, wrong(task))]));
    },
  };
}
