/** Tests the errors for messages that are too large, on every way to the server; their neighbours are still scored. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient as createWebClient } from "../../clients/ts/src/web.ts";
import { createClient, type GradusClient, type Task } from "../../clients/ts/src/index.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const BYTES_MAX = 65_536;
const python = resolve(import.meta.dirname, "../../.venv/bin/python");
const folder = temporaryFolder();
let server: ServerProcess;
let client: GradusClient;
let task: Task;
beforeAll(async () => {
  const limits = ["--max-message-bytes", String(BYTES_MAX), "--max-completion-bytes", "8192"];
  server = await startServer(folder.path, "--store", "memory", ...limits);
  client = createClient(server.address, { retry: false });
  task = await client.reset({ environment: "countdown", level: "T0", seed: 1n });
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

const words = new RegExp(
  `has (at least )?\\d{6} bytes.*, more than the ${BYTES_MAX} of --max-message-bytes: send fewer groups or completions`,
);
const small = () => ({ task, completions: ["1"] });
const large = () => ({ task, completions: Array.from({ length: 100 }, () => "x".repeat(4000)) });

test.each(["gRPC", "HTTP"])("a call over %s names the limit, what came, the option and the remedy", async (port) => {
  const calling = port === "gRPC" ? client : createWebClient(server.httpAddress, { retry: false });
  const refused = { code: "RESOURCE_EXHAUSTED", message: expect.stringMatching(words) as string };
  await expect(calling.batchStep([large()])).rejects.toMatchObject(refused);
  await expect(calling.step(task, "x".repeat(400_000))).rejects.toMatchObject(refused);
  expect(await calling.batchStep([small()])).toHaveLength(1);
});

test.each(["gRPC", "HTTP"])("in a stream over %s only the groups fail that are too large", async (port) => {
  const calling = port === "gRPC" ? client : createWebClient(server.httpAddress, { retry: false });
  const groups = [small(), large(), small(), small(), large(), small()];
  const found = new Array<string>(groups.length).fill("no result");
  for await (const result of calling.streamSteps(groups))
    found[result.index] = result.kind === "failed" ? result.error.message : result.kind;
  const isLarge = [false, true, false, false, true, false];
  isLarge.forEach((tooLarge, i) => expect(found[i]).toMatch(tooLarge ? words : /^scored$/));
});

describe("the Python client", () => {
  /** A stream may be refused while an answer is being sent, which not every round meets. */
  const rounds = 10;
  const run = (code: string): readonly string[] => {
    const head = `
import asyncio
from gradus import Client, aio
client = Client("${server.address}", retries=0)
task = client.reset("countdown", level="T0", seed=1)
small, large = task.group(["1"]), task.group(["x" * 4000] * 100)
rounds = [[small, large, small, small, large, small]] * ${rounds}
def told(result):
    return "scored" if result.error is None else str(result.error)
`;
    const { stdout, stderr, status } = spawnSync(python, ["-c", head + code], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout.trimEnd().split("\n");
  };
  const wanted = (found: readonly string[]) => {
    expect(found).toHaveLength(6 * rounds);
    expect(found.filter((line) => line === "scored")).toHaveLength(4 * rounds);
    expect(found.filter((line) => words.test(line))).toHaveLength(2 * rounds);
  };

  test("is told the same", () => {
    const [batch, step] = run(`
for call in (lambda: client.batch_step([large]), lambda: client.step(task, "x" * 400_000)):
    try: call()
    except Exception as error: print(type(error).__name__, error)
`);
    expect(batch).toMatch(words);
    expect(step).toMatch(words);
  });

  test("fails only the groups of a stream that are too large", () => {
    wanted(run("for groups in rounds:\n  for result in client.stream_steps(groups): print(told(result))"));
  });

  test("is told the same by asynchronous calls and streams", () => {
    const [batch, ...stream] = run(`
async def go():
    async with aio.Client("${server.address}", retries=0) as other:
        try: await other.batch_step([large])
        except Exception as error: print(type(error).__name__, error)
        for groups in rounds:
            async for result in other.stream_steps(groups): print(told(result))
asyncio.run(go())
`);
    expect(batch).toMatch(words);
    wanted(stream);
  });

  test("explains a limit of its own, and a reply over it, with the remedy", () => {
    const [sent, received] = run(`
for option, call in (
    ("grpc.max_send_message_length", lambda other: other.batch_step([large])),
    ("grpc.max_receive_message_length", lambda other: other.list_environments()),
):
    try: call(Client("${server.address}", retries=0, options=[(option, 1000)]))
    except Exception as error: print(error)
`);
    expect(sent).toMatch(/the request is too large: .*\d{6} vs. 1000.*send fewer groups.*grpc.max_send_message_length/);
    expect(received).toMatch(/the reply is too large: .*vs. 1000.*smaller page_size.*grpc.max_receive_message_length/);
  });
});
