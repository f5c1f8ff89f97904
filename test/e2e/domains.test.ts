/** The four domains, Countdown and two np environments in one run, with a real sandbox and a judge of a few lines. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import type { Task } from "../../clients/ts/src/index.ts";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { parseRunFile } from "../../cli/run-file.ts";
import { drive } from "../../cli/runs/drive.ts";
import { createScripted } from "../../cli/runs/scripted.ts";
import { createRegistry, environments } from "../../envs/registry.ts";
import type { Conversation } from "../../envs/writing/conversation.ts";
import { readConfig } from "../../server/runtime/config.ts";
import { loadKeyring } from "../../server/tasks/keyring.ts";
import { loadPools } from "../../server/rows/pools.ts";
import { createScorer } from "../../server/tasks/scoring/scorer.ts";
import { startChatServer } from "../support/chat-server.ts";
import { openServer } from "../support/in-process.ts";
import { fair } from "../support/judge.ts";
import { openTestSandbox } from "../support/sandbox.ts";

const NAME = "omni-thinker-with-np-and-countdown.yaml";
/** Prompts per update batch. The file has 200 batches of 16; the test takes 200 of 4. */
const PROMPTS = 4;
const UPDATES = 200;

/** Returns a reader of a server's task ids; reading them takes the server's keys. */
async function opener(dataDir: string) {
  const config = readConfig({ dataDir }, {});
  if (config.kind === "invalid") throw new Error(config.message);
  const keys = loadKeyring(config.config);
  const registry = createRegistry(environments);
  const loaded = await loadPools(registry, [], { threads: 1, environmentFiles: [], folder: undefined });
  if (keys.kind === "invalid" || loaded.kind === "invalid") throw new Error("no keys or pools");
  const { pools } = loaded;
  const options = { completionBytesMax: 65_536, onFailure: (error: unknown) => expect.fail(String(error)) };
  const scorer = createScorer({ ...options, keyring: keys.keyring, registry, pools });
  return (taskId: string) => {
    const opened = scorer.open(taskId);
    if (opened.kind === "none") throw new Error(opened.detail);
    return opened.scoring;
  };
}

test("a forgetting curriculum goes through all domains, and each has rewards, with the sandbox and the judge asked", async () => {
  const sandbox = await openTestSandbox();
  if (sandbox === undefined) return;
  await sandbox.close();
  const file = parseRunFile(NAME, readFileSync(join(resolve(import.meta.dirname, "../../examples"), NAME), "utf8"));
  if (file.kind === "invalid") throw new Error(file.problems.join("\n"));
  const config = { ...file.file.config, promptsPerUpdate: PROMPTS, length: BigInt(UPDATES * PROMPTS) };
  await using judge = await startChatServer(fair);
  await using server = await openServer({
    store: "memory",
    sandbox: "embedded",
    judgeUrl: judge.url,
    judgeModel: "fair",
  });
  const run = server.client.run("all");
  await run.create(config);
  const open = await opener(server.dataDir);
  const scripted = createScripted({ open, practice: 20 });
  // Copies of the reference and nearly empty texts need no judge: these are longer than it, or shorter.
  const written = ({ taskId }: Task): readonly string[] => {
    const { reference } = open(taskId).instance as Conversation;
    const texts = [`${reference} Then came a quiet, unforeseen epilogue.`, "A text of hardly any words."];
    return Array.from({ length: config.numGenerations }, (_, i) => wrapAnswer(texts[i % 2]!, "think_answer"));
  };
  const kl = new Map<string, number | undefined>();
  const driven = await drive({
    client: server.client,
    run,
    config,
    tasksMax: undefined,
    onGroups: () => undefined,
    complete: (tasks) => {
      for (const { armId, hints } of tasks) kl.set(armId, hints?.klCoefficient);
      const completed = scripted.complete(tasks, config.numGenerations);
      return completed.map((texts, i) => (tasks[i]!.environment === "writing" ? written(tasks[i]!) : texts));
    },
    signal: new AbortController().signal,
  });
  expect(driven).toBe(UPDATES * PROMPTS);

  const { state } = await run.get();
  expect(state).toMatchObject({ done: true, samplesRecorded: BigInt(driven * config.numGenerations) });
  for (const { armId, groups, recentRewardMean, maskedReason } of state?.arms ?? []) {
    expect([armId, maskedReason, groups > 0n, recentRewardMean !== undefined]).toEqual([armId, undefined, true, true]);
    // FORGE's rewards may be below 0.
    if (!armId.startsWith("np/")) expect([armId, recentRewardMean! > 0]).toEqual([armId, true]);
  }
  expect(Object.fromEntries(kl)).toMatchObject({ code: 0.001, "math/rows": 0.04, qa: 0.04, writing: 0 });
  expect(kl.get("countdown")).toBeUndefined();

  const batches = (await run.history()).flatMap(({ kind }) => (kind.case === "batch" ? [kind.value] : []));
  expect(batches).toHaveLength(UPDATES);
  const drawn = batches.map(({ counts }) =>
    counts.flatMap((count, arm) => (count > 0 ? [state!.arms[arm]!.armId] : [])),
  );
  const domains = drawn.map((arms) => [...new Set(arms.map((arm) => arm.split("/")[0]))].join(" "));
  // Each domain is trained for a sixth of the run, ordered by the effect of the others' training on it.
  expect([...new Set(domains)]).toEqual(["code", "countdown", "np", "math", "qa", "writing"]);
  expect(judge.requests.length).toBeGreaterThan(100);
});
