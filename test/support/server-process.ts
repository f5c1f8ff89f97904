/** The real server as a process of its own, as an operator starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };
import { main } from "./program.ts";

const repository = resolve(import.meta.dirname, "../..");

export interface ServerProcess {
  readonly pid: number;
  readonly address: string;
  readonly httpAddress: string;
  /** Lines of its log so far. */
  readonly lines: readonly string[];
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/**
 * Settings of servers that live for seconds, which halve the CPU of a start, in camel case. A test of the sandbox sets
 * `sandbox` to "embedded".
 */
export const LIGHT = { workers: "1", workersCold: true, sandbox: "off" } as const;
export const LIGHT_FLAGS = ["--workers", "1", "--workers-cold", "--sandbox", "off"] as const;

/** Starts `gradus serve` on free ports and waits until it listens. */
export function startServer(dataDir: string, ...flags: readonly string[]): Promise<ServerProcess> {
  return startServerIn(process.env, dataDir, ...flags);
}

/** Starts a server with other environment variables. */
export function startServerIn(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  ...flags: readonly string[]
): Promise<ServerProcess> {
  return startServerFrom(repository, env, dataDir, ...flags);
}

/** Starts a server in another folder. */
export function startServerFrom(
  cwd: string,
  env: NodeJS.ProcessEnv,
  dataDir: string,
  ...flags: readonly string[]
): Promise<ServerProcess> {
  return startFull(cwd, env, dataDir, ...LIGHT_FLAGS, ...flags);
}

/** Starts a server with the sandbox and as many warm worker threads as an operator has. */
export async function startFull(
  cwd: string,
  env: NodeJS.ProcessEnv,
  dataDir: string,
  ...flags: readonly string[]
): Promise<ServerProcess> {
  const args = [...nodeFlags, main, "serve", "--port", "0", "--http-port", "0"];
  const child = spawn(process.execPath, [...args, "--data-dir", dataDir, "--log-format", "json", ...flags], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const exited = new Promise<number | NodeJS.Signals>((done) => {
    child.once("exit", (code, signal) => done(code ?? signal ?? 0));
  });
  const ports = await listening(child, lines, exited);
  return {
    pid: child.pid ?? 0,
    address: `127.0.0.1:${ports.grpcPort}`,
    httpAddress: `http://127.0.0.1:${ports.httpPort}`,
    lines,
    exited,
    kill(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

async function listening(child: ChildProcess, lines: string[], exited: Promise<unknown>) {
  if (child.stdout === null || child.stderr === null) throw new Error("the server has no output");
  createInterface(child.stderr).on("line", (line) => lines.push(line));
  const found = new Promise<{ readonly grpcPort: number; readonly httpPort: number }>((done) => {
    createInterface(child.stdout as NodeJS.ReadableStream).on("line", (line) => {
      lines.push(line);
      if (!line.includes('"msg":"listening"')) return;
      done(JSON.parse(line) as { readonly grpcPort: number; readonly httpPort: number });
    });
  });
  const ended = exited.then((how) => {
    throw new Error(`the server ended with ${String(how)} before it listened:\n${lines.join("\n")}`);
  });
  return Promise.race([found, ended]);
}

/** A folder that is removed when the test is over. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "gradus-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
