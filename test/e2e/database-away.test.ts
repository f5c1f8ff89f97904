/** While the database is away a server scores, says of no sample that it was recorded, lives, and is not ready; then all comes back. */
import { expect, test } from "vitest";
import { createClient, type GradusError } from "../../clients/ts/src/index.ts";
import { openServer } from "../support/in-process.ts";
import { eventually, until } from "../support/patience.ts";
import { startPostgres } from "../support/postgres.ts";

test("calls about runs are to be made again, scoring goes on, and nothing that was acknowledged is lost", async () => {
  await using postgres = await startPostgres();
  await using server = await openServer({ store: await postgres.database() });
  const { client } = server;
  const hasty = createClient(server.address, { retry: false, onFeedback: "ignore" });
  const run = client.run("run");
  await run.create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 4,
    promptsPerUpdate: 2,
  });
  const task = (await run.nextBatch({ cursor: 0n })).tasks[0]!;
  const feedbackOf = async (sampleIndex: number) =>
    (await hasty.step(task, `<answer>${sampleIndex}</answer>`, { sampleIndex })).feedback?.status;
  const ready = async () => (await fetch(`${server.http}/healthz`)).status;
  expect(await feedbackOf(0)).toBe("recorded");
  await postgres.stop("immediate");
  const away = await hasty.step(task, "<answer>1</answer>", { sampleIndex: 1 });
  expect([away.kind, away.feedback?.status]).toEqual(["scored", "not_recorded"]);
  await until(async () => (await ready()) === 503);
  const refused = (await hasty
    .run("run")
    .pause()
    .catch((error: unknown) => error)) as GradusError;
  expect(refused.code).toBe("UNAVAILABLE");
  expect(refused.retryDelayMs).toBeGreaterThan(0);
  expect((await hasty.reset({ environment: "countdown", level: "T0" })).taskId).not.toBe("");
  await postgres.start();
  await until(async () => (await ready()) === 200);
  await eventually(async () => expect(["recorded", "duplicate"]).toContain(await feedbackOf(1)));
  expect(await feedbackOf(0)).toBe("duplicate");
  expect((await run.get()).state?.samplesRecorded).toBe(2n);
  hasty.close();
});
