/** Tests gradus serve as a process, and the other commands against it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus, startServing } from "./gradus.ts";
import type { Serving } from "./gradus.ts";
import { callRaw, connectRaw } from "../server/transport/grpc/raw.ts";

const [folder, second] = [temporaryFolder(), temporaryFolder()];
const here = { cwd: folder.path };
/** Data folder of the servers that are started while the first one runs. */
const there = { cwd: second.path };

/** Server for all tests that do not change it. */
let ours: Serving;
beforeAll(async () => {
  ours = await startServing(here);
});
afterAll(async () => {
  ours.child.kill("SIGTERM");
  await ours.ended;
  for (const each of [folder, second]) each[Symbol.dispose]();
});

const running: Serving[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
});

async function serving(settings: Parameters<typeof startServing>[0], ...flags: readonly string[]): Promise<Serving> {
  const server = await startServing(settings, ...flags);
  running.push(server);
  return server;
}

const certificates = join(import.meta.dirname, "../server/transport/tls");

describe("the other commands", () => {
  test("work on a server and in this process alike, on one data directory", async () => {
    const at = ["--server", `127.0.0.1:${ours.grpcPort}`];
    const json = async (...args: readonly string[]): Promise<Record<string, string>> =>
      JSON.parse((await gradus(here, ...args, "--json")).out) as Record<string, string>;
    expect(await json("envs", ...at)).toEqual(await json("envs"));
    const task = await json("reset", "countdown", "--level", "T1", "--seed", "9", ...at);
    expect(await json("reset", "countdown", "--level", "T1", "--seed", "9")).toEqual(task);
    const completion = (await json("solve", "--task-id", task["taskId"] ?? ""))["completion"] ?? "";
    const step = ["step", task["taskId"] ?? "", "--completion", completion];
    expect(await json(...step, ...at)).toMatchObject({ score: { solved: true, reward: 1 } });
    expect(await json(...step)).toEqual(await json(...step, ...at));
    const unknown = await gradus(here, "reset", "countdwn", ...at);
    expect([unknown.code, unknown.err]).toEqual([
      3,
      "gradus: unknown environment 'countdwn'; did you mean 'countdown'?\n",
    ]);
  });

  test("bring a token and certificates where the server wants them", async () => {
    const token = "a token of enough characters".replaceAll(" ", "-");
    const pem = (name: string): string => join(certificates, name);
    const tls = ["--tls-cert", pem("server.crt"), "--tls-key", pem("server.key"), "--tls-client-ca", pem("ca.crt")];
    const { grpcPort } = await serving(there, "--token", token, ...tls);
    const at = ["envs", "--server", `localhost:${grpcPort}`, "--tls-ca", pem("ca.crt")];
    const mutual = ["--tls-cert", pem("client.crt"), "--tls-key", pem("client.key")];
    const refused = await gradus(here, ...at, ...mutual);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("(give --token-file)")]);
    expect((await gradus(here, ...at, ...mutual, "--token", token)).code).toBe(0);
    expect((await gradus(here, ...at, "--token", token)).code).toBe(4);
  });
});

test("a port that is taken is said in words", async () => {
  const flags = ["--port", String(ours.grpcPort), "--http-port", "0", "--data-dir", "second", "--log-level", "silent"];
  const { code, err } = await gradus(here, "serve", ...flags);
  expect(code).toBe(1);
  expect(err).toMatch(/^gradus: .*EADDRINUSE.*\n$/);
});

describe("the process", () => {
  test("SIGTERM drains, and what is in flight is not lost", async () => {
    const { grpcPort, child, ended, lines } = await serving(there);
    const client = createClient(`127.0.0.1:${grpcPort}`, { retry: false });
    const spec = { environment: "np/tsp", level: "benchmark" };
    await client.reset({ ...spec, seed: 0 });
    const inFlight = client.batchReset({ ...spec, seeds: Array.from({ length: 200 }, (_, i) => i) });
    // The call is with the server when another one, sent after it on the same connection, is answered.
    await client.getEnvironment("np/tsp");
    child.kill("SIGTERM");
    const results = await inFlight;
    expect(results.filter(({ result }) => result.case === "task")).toHaveLength(200);
    expect(await ended).toBe(0);
    await expect(client.getEnvironment("np/tsp")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    client.close();
    expect(lines.filter((line) => line.includes('"msg":"draining"'))).toHaveLength(1);
  });

  test("SIGINT that comes twice, as Ctrl-C does, drains once", async () => {
    const { child, ended, lines } = await serving(there);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    expect(lines.at(-1)).toContain("stopped");
  });

  test("a peer that never ends its stream does not keep a server that was told to stop", async () => {
    const { grpcPort, child, ended } = await serving(there);
    const session = await connectRaw(Number(grpcPort));
    session.on("error", () => undefined);
    const { stream } = callRaw(session, "StreamSteps");
    stream.write(Uint8Array.of(0, 0));
    await new Promise((resolve) => session.ping(resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    session.destroy();
  });

  test("the server runs with the flags of node-flags.json, which bound its memory", () => {
    // The shell that started the server was replaced by it.
    const commandLine = readFileSync(`/proc/${ours.child.pid}/cmdline`, "utf8").split("\0");
    const flags = JSON.parse(readFileSync("cli/node-flags.json", "utf8")) as string[];
    expect(flags.length).toBeGreaterThan(0);
    expect(commandLine).toEqual(expect.arrayContaining(flags));
  });
});

test("a run's task is scored in this process, and nothing is recorded", async () => {
  const client = createClient(`127.0.0.1:${ours.grpcPort}`);
  const run = client.run("one");
  await run.create({
    arms: [{ id: "t0", environment: "countdown" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 1,
  });
  const [task] = (await run.nextBatch({ cursor: 0n })).tasks;
  const { taskId = "", groupId = "" } = task ?? {};
  const { code, out } = await gradus(here, "step", taskId, "--group-id", groupId, "--completion", "5");
  expect(code).toBe(0);
  expect(out).toMatch(/^feedback +not_recorded/m);
  expect((await run.get()).state?.samplesRecorded).toBe(0n);
  client.close();
});
