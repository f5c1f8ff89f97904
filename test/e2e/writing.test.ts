/** Writing through a server, with judges that are fair, full, or down. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createClient, type GradusClient, type RunChoice, type Task } from "../../clients/ts/src/index.ts";
import { Source } from "../../clients/ts/src/public.ts";
import type { Conversation } from "../../envs/writing/conversation.ts";
import { writing } from "../../envs/writing/index.ts";
import { type Behaviour, type ChatRequest, startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { fair } from "../support/judge.ts";
import { eventually, until } from "../support/patience.ts";
import { completionsOf } from "../support/scripted-policy.ts";
import { temporaryFolder } from "../support/server-process.ts";

const rows: readonly Conversation[] = readFileSync(writing.rows!.defaultPool!.file, "utf8")
  .trimEnd()
  .split("\n")
  .map((row) => {
    const read = writing.rows!.read(JSON.parse(row));
    if (read.kind !== "answer") throw new Error(read.reason);
    return read.answer;
  });

/** Returns the texts of a good, a bad and a lazy writer: for a fair judge better, worse and no text at all. */
function textsFor({ prompt }: Task): { readonly better: string; readonly worse: string; readonly none: string } {
  const asked = prompt.at(-1)?.content ?? "";
  const row = rows.find(({ request }) => asked.startsWith(`${request}\n`));
  if (row === undefined) throw new Error(`no row asks: ${asked}`);
  const better = `${row.reference} Besides, quixotic zephyrs jinxed my wombat's gyrating sphinx.`;
  return { better, worse: "A text, a text, a text, and a text.", none: "Rain." };
}

const completion = (text: string): string => `<think>Hm.</think><answer>${text}</answer>`;

async function startJudge(behave: (request: ChatRequest, index: number) => Behaviour = fair) {
  const chat = await startChatServer(behave);
  return {
    chat,
    flags: { judgeUrl: chat.url, judgeModel: "judge", judgePriceIn: "0.4", judgePriceOut: "1.6" },
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}

const arms: RunChoice["arms"] = [
  { id: "judged", environment: "writing", source: "real" },
  { id: "plain", environment: "countdown", level: "T0" },
];
const choice = (of: RunChoice["arms"]): RunChoice => ({
  arms: of,
  policy: { kind: "mixture" },
  numGenerations: 3,
  promptsPerUpdate: 8,
  seed: 3,
});

async function metricsOf(http: string): Promise<string> {
  return (await fetch(`${http}/metrics`)).text();
}

describe("with a fair judge", () => {
  test("texts are worth what it says in both orders, and its verdicts are told", async () => {
    await using judge = await startJudge();
    await using server = await openServer({ store: "memory", ...judge.flags });
    const { client } = server;
    const task = await client.reset({ environment: "writing", source: "real", seed: 1n });
    expect(task).toMatchObject({ source: Source.REAL, environment: "writing", level: "all" });
    const { better, worse, none } = textsFor(task);
    const [group] = await client.batchStep([{ task, completions: [better, worse, none].map(completion) }]);
    const scores = group!.outcomes.map((outcome) => (outcome.kind === "scored" ? outcome : undefined));
    expect(scores.map((score) => [score?.reward, score?.solved])).toEqual([
      [1, true],
      [0, false],
      [0, false],
    ]);
    expect(scores[0]?.components.find(({ name }) => name === "preference")).toMatchObject({ value: 1, weight: 1 });
    expect(scores[0]?.info).toMatchObject({ outcome: "win", verdict_as_a: "win", reason_as_a: "it has more words" });
    expect(scores[1]).toMatchObject({ violation: "the judge prefers the reference" });
    expect(scores[2]).toMatchObject({ violation: "the text has fewer than 12 letters" });
    await eventually(async () => {
      const metrics = await metricsOf(server.http);
      expect(metrics).toContain('gradus_judge_canaries_total{outcome="right"} 16');
      expect(metrics).toContain('gradus_judge_comparisons_total{orders="consistent"} 2');
      expect(metrics).toMatch(/gradus_judge_requests_total\{outcome="verdict"\} 36/);
      expect(metrics).toMatch(/gradus_judge_tokens_total\{direction="in"\} 36000/);
      expect(metrics).toMatch(/gradus_judge_cost_dollars_total 0\.02016/);
      expect(metrics).toContain("gradus_judge_canaries_right_share 1");
    });
  });

  test("no more are judged at once than the operator says", async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, "rows.jsonl");
    writeFileSync(file, readFileSync(writing.rows!.defaultPool!.file));
    await using judge = await startJudge((request) => ({
      ...(fair(request) as Behaviour & { kind: "answer" }),
      delayMs: 5,
    }));
    const flags = { ...judge.flags, judgeConcurrency: "3", pool: [`own=${file}@train`] };
    await using server = await openServer({ store: "memory", ...flags });
    const seeds = Array.from({ length: 20 }, (_, i) => BigInt(i));
    const made = await server.client.batchReset({ environment: "writing", source: "real", pool: "own", seeds });
    const tasks = made.flatMap(({ result }) => (result.case === "task" ? [result.value] : []));
    expect(tasks).toHaveLength(20);
    const results = await server.client.batchStep(
      tasks.map((task) => ({ task, completions: [completion(textsFor(task).better)] })),
    );
    for (const { outcomes } of results) expect(outcomes[0]?.kind).toBe("scored");
    // Two requests each, and two of a canary.
    expect(judge.chat.peak()).toBeLessThanOrEqual(2 * 3 + 2);
    folder[Symbol.dispose]();
  });
});

