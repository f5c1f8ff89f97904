/**
 * Tests of a mount that is slow to start: it delays neither the server, nor another mount, nor Gradus's own
 * environments.
 */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunChoice, Task } from "../../../../clients/ts/src/index.ts";
import { openServer, type TestServer } from "../../../support/in-process.ts";
import { hostPids, openMounting, PYTHON, useCheckout, WORD_FILE } from "../../../support/mounted/mounts.ts";
import { until } from "../../../support/patience.ts";
import { temporaryFolder } from "../../../support/server-process.ts";

const SLOW = `import time

from gradus.serve import Environment


class Slow(Environment):
    """Repeat a number."""

    id = "mine/slow"

    def generate(self, rng):
        time.sleep(20)
        return rng.randrange(1000)

    def prompt(self, instance):
        return f"Repeat {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)
`;

const thousands = `from gradus.serve import Environment
import time


class Many(Environment):
    """Repeat a number."""

    id = "mine/slow"
    levels = {f"level-{n}": {"n": n} for n in range(1000)}

    def generate(self, rng, n):
        time.sleep(0.01)
        return rng.randrange(1000)

    def prompt(self, instance):
        return f"Repeat {instance}"

    def verify(self, instance, answer):
        return answer == str(instance)
`;

async function called({ http }: TestServer, method: string, request: object) {
  const response = await fetch(`${http}/gradus.v1.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  return (await response.json()) as { code?: string; message?: string; mounting?: readonly string[] };
}

const choice: RunChoice = {
  arms: [{ id: "slow", environment: "mine/slow" }],
  policy: { kind: "mixture" },
  numGenerations: 1,
  promptsPerUpdate: 1,
  seed: 1,
};

test.each([
  ["whose generator sleeps for 20 s", SLOW],
  ["of a thousand levels", thousands],
])("a file %s delays its own mount only", async (_, source) => {
  using folder = temporaryFolder();
  const [slow, word] = [join(folder.path, "slow.py"), join(folder.path, "word.py")];
  writeFileSync(slow, source);
  copyFileSync(WORD_FILE, word);
  useCheckout();
  const flags = { store: "memory", python: [PYTHON, slow, word], mountWorkers: "1" };
  await using server = await openServer(flags, false);
  const { client } = server;
  const native = await client.reset({ environment: "countdown", level: "T0" });
  expect(await client.step(native, "no answer")).toMatchObject({ kind: "scored" });
  const task = await client.reset({ environment: "mine/word", level: "short" });
  expect(await client.step(task, "no answer")).toMatchObject({ kind: "scored" });
  // The server answered all of this while it was mounting the other file.
  expect((await called(server, "EnvironmentService/ListEnvironments", {})).mounting).toEqual([slow]);
  const refusal = { code: "unavailable", message: expect.stringContaining(`still mounting ${slow}`) as string };
  const spec = { environment: "mine/slow" };
  expect(await called(server, "EnvironmentService/Reset", { spec })).toMatchObject(refusal);
  const config = { arms: [{ id: "slow", spec: { environment: "mine/*" } }], policy: { mixture: {} } };
  const run = { config: { ...config, numGenerations: 1, promptsPerUpdate: 1, seed: "1" }, runId: "waits" };
  expect(await called(server, "CurriculumService/CreateRun", run)).toMatchObject(refusal);
  expect(await called(server, "EnvironmentService/Reset", { spec: { environment: "mine/nothing" } })).toMatchObject({
    code: "unavailable",
  });
});

test("a client waits for what is being mounted, and a run and its tasks go on after a restart", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "slow.py");
  writeFileSync(file, SLOW.replace("sleep(20)", "sleep(0.5)"));
  const flags = { store: "sqlite", mountWorkers: "1" };
  const first = await openMounting(file, flags);
  const { dataDir, client } = first;
  await client.run("resumed").create(choice);
  const drawn = (await client.run("resumed").nextBatch({ cursor: 0n, count: 1 })).tasks as [Task];
  // Ids of tasks with parameters, as growing arms have them, name no level to look up.
  const other = await client.reset({ environment: "mine/slow", parameters: {} });
  await first.server.stop();
  client.close();
  await using second = await openServer({ ...flags, dataDir, python: [PYTHON, file] }, false);
  const [task] = drawn;
  expect((await called(second, "EnvironmentService/ListEnvironments", {})).mounting).toEqual([file]);
  const asked = second.client.reset({ environment: "mine/slow" });
  const again = second.client.run("resumed").nextBatch({ cursor: 0n, count: 1 });
  const scored = second.client.batchStep([{ task: other, completions: ["no answer"] }]);
  const alone = second.client.step(task, "no answer");
  expect((await asked).prompt[0]?.content).toMatch(/^Repeat/);
  expect((await again).tasks).toEqual(drawn);
  expect(await scored).toMatchObject([{ outcomes: [{ kind: "scored" }] }]);
  expect(await alone).toMatchObject({ kind: "scored" });
  await expect(second.client.reset({ environment: "mine/nothing" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a mount that fails while another is slow ends the server with its reason, and leaves no host", async () => {
  using folder = temporaryFolder();
  const [slow, broken] = [join(folder.path, "slow.py"), join(folder.path, "broken.py")];
  writeFileSync(slow, SLOW);
  writeFileSync(broken, "this is no Python");
  await expect(openMounting(slow, { python: [PYTHON, slow, broken] })).rejects.toThrow(
    /broken\.py cannot be mounted: .*SyntaxError/,
  );
  await until(() => hostPids().length === 0);
});
