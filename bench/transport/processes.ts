/** The benchmark's processes: servers, their CPU, and the client that loads them. */
import { fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scenario } from "./data.ts";
import type { Done, Prepare, Prepared, Run } from "./load.ts";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };

const repository = join(import.meta.dirname, "../..");

const serve = ["cli/main.ts", "serve", "--port", "0", "--http-port", "0", "--log-format", "json"];

export interface ServerProcess {
  readonly port: number;
  /** HTTP port; 0 for the minimal server, which has none. */
  readonly httpPort: number;
  /** Returns the server's resident memory now. */
  rssBytes(): number;
  /** Returns the seconds of CPU that all threads of the server have used so far. */
  cpuSeconds(): number;
  /** Stops the server gracefully. */
  stop(): Promise<void>;
}

/** Starts our server as `gradus serve` does, with its log in a file of `folder`. */
export function startOurs(
  folder: string,
  extraNodeFlags: readonly string[] = [],
  args: readonly string[] = [],
): Promise<ServerProcess> {
  return startServer([...extraNodeFlags, ...serve, "--data-dir", folder, ...args], join(folder, "ours.log"));
}

/** Starts the server of another checkout, with the keys of ours if both run. */
export function startOther(folder: string, checkout: string): Promise<ServerProcess> {
  const keys = join(folder, "task-keys");
  const shared = existsSync(keys) ? ["--key-file", keys] : [];
  return startServer([...serve, "--data-dir", join(folder, "other"), ...shared], join(folder, "other.log"), checkout);
}

/** Starts the minimal server, the standard that the others are measured by. */
export function startMinimal(
  folder: string,
  extraNodeFlags: readonly string[] = [],
  program: readonly string[] = ["bench/transport/minimal-server.ts"],
): Promise<ServerProcess> {
  return startServer([...extraNodeFlags, ...program], join(folder, "minimal.log"));
}

async function startServer(args: readonly string[], logFile: string, cwd = repository): Promise<ServerProcess> {
  const log = openSync(logFile, "w");
  const child = spawn(process.execPath, [...nodeFlags, ...args], { cwd, stdio: ["ignore", log, log] });
  closeSync(log);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
  };
  for (;;) {
    const line = readFileSync(logFile, "utf8")
      .split("\n")
      .find((text) => text.includes('"msg":"listening"'));
    if (line !== undefined) {
      const ports = JSON.parse(line) as { readonly grpcPort: number; readonly httpPort?: number };
      const { grpcPort: port, httpPort = 0 } = ports;
      return { port, httpPort, rssBytes: () => rssBytesOf(child), cpuSeconds: () => cpuSecondsOf(child), stop };
    }
    if (child.exitCode !== null) throw new Error(`a server ended at once:\n${readFileSync(logFile, "utf8")}`);
    await sleep(20);
  }
}

/**
 * Returns a process's CPU seconds from the first number, in nanoseconds, of each thread's schedstat: finer than the
 * ticks of /proc/pid/stat.
 */
function cpuSecondsOf({ pid }: ChildProcess): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  });
  return nanoseconds.reduce((sum, of) => sum + of, 0) / 1e9;
}

function rssBytesOf({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

export interface LoadClient {
  prepare(scenario: Scenario, messages: readonly Uint8Array[]): Promise<void>;
  run(scenario: Scenario, port: number, durationMs: number): Promise<Done>;
  stop(): void;
}

export function startLoadClient(): LoadClient {
  const child = fork(join(import.meta.dirname, "load.ts"), { serialization: "advanced" });
  const ask = async <T>(order: Prepare | Run): Promise<T> => {
    const answer = new Promise<T>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`the load client ended with ${code}`));
      child.once("exit", ended);
      child.once("message", (message) => {
        child.off("exit", ended);
        resolve(message as T);
      });
    });
    child.send(order);
    return answer;
  };
  return {
    prepare: async (scenario, messages) => void (await ask<Prepared>({ kind: "prepare", scenario, messages })),
    run: (scenario, port, durationMs) => ask<Done>({ kind: "run", scenario, port, durationMs }),
    stop: () => void child.kill(),
  };
}
