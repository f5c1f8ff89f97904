/** Page for tests: calls the server in its address, and posts the results to the page's own origin. */
import { createClient, GradusError, rewardOf } from "../../clients/ts/src/web.ts";

const parameters = new URL(import.meta.url).searchParams;
const server = parameters.get("server") ?? "";
const options = { token: parameters.get("token") ?? "", deadlineMs: Number(parameters.get("deadlineMs")) };
const client = createClient(server, options);

/** Returns the error of a call that must fail. */
async function failureOf(call: Promise<unknown>): Promise<object> {
  const error = await call.catch((thrown: unknown) => thrown);
  if (!(error instanceof GradusError)) return { kind: "no failure" };
  return { code: error.code, retryDelayMs: error.retryDelayMs, message: error.message };
}

async function all() {
  const environments = await client.listEnvironments();
  const task = await client.reset({ environment: "countdown", level: "T0", seed: 7 });
  const outcome = await client.step(task, "<think>97 - 44 is 53</think><answer>82 - (97 - 44)</answer>");
  const results: string[] = [];
  const groups = Array.from({ length: 40 }, () => ({ task, completions: ["<answer>1</answer>", "no"] }));
  for await (const result of client.streamSteps(groups)) results.push(result.kind);
  const run = client.run("browser");
  await run.create({
    arms: [{ id: "t0", environment: "countdown", level: "T0" }],
    policy: { kind: "bandit" },
    numGenerations: 2,
    promptsPerUpdate: 4,
    length: 12,
  });
  const statuses: (string | undefined)[] = [];
  for await (const { tasks } of run.batches()) {
    for await (const result of client.streamSteps(tasks.map((each) => ({ task: each, completions: ["a", "b"] })))) {
      if (result.kind === "scored") statuses.push(...result.outcome.outcomes.map(({ feedback }) => feedback?.status));
    }
  }
  const { value: state } = await run.watch().next();
  const waiting = createClient(server, { ...options, retry: false }).run("waiting");
  await waiting.create({
    arms: [{ id: "t0", environment: "countdown", level: "T0" }],
    policy: { kind: "bandit" },
    numGenerations: 2,
    promptsPerUpdate: 4,
    feedbackLag: 0,
  });
  await waiting.nextBatch();
  return {
    environments: environments.length,
    reward: rewardOf(outcome),
    results,
    statuses,
    samplesRecorded: String(state?.samplesRecorded),
    missing: await failureOf(client.run("none").get()),
    due: await failureOf(waiting.nextBatch({ waitMs: 0 })),
  };
}

const result = await (parameters.has("first") ? failureOf(client.listEnvironments()) : all()).catch(
  (error: unknown) => ({ error: String(error) }),
);
await fetch("/result", { method: "POST", body: JSON.stringify(result) });
