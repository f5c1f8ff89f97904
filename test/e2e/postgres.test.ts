/** Servers that share a PostgreSQL database: any of them answers any call, and scoring goes on while it is away. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import type { Outcome } from "../../clients/ts/src/outcomes.ts";
import { eventually } from "../support/patience.ts";
import { startPostgres } from "../support/postgres.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

const choice = {
  arms: [{ id: "only", environment: "countdown", level: "T0" }],
  policy: { kind: "mixture" },
  promptsPerUpdate: 4,
  numGenerations: 2,
  feedbackLag: "unbounded",
  seed: 7n,
} as const;

const feedbackOf = (outcome: Outcome): string | undefined => outcome.feedback?.status;

test("a run goes on at any server, and through an outage of the database", async () => {
  await using postgres = await startPostgres();
  using folder = temporaryFolder();
  using second = temporaryFolder();
  const a = await startServer(folder.path, "--store", postgres.url);
  copyFileSync(join(folder.path, "task-keys"), join(second.path, "task-keys"));
  const b = await startServer(second.path, "--store", postgres.url);
  const [near, far] = [createClient(a.address), createClient(b.address)];

  await near.run("shared").create(choice);
  const first = await near.run("shared").nextBatch({ cursor: 0n });
  expect((await far.run("shared").nextBatch({ cursor: 0n })).tasks).toEqual(first.tasks);
  const [task, other] = first.tasks;
  if (task === undefined || other === undefined) throw new Error("no tasks");
  const step = async (client: typeof near, of: typeof task, sampleIndex: number) =>
    client.step(of, `<think></think><answer>${sampleIndex}</answer>`, { sampleIndex });
  expect(feedbackOf(await step(near, task, 0))).toBe("recorded");
  expect(feedbackOf(await step(far, task, 0))).toBe("duplicate");
  expect(feedbackOf(await step(far, task, 1))).toBe("recorded");
  const health = async (): Promise<number> => (await fetch(`${a.httpAddress}/healthz`)).status;
  expect(await health()).toBe(200);

  await postgres.stop("immediate");
  const unrecorded = await step(near, other, 0);
  expect([unrecorded.kind, feedbackOf(unrecorded)]).toEqual(["scored", "not_recorded"]);
  await eventually(async () => expect(await health()).toBe(503));
  await postgres.start();
  await eventually(async () => expect(await health()).toBe(200));
  expect(feedbackOf(await step(near, other, 0))).toBe("recorded");
  expect((await far.run("shared").nextBatch({ cursor: 4n })).tasks).toHaveLength(4);

  near.close();
  far.close();
  expect(await a.kill("SIGTERM")).toBe(0);
  expect(await b.kill("SIGTERM")).toBe(0);
});
