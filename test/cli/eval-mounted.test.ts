/** `gradus eval` of mounted environments with turns: states in task ids, and live objects of a Python process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { StopReason } from "../../proto/gen/gradus/v1/outcome_pb.js";
import { openWire } from "../e2e/services/wire.ts";
import { type ChatRequest, startChatServer } from "../support/chat-server.ts";
import { GUESS_FILE, PYTHON, useCheckout } from "../support/mounted/mounts.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

const common = { level: "default", tasks: 2, split: "eval" };
const parts = [
  { name: "states", environment: "mine/guess", ...common, calls: 12, tools: ["guess"] },
  { name: "objects", environment: "mine/piled", ...common, tools: ["put"] },
];
const path = join(folder.path, "mounted.json");
writeFileSync(path, JSON.stringify({ id: "mounted", version: 1, parts }));

const callOf = (id: string, name: string, number: number) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify({ number }) },
});

/** Returns the calls of a good model: it halves the range that replies leave, or piles five numbers, two at a time. */
function callsFor({ messages }: ChatRequest, index: number) {
  const replies = messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []));
  if (messages[0]?.content.includes("pile")) {
    const next = [1, 2].map((more) => replies.length + more).filter((number) => number <= 5);
    return next.map((number) => callOf(`p${index}-${number}`, "put", number));
  }
  let [low, high] = [1, 1000];
  for (const reply of replies) {
    const middle = Math.floor((low + high) / 2);
    if (reply.startsWith("higher")) low = middle + 1;
    else high = middle - 1;
  }
  return [callOf(`g${index}`, "guess", Math.floor((low + high) / 2))];
}

test("plays episodes, stores their conversations, and reports them", { timeout: 2 * PATIENCE_MS }, async () => {
  useCheckout();
  await using wire = await openWire({ python: [PYTHON, GUESS_FILE], mountWorkers: "2", suiteFile: [path] });
  let made = 0;
  await using model = await startChatServer((request, index) => {
    const toolCalls = callsFor(request, index);
    made += toolCalls.length;
    return { kind: "answer", content: null, finishReason: "tool_calls", toolCalls };
  });
  const flags = ["--suite", "mounted", "--endpoint", model.url, "--model", "m", "--evaluation-id", "mounted", "--json"];
  const { code, out, err } = await gradus({ cwd: folder.path }, "eval", ...flags, "--server", wire.address);
  expect([code, err]).toEqual([0, ""]);
  const { report } = JSON.parse(out) as { readonly report: { readonly overall: object } };
  const figures = { "pass@1": 1, exact_rate: 1, no_reward_rate: 0, malformed_rate: 0, calls_per_episode: made / 4 };
  expect(report.overall).toMatchObject({ samples: "4", figures });

  const { samples } = await wire.evaluation.listSamples({ evaluationId: "mounted" });
  expect(samples).toHaveLength(4);
  for (const { transcript, toolCalls, outcome } of samples) {
    // The model saw the same conversation after the prompt, before it made its last calls.
    const before = transcript.findLast(({ role }) => role === "assistant")?.toolCalls[0]?.id ?? "none";
    const seen = model.requests.find(({ messages }) => {
      const last = messages.findLast(({ role }) => role === "assistant");
      return JSON.stringify(last?.tool_calls ?? []).includes(before);
    });
    const said = transcript.map(({ role, content }) => [role, content === "" ? null : content]);
    expect(seen?.messages.slice(1).map(({ role, content }) => [role, content])).toEqual(said);
    const calls = [...transcript.flatMap((message) => message.toolCalls), ...toolCalls];
    expect(outcome?.result).toMatchObject({
      case: "score",
      value: { reward: 1, solved: true, stopReason: StopReason.GOAL, calls: calls.length },
    });
    // Each call before the last has its reply, under its id and with its own reward.
    const replies = transcript.filter(({ role }) => role === "tool");
    expect(replies.map(({ toolCallId }) => toolCallId)).toEqual(calls.slice(0, -1).map(({ id }) => id));
  }
  const ofGuess = samples.flatMap(({ transcript, toolCalls }) =>
    toolCalls[0]?.name === "guess" ? transcript.filter(({ role }) => role === "tool") : [],
  );
  for (const { reward, content } of ofGuess) {
    expect(content).toMatch(/^(higher|lower) \d$/);
    expect(reward).toBeGreaterThan(0);
    expect(reward).toBeLessThan(1);
  }
});
