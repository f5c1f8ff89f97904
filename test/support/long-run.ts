/** Makes a run of many update batches on a real server, which draws and answers every one of them. */
import type { GradusClient, RunHandle } from "../../clients/ts/src/public.ts";
import { completionsOf } from "./scripted-policy.ts";

const GENERATIONS = 2;
/** Update batches that are drawn before the first of them is answered. */
const AHEAD = 32;
/** Number of kinds of arms, if there are many arms. */
const KINDS = 20;

/** Creates a run with the smallest tasks and completions, which do not change the size of a history. */
export async function createLongRun(client: GradusClient, runId: string, arms: number): Promise<RunHandle> {
  const run = client.run(runId);
  await run.create({
    arms: Array.from({ length: arms }, (_, at) => ({
      id: `kind-${at % KINDS}/arm-${at}`,
      environment: "countdown",
      level: `T${at % 2}`,
    })),
    policy: { kind: "frontier" },
    numGenerations: GENERATIONS,
    promptsPerUpdate: 2,
    feedbackLag: AHEAD,
  });
  return run;
}

/** Draws and answers more update batches. */
export async function goOn(client: GradusClient, run: RunHandle, batches: number): Promise<void> {
  for (let left = batches; left > 0; left -= AHEAD) {
    const tasks = [];
    for (let at = 0; at < Math.min(AHEAD, left); at++) tasks.push(...(await run.nextBatch()).tasks);
    await client.batchStep(tasks.map((task) => completionsOf(task, GENERATIONS)));
  }
}
