/** A server whose store is deleted under it says so, and says of no sample that it was recorded. */
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createClient, type FeedbackStatusName, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import { checkHealth } from "../server/transport/grpc/health-client.ts";
import { openServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";

async function feedbackOf(
  client: GradusClient,
  task: Task,
  sampleIndex: number,
): Promise<FeedbackStatusName | undefined> {
  const { feedback } = await client.step(task, `<answer>${sampleIndex}</answer>`, { sampleIndex });
  return feedback?.status;
}

test("health, writes and feedback tell the truth while the store is away, and after it is back", async () => {
  await using server = await openServer();
  using away = temporaryFolder();
  const { client } = server;
  const hasty = createClient(server.address, { retry: false });
  const run = client.run("run");
  await run.create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 4,
    promptsPerUpdate: 2,
  });
  const { tasks } = await run.nextBatch({ cursor: 0n });
  const [task] = tasks;
  if (task === undefined) throw new Error("no task");
  expect(await feedbackOf(client, task, 0)).toBe("recorded");
  const { grpcPort } = server.server;
  const serving = await checkHealth(grpcPort);
  const files = readdirSync(server.dataDir).filter((name) => name.startsWith("runs.sqlite"));
  for (const name of files) renameSync(join(server.dataDir, name), join(away.path, name));
  expect(await feedbackOf(client, task, 1)).toBe("not_recorded");
  await expect(hasty.run("run").pause()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await feedbackOf(client, task, 1)).toBe("not_recorded");
  const lost = await Promise.all(["", "gradus.v1.CurriculumService"].map((service) => checkHealth(grpcPort, service)));
  expect(new Set([...lost, serving]).size).toBe(2);
  // The liveness probe stays green, because killing the server would not bring the store back.
  expect((await fetch(`${server.http}/livez`)).status).toBe(200);
  expect(await checkHealth(grpcPort, "liveness")).toBe(serving);
  for (const path of ["healthz", "readyz"]) expect((await fetch(`${server.http}/${path}`)).status).toBe(503);
  for (const name of files) renameSync(join(away.path, name), join(server.dataDir, name));
  while ((await checkHealth(grpcPort)) !== serving) await sleep(20);
  expect((await fetch(`${server.http}/healthz`)).status).toBe(200);
  hasty.close();
  // A write just before the loss was noticed may have come back with the file.
  expect(["recorded", "duplicate"]).toContain(await feedbackOf(client, task, 1));
  expect(await feedbackOf(client, task, 0)).toBe("duplicate");
  expect((await run.get()).state?.samplesRecorded).toBe(2n);
});
