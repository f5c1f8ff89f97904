/** Runs whose open groups were drawn from sources that a mounted file has no longer: they go on, and resume the same. */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type GradusClient, GradusError, type RunChoice, type Task } from "../../../../clients/ts/src/index.ts";
import type { TestServer } from "../../../support/in-process.ts";
import { openMounting } from "../../../support/mounted/mounts.ts";
import { eventually } from "../../../support/patience.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const source = (id: string, version: number, title: string): string => `from gradus.serve import Environment


class Echo(Environment):
    """Repeat a number."""

    id = "${id}"
    version = ${version}

    def generate(self, rng):
        return rng.randrange(10**9)

    def prompt(self, instance):
        return f"${title} {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)
`;
const FIRST = source("mine/echo", 1, "first");

const choice: RunChoice = {
  arms: [
    { id: "echo", environment: "mine/echo" },
    { id: "native", environment: "countdown", level: "T0" },
  ],
  policy: { kind: "bandit" },
  feedbackLag: 0,
  numGenerations: 2,
  promptsPerUpdate: 8,
  seed: 3,
};

async function play(client: GradusClient, tasks: readonly Task[]): Promise<void> {
  const texts = [0, 1].map((sampleIndex) => ({ sampleIndex, text: "no answer" }));
  await client.batchStep(tasks.map((task) => ({ task, completions: texts })));
}

/** The control changes of a run's history. */
async function changes({ http }: TestServer, runId: string) {
  const response = await fetch(`${http}/gradus.v1.CurriculumService/GetHistory`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ runId }),
  });
  const { records } = (await response.json()) as {
    records: { control?: { kind: string; closeCause?: string; reason?: string } }[];
  };
  return records.flatMap(({ control }) => (control === undefined ? [] : [control]));
}

const line = ({ armId, instanceHash, prompt }: Task): string => `${armId} ${instanceHash} ${prompt[0]?.content ?? ""}`;

/** Returns the refusal in words; empty: the answer was scored. */
async function refusalOf(client: GradusClient, task: Task): Promise<string> {
  const outcome = await client.step(task, "no answer").catch((error: unknown) => error);
  if (outcome instanceof GradusError) return outcome.message;
  const { kind, detail } = outcome as { kind: string; detail?: string };
  return kind === "unscored" ? (detail ?? "") : "";
}

test.each([
  [
    "another digest",
    source("mine/echo", 1, "second"),
    /mine\/echo was of digest/,
    /mine\/echo was of digest .* now, mounted/,
  ],
  [
    "another version",
    source("mine/echo", 2, "second"),
    /a format that this server does not know/,
    /mine\/echo has no version 1; it has: 2/,
  ],
  ["no such environment", source("mine/other", 1, "second"), /./, /unknown environment 'mine\/echo'/],
])("open groups of a file that has %s now are closed, and the run goes on", async (_, changed, words, why) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "echo.py");
  writeFileSync(file, FIRST);
  const flags = { reload: true, store: "sqlite", mountWorkers: "1", replacedGraceMs: "2000" };
  const first = await openMounting(file, flags);
  const { client, dataDir } = first;
  const run = client.run("goes-on");
  await run.create(choice);
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 8 });
  const [echoes, natives] = ["echo", "native"].map((arm) => tasks.filter(({ armId }) => armId === arm)) as [
    Task[],
    Task[],
  ];
  expect(echoes.length * natives.length).toBeGreaterThan(0);
  await play(client, natives);
  writeFileSync(file, changed);
  const [held] = echoes as [Task];
  await eventually(async () => expect(await refusalOf(client, held)).toMatch(words));
  const next = await run.nextBatch({ cursor: 8n, count: 8 });
  expect(next.tasks.map(({ armId }) => armId)).toEqual(Array.from({ length: 8 }, () => "native"));
  const closed = (await changes(first, "goes-on")).filter(({ kind }) => kind === "close_groups");
  expect(closed).toEqual([
    expect.objectContaining({
      closeCause: "CLOSE_CAUSE_REPLACED",
      reason: expect.stringMatching(new RegExp(`^replaced: .*${why.source}`)) as string,
    }),
  ]);
  // A trainer that asks for the first batch again gets those of its tasks that remain.
  const again = await run.nextBatch({ cursor: 0n, count: 8 });
  expect(again.tasks.map(line)).toEqual(natives.map(line));
  await play(client, next.tasks);
  const state = await run.get();
  await first.server.stop();
  client.close();
  const copy = join(folder.path, "copy");
  cpSync(dataDir, copy, { recursive: true });
  const futures = [];
  for (const each of [dataDir, copy]) {
    await using resumed = await openMounting(file, { ...flags, dataDir: each });
    expect(await resumed.client.run("goes-on").get()).toEqual(state);
    futures.push((await resumed.client.run("goes-on").nextBatch({ cursor: 16n, count: 8 })).tasks.map(line));
  }
  expect(futures[1]).toEqual(futures[0]);
});

test("groups stay open while the grace period lasts, and after their sources came back", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "echo.py");
  writeFileSync(file, FIRST);
  await using server = await openMounting(file, { reload: true, mountWorkers: "1" });
  const { client } = server;
  const run = client.run("waits");
  await run.create(choice);
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 8 });
  writeFileSync(file, source("mine/echo", 1, "second"));
  const [held] = tasks.filter(({ armId }) => armId === "echo") as [Task];
  await eventually(() => expect(client.step(held, "no")).rejects.toMatchObject({ code: "FAILED_PRECONDITION" }));
  writeFileSync(file, FIRST);
  await eventually(() => client.step(held, "no"));
  expect((await run.get()).state?.groupsOutstanding).toBe(8);
  await play(client, tasks);
  expect((await run.nextBatch({ cursor: 8n, count: 8 })).tasks).toHaveLength(8);
  expect(await changes(server, "waits")).not.toContainEqual(expect.objectContaining({ kind: "close_groups" }));
});
