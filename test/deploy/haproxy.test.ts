/** deploy/haproxy.cfg with two servers behind it; of the file only addresses and ports are others. */
import { spawn } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createClient } from "../../clients/ts/src/index.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { debian } from "../support/debian.ts";

/** Two ports that nobody has. */
async function freePorts(): Promise<readonly [number, number]> {
  const servers = [createServer(), createServer()];
  const ports = servers.map(async (server) => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  });
  const [grpcPort = 0, httpPort = 0] = await Promise.all(ports);
  for (const server of servers) server.close();
  return [grpcPort, httpPort];
}

/** The file with ports of here, and the servers' addresses in the place of the compose file's names. */
function configured(servers: Readonly<Record<string, ServerProcess>>, ports: Readonly<Record<string, number>>): string {
  return readFileSync("deploy/haproxy.cfg", "utf8")
    .replaceAll(/^ {2}bind :(\d+)/gm, (_, port: string) => `  bind 127.0.0.1:${ports[port]}`)
    .replaceAll(/^ {2}server (\S+) \S+:(\d+)(.*)/gm, (_, name: string, port: string, rest: string) => {
      const server = servers[name];
      if (server === undefined) throw new Error(`there is no ${name}`);
      const { port: http } = new URL(server.httpAddress);
      return `  server ${name} ${port === "8080" ? `127.0.0.1:${http}` : server.address}${rest} port ${http}`;
    });
}

/** Fails where it ends before it is told to. */
async function startHaproxy(folder: string, text: string) {
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, text);
  const child = spawn(debian("haproxy"), ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (chunk) => (said += String(chunk)));
  const exited = once(child, "exit");
  return {
    failed: exited.then(() => Promise.reject(new Error(`HAProxy ended:\n${said}`))),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

const callsOf = async ({ httpAddress }: ServerProcess, method: string): Promise<number> => {
  const text = await (await fetch(`${httpAddress}/metrics`)).text();
  const line = text.split("\n").find((each) => new RegExp(`^gradus_calls_total\\{method="[^"]*/${method}"`).test(each));
  return Number(line?.split(" ").at(-1) ?? 0);
};

test("calls of one connection go to both replicas, and none fails while one of them shuts down", async () => {
  using folder = temporaryFolder();
  using other = temporaryFolder();
  const a = await startServer(folder.path);
  copyFileSync(join(folder.path, "task-keys"), join(other.path, "task-keys"));
  const b = await startServer(other.path);
  const [grpcPort, httpPort] = await freePorts();
  await using haproxy = await startHaproxy(
    folder.path,
    configured({ "gradus-a": a, "gradus-b": b }, { 50051: grpcPort, 8080: httpPort }),
  );
  // The HTTP port goes the same way.
  const ready = async () => (await fetch(`http://127.0.0.1:${httpPort}/healthz`).catch(() => undefined))?.status;
  await Promise.race([haproxy.failed, expect.poll(ready).toBe(200)]);
  haproxy.failed.catch(() => undefined);
  const client = createClient(`127.0.0.1:${grpcPort}`);

  const made = async (seed: number) => client.reset({ environment: "countdown", level: "T0", seed: BigInt(seed) });
  await made(0);
  const task = await made(1);
  for (let seed = 0; seed < 20; seed += 1) await made(seed);
  expect(await callsOf(a, "Reset")).toBeGreaterThan(5);
  expect(await callsOf(b, "Reset")).toBeGreaterThan(5);

  let ended: unknown;
  void a.kill("SIGTERM").then((code) => (ended = code));
  // Until it is gone, and past the moment at which HAProxy sees that.
  let calls = 0;
  for (let after = 0; after < 200; after += ended === undefined ? 0 : 1) {
    await client.step(task, "<think></think><answer>1</answer>");
    calls += 1;
  }
  expect(ended).toBe(0);
  expect(await callsOf(b, "Step")).toBeGreaterThan(calls / 2);
  client.close();
  expect(await b.kill("SIGTERM")).toBe(0);
});
