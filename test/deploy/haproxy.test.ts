/** Runs `deploy/haproxy.cfg` with two servers behind it. The test changes only addresses and ports in the file. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GradusClient } from "../../clients/ts/src/index.ts";
import { programOf } from "../support/debian.ts";
import { freePorts } from "../support/replicas.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const text = readFileSync("deploy/haproxy.cfg", "utf8");

/** The file with ports of here, and the servers' addresses in the place of the compose file's names. */
function configured(servers: Readonly<Record<string, ServerProcess>>, ports: Readonly<Record<string, number>>): string {
  return text
    .replaceAll(/^ {2}bind :(\d+)/gm, (_, port: string) => `  bind 127.0.0.1:${ports[port]}`)
    .replaceAll(/^ {2}server (\S+) \S+:(\d+)(.*)/gm, (_, name: string, port: string, rest: string) => {
      const server = servers[name];
      if (server === undefined) throw new Error(`there is no ${name}`);
      const listening = server.lines.find((line) => line.includes('"msg":"listening"')) ?? "";
      const { httpPort, metricsPort } = JSON.parse(listening) as { httpPort: number; metricsPort: number };
      return `  server ${name} ${port === "8080" ? `127.0.0.1:${httpPort}` : server.address}${rest} port ${metricsPort}`;
    });
}

const folders = [temporaryFolder(), temporaryFolder()] as const;
let a: ServerProcess;
let b: ServerProcess;

beforeAll(async () => {
  const keys = join(folders[0].path, "keys");
  writeFileSync(keys, randomBytes(32).toString("hex"), { mode: 0o600 });
  const flags = ["--metrics-port", "0", "--sandbox", "off", "--key-file", keys];
  [a, b] = await Promise.all([startServer(folders[0].path, ...flags), startServer(folders[1].path, ...flags)]);
});
afterAll(async () => {
  await Promise.all([a, b].map((each) => each.kill("SIGKILL")));
  for (const folder of folders) folder[Symbol.dispose]();
});

/** HAProxy with a client of its gRPC port, when its HTTP port says that a replica is ready. */
async function proxied(change: (file: string) => string = (file) => file) {
  const [grpc = 0, http = 0, health = 0] = await freePorts(3);
  const file = join(folders[0].path, "haproxy.cfg");
  writeFileSync(file, change(configured({ "gradus-a": a, "gradus-b": b }, { 50051: grpc, 8080: http, 8404: health })));
  const child = spawn(programOf(["haproxy"], "haproxy"), ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const exited = once(child, "exit");
  const failed = exited.then(() => Promise.reject(new Error(`HAProxy ended:\n${said}`)));
  failed.catch(() => undefined);
  const status = async (port: number) =>
    (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status ?? 0;
  await Promise.race([failed, expect.poll(() => status(http)).toBe(200)]);
  const client = createClient(`127.0.0.1:${grpc}`);
  return {
    client,
    health: () => status(health),
    async [Symbol.asyncDispose]() {
      client.close();
      child.kill();
      await exited;
    },
  };
}

const made = (client: GradusClient, seed: number) =>
  client.reset({ environment: "countdown", level: "T0", seed: BigInt(seed) });

const callsOf = async ({ httpAddress }: ServerProcess, method: string): Promise<number> => {
  const lines = (await (await fetch(`${httpAddress}/metrics`)).text()).split("\n");
  const counts = lines.filter((line) => new RegExp(`^gradus_calls_total\\{method="[^"]*/${method}"`).test(line));
  return counts.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

test("where no replica is ready, for their stores are away, those that are alive score on", async () => {
  await using proxy = await proxied((file) => file.replaceAll("GET /readyz", "GET /nowhere"));
  await expect.poll(proxy.health).toBe(503);
  const task = await made(proxy.client, 1);
  expect((await proxy.client.step(task, "<answer>1</answer>")).kind).toBe("scored");
});

test("calls of one connection go to both replicas; one that hangs is left, with the calls that it has", async () => {
  await using proxy = await proxied();
  for (let seed = 0; seed < 20; seed += 1) await made(proxy.client, seed);
  expect(await callsOf(a, "Reset")).toBeGreaterThan(5);
  expect(await callsOf(b, "Reset")).toBeGreaterThan(5);
  expect(await proxy.health()).toBe(200);

  process.kill(a.pid, "SIGSTOP");
  const began = performance.now();
  await Promise.all(Array.from({ length: 20 }, (_, seed) => made(proxy.client, seed)));
  process.kill(a.pid, "SIGCONT");
  // The time is far below every deadline, so nobody waited for the server to come back.
  expect(performance.now() - began).toBeLessThan(30_000);
});

test("no call fails while a replica shuts down", async () => {
  await using proxy = await proxied();
  const task = await made(proxy.client, 1);
  const before = await callsOf(b, "Step");
  let ended: unknown;
  void a.kill("SIGTERM").then((code) => (ended = code));
  // Until it is gone, and past the moment at which HAProxy sees that.
  let calls = 0;
  for (let after = 0; after < 200; after += ended === undefined ? 0 : 1) {
    await proxy.client.step(task, "<think></think><answer>1</answer>");
    calls += 1;
  }
  expect(ended).toBe(0);
  expect((await callsOf(b, "Step")) - before).toBeGreaterThan(calls / 2);
});
