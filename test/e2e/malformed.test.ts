/** A model that never thinks, trained and evaluated as a newcomer would: the run and the report say why nothing is learned. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { countdown } from "../../envs/countdown/index.ts";
import { gradus } from "../cli/gradus.ts";
import { type ChatServer, startChatServer } from "../support/chat-server.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
const here = { cwd: folder.path };
let server: ServerProcess;
let client: GradusClient;
let model: ChatServer;

beforeAll(async () => {
  server = await startServer(join(folder.path, "data"));
  client = createClient(server.address);
  model = await startChatServer(() => ({ kind: "answer", content: "The answer is \\boxed{1}." }));
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test("a training of right answers without thoughts", async () => {
  const run = client.run("never-thinks");
  await run.create({
    arms: [{ id: "T0", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 8,
    promptsPerUpdate: 25,
    seed: 1,
  });
  const { tasks } = await run.nextBatch();
  const groups = tasks.map((task) => {
    const { numbers = "", target = "" } = task.hints?.metadata ?? {};
    const found = countdown.solver!.solve({ numbers: numbers.split(" ").map(Number), target: Number(target) });
    const right = `<answer>${countdown.solver!.format(found.answer)}</answer>`;
    return { task, completions: Array.from({ length: 8 }, () => right) };
  });
  await client.batchStep(groups);
  const { state } = await run.get();
  expect(state?.formatWarning).toMatchObject({ samples: 200n, malformed: 200n });
  for (const said of ["thinking: stripped", "answer_format: answer_tag"])
    expect(state?.formatWarning?.violation).toContain(said);
  const get = await gradus(here, "run", "get", "never-thinks", "--server", server.address);
  expect(get.out.replaceAll(/\s+/g, " ")).toMatch(
    /200 of 200 samples are malformed.*answer_format: answer_tag would read/,
  );
  expect((await gradus(here, "run", "list", "--server", server.address)).out).toContain("going on, malformed");
  const metrics = await (await fetch(`${server.httpAddress}/metrics`)).text();
  expect(metrics).toContain('gradus_run_malformed_share{run="never-thinks"} 1\n');
  const logged = server.lines.filter((line) => line.includes("nearly all samples"));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("thinking: stripped");
});

test("an evaluation: the report says so before its figures, and names the format that would read the answers", async () => {
  const ended = await gradus(
    here,
    "eval",
    "--suite",
    "countdown",
    "--endpoint",
    model.url,
    "--model",
    "m",
    "--samples",
    "1",
    "--out",
    "report",
  );
  expect(ended.out).toMatch(
    /^warning: \d+ of \d+ samples are malformed, most of them so: .*answer_format: boxed would read\.\n/,
  );
});
