/** Starts several servers of one store behind HAProxy. Each can be killed, stopped for a while, and restarted. */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { libraryOf, programOf } from "./debian.ts";
import { type ServerProcess, startServerIn, temporaryFolder } from "./server-process.ts";

export interface ReplicaOptions {
  readonly dataDir: string;
  readonly flags: readonly string[];
  /** Hours by which the replica's clock is ahead of the others'. Defaults to 0. */
  readonly clockAheadHours?: number | undefined;
}

export interface Replica {
  /** Undefined: the replica is not running. */
  readonly server: ServerProcess | undefined;
  /** Starts the replica, and waits until it listens on its own two ports. */
  start(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | undefined>;
  /** Returns the lines of the replica's logs, including those of processes that have ended. */
  lines(): readonly string[];
}

export interface Replicas extends AsyncDisposable {
  /** HAProxy's gRPC address and HTTP port. */
  readonly address: string;
  readonly http: string;
  /** HAProxy's gRPC address that leads to the first replica alone. */
  readonly alone: string;
  readonly all: readonly Replica[];
}

/** `libfaketime` does not change the clock of timers. */
function clockOf(aheadHours: number | undefined): NodeJS.ProcessEnv {
  if (aheadHours === undefined) return {};
  const folders = ["x86_64-linux-gnu", "aarch64-linux-gnu"];
  const library = libraryOf(
    folders.map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`),
    "libfaketime",
  );
  const offset = `${aheadHours < 0 ? "-" : "+"}${Math.abs(aheadHours)}h`;
  return { LD_PRELOAD: library, FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: "1", DONT_FAKE_MONOTONIC: "1" };
}

interface Ports {
  readonly grpc: number;
  readonly http: number;
}

function replica({ dataDir, flags, clockAheadHours }: ReplicaOptions, ports: Ports): Replica {
  const env = { ...process.env, ...clockOf(clockAheadHours) };
  let past: readonly string[] = [];
  let server: ServerProcess | undefined;
  const lines = (): readonly string[] => [...past, ...(server?.lines ?? [])];
  return {
    get server() {
      return server;
    },
    start: async () => {
      const listen = ["--port", String(ports.grpc), "--http-port", String(ports.http)];
      server = await startServerIn(env, dataDir, ...flags, ...listen);
    },
    kill: async (signal) => {
      const ended = await server?.kill(signal);
      past = lines();
      server = undefined;
      return ended;
    },
    lines,
  };
}

/**
 * Returns free ports below those that the kernel assigns. No other program takes such a port while its server restarts.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(20_000, 32_000);
    const listener = createServer().listen(port, "127.0.0.1");
    const isFree = await once(listener, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await once(listener.close(), "close");
    ports.add(port);
  }
  return [...ports];
}

/**
 * Returns HAProxy's configuration from docs/guides/replicas.md: gRPC by HTTP/2 in clear, each call to any ready
 * replica.
 * HAProxy leaves a replica at once when it is not ready, with the calls that it has.
 */
function configuration(front: Ports & { readonly alone: number }, backs: readonly Ports[], byRun: boolean): string {
  // Calls about no run have no such header, and go to the replicas by turns.
  const balance = byRun ? "balance hdr(gradus-run)\n  hash-type consistent" : "balance roundrobin";
  const servers = (which: keyof Ports, more: (i: number) => string): string =>
    backs.map((ports, i) => `  server replica${i} 127.0.0.1:${ports[which]} ${more(i)}`).join("\n");
  const down = "on-marked-down shutdown-sessions";
  const checked = (i: number): string =>
    `proto h2 port ${backs[i]?.http} check check-proto h1 inter 500 fall 2 rise 1 ${down}`;
  return `
defaults
  mode http
  timeout connect 1s
  timeout client 1h
  timeout server 1h
  timeout check 1s
  retries 3
  option redispatch 1
  retry-on conn-failure
  option httpchk GET /readyz

frontend grpc
  bind 127.0.0.1:${front.grpc} proto h2
  default_backend grpc
backend grpc
  ${balance}
${servers("grpc", checked)}

frontend alone
  bind 127.0.0.1:${front.alone} proto h2
  default_backend alone
backend alone
  server replica0 127.0.0.1:${backs[0]?.grpc} proto h2

frontend http
  bind 127.0.0.1:${front.http}
  default_backend http
backend http
  balance roundrobin
${servers("http", (i) => `track grpc/replica${i} ${down}`)}
`;
}

async function listens(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const is = await Promise.race([
      once(socket, "connect").then(() => true),
      once(socket, "error").then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (is) return;
    await sleep(20);
  }
}

/**
 * Starts replicas one after the other, so that the first makes what they share. With `byRun` the calls of a run go to
 * one replica.
 */
export async function startReplicas(options: readonly ReplicaOptions[], byRun = false): Promise<Replicas> {
  const folder = temporaryFolder();
  const [grpc = 0, http = 0, alone = 0, ...rest] = await freePorts(3 + 2 * options.length);
  const ports = options.map((_, i) => ({ grpc: rest[2 * i] ?? 0, http: rest[2 * i + 1] ?? 0 }));
  const all = options.map((each, i) => replica(each, ports[i] as Ports));
  for (const each of all) await each.start();
  const file = join(folder.path, "haproxy.cfg");
  writeFileSync(file, configuration({ grpc, http, alone }, ports, byRun));
  const proxy = spawn(programOf(["haproxy"], "haproxy"), ["-db", "-f", file], { stdio: "ignore" });
  const exited = once(proxy, "exit");
  await Promise.race([
    listens(grpc),
    exited.then(([code]) => {
      throw new Error(
        `haproxy ended with ${String(code)}; its configuration:\n${configuration({ grpc, http, alone }, ports, byRun)}`,
      );
    }),
  ]);
  return {
    address: `127.0.0.1:${grpc}`,
    http: `http://127.0.0.1:${http}`,
    alone: `127.0.0.1:${alone}`,
    all,
    async [Symbol.asyncDispose]() {
      proxy.kill();
      await exited;
      await Promise.all(all.map((each) => each.kill("SIGTERM")));
      folder[Symbol.dispose]();
    },
  };
}
