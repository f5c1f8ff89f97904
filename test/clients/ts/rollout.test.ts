/** The TypeScript client plays episodes: a policy that can only reason over replies finds the code. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ChatMessage, EpisodePosition, PolicyTurn } from "../../../clients/ts/src/index.ts";
import { allCodes } from "../../../envs/games/mastermind/solve.ts";
import { type Code, marksOf } from "../../../envs/games/mastermind/code.ts";
import { openServer, type TestServer } from "../../support/in-process.ts";

let server: TestServer;
beforeAll(async () => void (server = await openServer({ store: "memory" })));
afterAll(() => server[Symbol.asyncDispose]());

function guessIn({ toolCalls: [call] }: ChatMessage): Code {
  return (JSON.parse(call?.argumentsJson ?? "") as { readonly code: Code }).code;
}

/** Guesses the first code that no reply of the conversation contradicts. */
function nextGuess({ messages }: EpisodePosition): PolicyTurn {
  const replies = messages.filter(({ role }) => role === "tool");
  const guesses = messages.filter(({ role }) => role === "assistant").map(guessIn);
  const code = allCodes(3, 4).find((each) =>
    guesses.every((guess, i) => {
      const { inPlace, elsewhere } = marksOf(each, guess);
      return replies[i]?.content.startsWith(`${inPlace} of 3 in place, ${elsewhere} more`);
    }),
  );
  return { toolCalls: [{ id: `call-${guesses.length}`, name: "guess", argumentsJson: JSON.stringify({ code }) }] };
}

const CHOICE = { environment: "games/mastermind", level: "easy", tools: ["guess"] } as const;

test("all samples of a run's group are played at once, and the group closes", async () => {
  const { client } = server;
  const run = client.run("rollouts");
  const arms = [{ id: "easy", ...CHOICE }];
  await run.create({ arms, policy: { kind: "mixture" }, numGenerations: 4, promptsPerUpdate: 1 });
  const { tasks } = await run.nextBatch({ cursor: 0n, count: 1 });
  const [task] = tasks;
  if (task === undefined) throw new Error("no task");
  let [going, most] = [0, 0];
  const generate = async (position: EpisodePosition): Promise<PolicyTurn> => {
    most = Math.max(most, ++going);
    await new Promise((resolve) => setTimeout(resolve, 5));
    going--;
    // One sample runs out of tokens.
    return position.sampleIndex === 3 ? { text: "I think", finishReason: "length" } : nextGuess(position);
  };
  const episodes = await client.rollout(task, generate, { samples: [0, 1, 2, 3] });
  expect(most).toBe(4);
  expect(episodes.map(({ sampleIndex }) => sampleIndex)).toEqual([0, 1, 2, 3]);
  for (const { messages, outcome, sampleIndex } of episodes) {
    expect(outcome).toMatchObject({ kind: "scored", feedback: { status: "recorded" } });
    if (outcome.kind !== "scored" || sampleIndex === 3) continue;
    expect(outcome.reward).toBeGreaterThan(0.5);
    // The prompt, and a call with its reply for each guess but the last, which has none.
    const calls = outcome.message.result.case === "score" ? outcome.message.result.value.calls : 0;
    expect(messages.map(({ role }) => role)).toEqual([
      "user",
      ...Array.from({ length: 2 * calls - 1 }, (_, i) => (i % 2 === 0 ? "assistant" : "tool")),
    ]);
  }
  expect(episodes[3]?.outcome).toMatchObject({ truncated: true, reward: 0, solved: false });
  expect(client.feedbackCounts()).toMatchObject({ recorded: 4 });
});

test("a task without turns takes one completion", async () => {
  const task = await server.client.reset({ environment: "countdown" });
  const [episode] = await server.client.rollout(task, ({ callsLeft }) => Promise.resolve({ text: `${callsLeft}` }));
  expect(episode).toMatchObject({
    outcome: { kind: "scored", verdict: "malformed" },
    messages: [{ role: "user" }, { role: "assistant", content: "0" }],
  });
});