test("without a judge its tasks are refused, and the flags are named", async () => {
  await using server = await openServer({ store: "memory" });
  const words = expect.stringMatching(/start it with --judge-url and --judge-model/) as string;
  const refused = { code: "FAILED_PRECONDITION", message: words };
  await expect(server.client.reset({ environment: "writing", source: "real", seed: 1n })).rejects.toMatchObject(
    refused,
  );
  await expect(server.client.run("none").create(choice(arms))).rejects.toMatchObject(refused);
  const [info] = (await server.client.listEnvironments()).filter(({ id }) => id === "writing");
  expect(info?.pools[0]?.rows["all"]).toBeGreaterThanOrEqual(60);
});

/** Trains on a batch of the run, scored by its arms' own policies, and returns the ids of the batch's arms. */
async function trainOn(client: GradusClient, runId: string, cursor: bigint): Promise<ReadonlySet<string>> {
  const { tasks } = await client.run(runId).nextBatch({ cursor, count: 8 });
  const groups = tasks.map((task) =>
    task.environment === "writing"
      ? { task, completions: Array.from({ length: 3 }, () => completion(textsFor(task).better)) }
      : completionsOf(task, 3),
  );
  for (const { outcomes } of await client.batchStep(groups))
    for (const { kind } of outcomes) expect(kind).toBe("scored");
  return new Set(tasks.map(({ armId }) => armId));
}

test("with a judge that is down each sample says why, its arm is masked, and others go on; it comes back", async () => {
  let isDown = true;
  await using judge = await startJudge((request) =>
    isDown ? { kind: "status", status: 401, message: "the key has run out" } : fair(request),
  );
  await using server = await openServer({ store: "memory", ...judge.flags });
  const client = createClient(server.address, { retry: false });
  const run = client.run("masked");
  await run.create(choice(arms));
  const drawn = (await run.nextBatch({ cursor: 0n, count: 8 })).tasks;
  const judged = drawn.filter(({ armId }) => armId === "judged");
  expect(judged.length).toBeGreaterThan(1);
  const step = (tasks: readonly Task[]) =>
    client.batchStep(
      tasks.map((task) => {
        const { better } = textsFor(task);
        return { task, completions: [`${better} One.`, `${better} Two.`, `${better} Three.`].map(completion) };
      }),
    );
  for (const { outcomes } of await step(judged)) {
    for (const outcome of outcomes) {
      const detail = expect.stringMatching(/the judge: .*401.*the key has run out/) as string;
      expect(outcome).toMatchObject({ kind: "unscored", reason: "resource_unavailable", resource: "judge", detail });
    }
  }
  const maskedReason = async () => (await run.get()).state?.arms[0]?.maskedReason;
  await until(async () => (await maskedReason()) !== undefined);
  expect(await maskedReason()).toMatch(/the key has run out/);
  // Another run whose arm needs no judge goes on; so does the other arm.
  await client.run("other").create(choice(arms.slice(1)));
  for (let cursor = 0n; cursor < 32n; cursor += 8n)
    expect([...(await trainOn(client, "other", cursor))]).toEqual(["plain"]);

  isDown = false;
  await until(async () => (await maskedReason()) === undefined);
  for (const { outcomes } of await step(judged)) {
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: "scored", reward: 1, feedback: { status: "recorded" } });
  }
  client.close();
});
