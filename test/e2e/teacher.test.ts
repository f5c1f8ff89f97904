/**
 * Tests a run's arms whose tasks a teacher makes: drawn tasks are kept whole, and a teacher that is down holds up no
 * other arm.
 */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClient, type GradusClient, type RunChoice } from "../../clients/ts/src/index.ts";
import { Source } from "../../clients/ts/src/public.ts";
import { type Behaviour, type ChatRequest, startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { PATIENCE_MS, until } from "../support/patience.ts";
import { completionsOf, taskLine } from "../support/scripted-policy.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";
import { goodReply } from "../support/teacher.ts";

const teacherArm = (level: string) =>
  ({ id: `teacher/${level}`, environment: "countdown", level, source: "teacher" }) as const;
const made = { id: "made", environment: "countdown", level: "T0" } as const;

const choice = (arms: RunChoice["arms"]): RunChoice => ({
  arms,
  policy: { kind: "mixture" },
  numGenerations: 2,
  promptsPerUpdate: 8,
  seed: 3,
});

/** Starts a teacher whose replies the test chooses. */
async function startTeacher(behave: (request: ChatRequest, index: number) => Behaviour = goodReply) {
  const chat = await startChatServer(behave);
  return {
    chat,
    flags: { teacherUrl: chat.url, teacherModel: "teacher" },
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

const linesOf = async (client: GradusClient, run: string, cursor: bigint): Promise<readonly string[]> =>
  (await client.run(run).nextBatch({ cursor, count: 8 })).tasks.map(taskLine);

describe("a run with arms of a teacher", () => {
  test("is created without asking, draws verified tasks, and scores them", async () => {
    await using teacher = await startTeacher();
    await using server = await openServer({ store: "memory", ...teacher.flags });
    const { client } = server;
    const run = client.run("taught");
    await run.create(choice([teacherArm("T0"), teacherArm("T2"), made]));
    expect(teacher.chat.requests).toHaveLength(0);
    const { tasks } = await run.nextBatch();
    const taught = tasks.filter(({ source }) => source === Source.TEACHER);
    expect(taught.length).toBeGreaterThan(0);
    expect(new Set(tasks.map(({ instanceHash }) => instanceHash)).size).toBe(8);
    const groups = await client.batchStep(tasks.map((task) => completionsOf(task, 2)));
    for (const { outcomes } of groups) for (const { kind } of outcomes) expect(kind).toBe("scored");
    const metrics = await (await fetch(`${server.http}/metrics`)).text();
    expect(metrics).toMatch(
      /gradus_teacher_proposals_total\{environment="countdown",level="T0",outcome="accepted"\} \d/,
    );
    expect(metrics).toMatch(/gradus_teacher_tokens_total\{environment="countdown",level="T0",direction="out"\} [1-9]/);
    const [info] = (await client.listEnvironments()).filter(({ id }) => id === "countdown");
    expect(info?.sources).toContain(Source.TEACHER);
  });

  test("without a teacher it is refused, and the flag is named", async () => {
    await using server = await openServer({ store: "memory" });
    const created = server.client.run("none").create(choice([made, teacherArm("T0")]));
    await expect(created).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringMatching(/config\.arms\[1\]\.spec\.source: .*--teacher-url/) as string,
    });
  });

  test("a Reset has one too, the same for the same seed", async () => {
    await using teacher = await startTeacher();
    await using server = await openServer({ store: "memory", ...teacher.flags });
    const asked = { environment: "countdown", level: "T1", source: "teacher" } as const;
    const task = await server.client.reset({ ...asked, seed: 5n });
    expect(await server.client.reset({ ...asked, seed: 5n })).toEqual(task);
    expect((await server.client.reset({ ...asked, seed: 6n })).taskId).not.toBe(task.taskId);
    expect(task).toMatchObject({ source: Source.TEACHER, level: "T1" });
  });
});

// The next three wait for most of their time: until a server that was killed counts as gone, or a teacher is asked again.
test.concurrent("after a kill, and on another server, drawn tasks are the same and nobody is asked", async () => {
  using folder = temporaryFolder();
  await using teacher = await startTeacher();
  const flags = ["--teacher-url", teacher.chat.url, "--teacher-model", "teacher"];
  const first = await startServer(folder.path, ...flags);
  const before = createClient(first.address, { deadlineMs: PATIENCE_MS });
  await before.run("kept").create(choice([teacherArm("T0"), teacherArm("T1")]));
  const drawn = await linesOf(before, "kept", 0n);
  expect(drawn).toHaveLength(8);
  const exported = await before.run("kept").export();
  before.close();
  await first.kill("SIGKILL");
  const asked = teacher.chat.requests.length;

  // Tasks that were already drawn need no teacher.
  const second = await startServer(folder.path);
  const after = createClient(second.address, { deadlineMs: PATIENCE_MS });
  expect(await linesOf(after, "kept", 0n)).toEqual(drawn);
  const { tasks } = await after.run("kept").nextBatch({ cursor: 0n, count: 8 });
  for (const { outcomes } of await after.batchStep(tasks.map((task) => completionsOf(task, 2))))
    for (const { kind } of outcomes) expect(kind).toBe("scored");
  after.close();
  await second.kill("SIGTERM");

  await using other = await openServer({ store: "memory", keyFile: join(folder.path, "task-keys") });
  await other.client.run("moved").import(exported.state);
  expect(await linesOf(other.client, "moved", 0n)).toEqual(drawn);
  expect(teacher.chat.requests).toHaveLength(asked);
});

test.concurrent("a teacher that is down is masked with its reason, the others go on, and it comes back", async () => {
  let isDown = true;
  await using teacher = await startTeacher((request, index) =>
    isDown ? { kind: "status", status: 503, message: "asleep" } : goodReply(request, index),
  );
  await using server = await openServer({ store: "memory", ...teacher.flags });
  const client = createClient(server.address, { retry: false });
  const run = client.run("masked");
  await run.create(choice([teacherArm("T0"), made]));
  const reason = async () => (await run.get()).state?.arms[0]?.maskedReason;
  let tasks: readonly { readonly armId: string }[] = [];
  await until(async () => {
    tasks = (await run.nextBatch({ cursor: 0n, count: 8 }).catch(() => undefined))?.tasks ?? [];
    return tasks.length > 0;
  });
  expect(new Set(tasks.map(({ armId }) => armId))).toEqual(new Set(["made"]));
  isDown = false;
  await until(async () => (await reason()) === undefined);
  client.close();
});

test.concurrent("one that cannot be reached is no other's matter either", async () => {
  const teacherUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  await using server = await openServer({ store: "memory", teacherUrl, teacherModel: "teacher" });
  const client = createClient(server.address, { retry: false });
  const reset = client.reset({ environment: "countdown", level: "T1", source: "teacher", seed: 1n });
  await expect(reset).rejects.toMatchObject({ code: "UNAVAILABLE" });
  const run = client.run("unreachable");
  await run.create(choice([teacherArm("T0"), made]));
  await until(async () => ((await run.nextBatch().catch(() => undefined))?.tasks.length ?? 0) > 0);
  client.close();
});
