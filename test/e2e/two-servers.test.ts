/** Stateless tasks: any server with the same key answers any call. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Task, createClient } from "../../clients/ts/src/index.ts";
import type { Outcome } from "../../clients/ts/src/outcomes.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

const KEYS = "task-keys";

async function open(dataDir: string) {
  const server = await startServer(dataDir, "--store", "memory");
  const client = createClient(server.address);
  return {
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      expect(await server.kill("SIGTERM")).toBe(0);
    },
  };
}

const right = (task: Task): string => {
  const { numbers = "" } = task.hints?.metadata ?? {};
  return `<think></think><answer>${numbers.split(" ").join(" + ")}</answer>`;
};
const reasonOf = (outcome: Outcome) => (outcome.kind === "unscored" ? outcome : undefined);

test("two processes with the same key serve the two halves of one episode; others say why they cannot", async () => {
  using first = temporaryFolder();
  using second = temporaryFolder();
  using stranger = temporaryFolder();
  await using a = await open(first.path);
  copyFileSync(join(first.path, KEYS), join(second.path, KEYS));
  await using b = await open(second.path);
  await using other = await open(stranger.path);

  for (const choice of [
    { environment: "countdown", level: "T2", seed: 1n },
    { environment: "countdown", level: "T1", source: "real", split: "eval", seed: 2n },
    { environment: "np/tsp", level: "hard", seed: 3n, rewardScheme: "normalized" },
  ] as const) {
    const task = await a.client.reset(choice);
    expect(await b.client.reset(choice)).toEqual(task);
    const completion = choice.environment === "countdown" ? right(task) : tour(task);
    const here = await a.client.step(task, completion);
    expect(here.kind).toBe("scored");
    expect(await b.client.step(task, completion)).toEqual(here);

    const refused = reasonOf(await other.client.step(task, completion));
    expect(refused?.reason).toBe("invalid_task_id");
    expect(refused?.detail).toContain("key that this server does not have");

    const changed = { ...task, taskId: `${task.taskId.slice(0, -2)}${task.taskId.endsWith("AA") ? "BB" : "AA"}` };
    const forged = reasonOf(await b.client.step(changed, completion));
    expect(forged?.reason).toBe("invalid_task_id");
    expect(forged?.retryDelayMs).toBeUndefined();
  }
});

function tour(task: Task): string {
  const cities = Number(task.hints?.metadata["cities"]);
  return `<think></think><answer>[${Array.from({ length: cities }, (_, i) => i).join(", ")}, 0]</answer>`;
}
