/** A run under the policy frontier, and trainers of it whose answers are right or wrong by plan. */
import type { GradusClient, RunChoice } from "../../../clients/ts/src/index.ts";
import { countdown } from "../../../envs/countdown/index.ts";

export const PROMPTS = 12;
const GENERATIONS = 2;

export const frontierRun: RunChoice = {
  arms: ["T0", "T1"].map((level) => ({ id: level, environment: "countdown", level })),
  policy: { kind: "frontier" },
  numGenerations: GENERATIONS,
  promptsPerUpdate: PROMPTS,
  seed: 7n,
};

/** One update batch: its tasks in order, and the arms' probabilities at its draw. */
export interface DrawnBatch {
  readonly tasks: readonly string[];
  readonly probabilities: readonly number[];
}

interface SeenTask {
  readonly taskId: string;
  readonly groupId: string;
  readonly armId: string;
  readonly hints?: { readonly metadata: Readonly<Record<string, string>> } | undefined;
}

function rightAnswer({ hints }: SeenTask): string {
  const { numbers = "", target = "" } = hints?.metadata ?? {};
  const solution = countdown.solver?.solve({ numbers: numbers.split(" ").map(Number), target: Number(target) });
  if (solution === undefined) throw new Error("countdown has no solver");
  return `<think></think><answer>${countdown.solver!.format(solution.answer)}</answer>`;
}

/** Half of an arm's samples are right for many batches, and then all. Practice without progress comes before progress. */
function completionsOf(task: SeenTask, batch: number): readonly string[] {
  const learnt = batch >= (task.armId === "T0" ? 12 : 30);
  return Array.from({ length: GENERATIONS }, (_, sample) => (learnt || sample === 0 ? rightAnswer(task) : "unknown"));
}

/** Plays update batches of a run, and returns what was drawn. */
export async function playBatches(
  client: GradusClient,
  runId: string,
  from: number,
  to: number,
): Promise<readonly DrawnBatch[]> {
  const run = client.run(runId);
  const drawn: DrawnBatch[] = [];
  for (let batch = from; batch < to; batch++) {
    const { tasks } = await run.nextBatch({ cursor: BigInt(batch * PROMPTS) });
    const { state } = await run.get();
    drawn.push({
      tasks: tasks.map(({ armId, hints }) => `${armId} ${hints?.metadata["numbers"]} ${hints?.metadata["target"]}`),
      probabilities: state?.arms.map(({ probability }) => probability) ?? [],
    });
    await client.batchStep(tasks.map((task) => ({ task, completions: completionsOf(task, batch) })));
  }
  return drawn;
}
