/**
 * What a judge that misbehaves costs: how long a comparison takes at most beside its deadline, whatever the endpoint does,
 * and how fast Countdown is scored on a server whose judge says nothing while hundreds of texts wait for it.
 *
 *   node bench/judge/run.ts [--deadline-ms 2000] [--comparisons 16] [--seconds 5] [--json]
 */
import { parseArgs } from "node:util";
import type { Task } from "../../clients/ts/src/index.ts";
import { comparisonOf } from "../../envs/writing/question.ts";
import { systemClock } from "../../server/base/system-clock.ts";
import { createJudge } from "../../server/outside/judge/judge.ts";
import { type Behaviour, startChatServer } from "../../test/support/chat-server.ts";
import { openServer } from "../../test/support/in-process.ts";
import { says, verdict } from "../../test/support/judge.ts";

const { values: options } = parseArgs({
  options: {
    "deadline-ms": { type: "string", default: "2000" },
    comparisons: { type: "string", default: "16" },
    seconds: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
  },
});
const deadlineMs = Number(options["deadline-ms"]);
const comparisons = Number(options.comparisons);
const seconds = Number(options.seconds);

const BEHAVIOURS: Readonly<Record<string, (index: number) => Behaviour>> = {
  silence: () => ({ kind: "silence" }),
  "slow by a minute": () => ({ kind: "answer", content: verdict("A"), delayMs: 60_000 }),
  "a reply that begins and stops": () => ({ kind: "raw", body: '{"choices": [', then: "silence" }),
  "a reply cut off": () => ({ kind: "raw", body: '{"choices": [', then: "reset" }),
  "hanging up": () => ({ kind: "reset" }),
  "500": () => ({ kind: "status", status: 500 }),
  "429, come again in 0.3 s": () => ({ kind: "status", status: 429, retryAfter: "0.3" }),
  "429, come again in a minute": () => ({ kind: "status", status: 429, retryAfter: "60" }),
  "words, after 0.4 s": () => ({ ...(says("Well.") as Behaviour & { kind: "answer" }), delayMs: 400 }),
  "500, then silence": (index) => (index % 2 === 0 ? { kind: "status", status: 500 } : { kind: "silence" }),
};

const question = { system: undefined, request: "Write a line.", reference: "A line of some words." };

/** The longest of some comparisons at once, over the deadline. */
async function longest(
  behave: (index: number) => Behaviour,
): Promise<{ readonly max: number; readonly failed: number }> {
  await using chat = await startChatServer((_request, index) => behave(index));
  const endpoint = { url: chat.url, model: "judge", key: undefined, timeoutMs: deadlineMs };
  const judge = createJudge(
    { ...endpoint, temperature: 0.4, prices: undefined },
    { clock: systemClock, onTrust: () => undefined },
  );
  const took = await Promise.all(
    Array.from({ length: comparisons }, async (_, i) => {
      const startedAt = performance.now();
      const context = { signal: new AbortController().signal, deadlineMs: Date.now() + deadlineMs };
      const found = await judge.ask(comparisonOf(question, `A line, the one of number ${i}.`), context);
      return { ms: performance.now() - startedAt, failed: found.kind === "failed" };
    }),
  );
  judge.close();
  return {
    max: Math.max(...took.map(({ ms }) => ms)) / deadlineMs,
    failed: took.filter(({ failed }) => failed).length / comparisons,
  };
}

/**
 * Completions of Countdown a second, as one client scores them while so many texts wait, and what one costs: client and
 * server are this process.
 */
async function countdownRate(texts: number) {
  await using chat = await startChatServer(() => ({ kind: "silence" }));
  const judge = { judgeUrl: chat.url, judgeModel: "judge", judgeTimeoutMs: "600000", judgeConcurrency: "64" };
  await using server = await openServer({ store: "memory", ...judge });
  const { client } = server;
  const written = await client.reset({ environment: "writing", source: "real", seed: 1n });
  const results = await client.batchReset({
    environment: "countdown",
    level: "T1",
    seeds: Array.from({ length: 64 }, (_, i) => BigInt(i)),
  });
  const tasks = results.flatMap(({ result }): readonly Task[] => (result.case === "task" ? [result.value] : []));
  const completions = Array.from({ length: 8 }, (_, i) => `<think></think><answer>${i} + 1</answer>`);
  const groups = tasks.map((task) => ({ task, completions }));
  for (let i = 0; i < 5; i++) await client.batchStep(groups);
  const left = new AbortController();
  const judged = Array.from({ length: texts }, (_, i) =>
    client
      .step(written, `<think></think><answer>A text that nobody reads, of number ${i}.</answer>`, {
        signal: left.signal,
      })
      .catch(() => undefined),
  );
  while (texts > 0 && chat.requests.length < 2 * 64) await new Promise((resolve) => setTimeout(resolve, 20));
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let scored = 0;
  while (performance.now() - startedAt < 1000 * seconds) {
    await client.batchStep(groups);
    scored += tasks.length * completions.length;
  }
  const perSecond = (1000 * scored) / (performance.now() - startedAt);
  const { user, system } = process.cpuUsage(before);
  left.abort();
  await Promise.all(judged);
  return { perSecond, cpuMicroseconds: (user + system) / scored };
}

await longest(() => says(verdict("A")));
const report = {
  deadlineMs,
  longest: Object.fromEntries(
    await Array.fromAsync(Object.entries(BEHAVIOURS), async ([name, behave]) => [name, await longest(behave)] as const),
  ),
  // In turns, so that a machine that becomes slower is no finding.
  countdown: await Array.fromAsync([0, 400, 0, 400, 0, 400], async (texts) => ({
    texts,
    ...(await countdownRate(texts)),
  })),
};

if (options.json) console.log(JSON.stringify(report));
else {
  console.log(`longest of ${comparisons} comparisons, as a share of a deadline of ${deadlineMs} ms:`);
  for (const [name, { max, failed }] of Object.entries(report.longest))
    console.log(
      `  ${name.padEnd(32)} ${(100 * max).toFixed(1).padStart(6)}%   ${(100 * failed).toFixed(0)}% without verdict`,
    );
  console.log("Countdown, completions a second, while so many texts wait for a judge that says nothing:");
  for (const { texts, perSecond, cpuMicroseconds } of report.countdown)
    console.log(
      `  ${`${texts}`.padStart(4)} texts  ${perSecond.toFixed(0).padStart(7)}/s   ${cpuMicroseconds.toFixed(1)} µs of CPU each`,
    );
}
