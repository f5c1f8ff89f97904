/** The command line as its users start it, and in processes that run one command after another. */
import { execFileSync, fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { host as hostProgram, launcher } from "../support/program.ts";
import { LIGHT_FLAGS } from "../support/server-process.ts";
import type { Asked } from "./host.ts";

export { launcher };

/** No command writes it. */
const END_OF_COMMAND = "\0end of command\0";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Settings {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; left out: empty. */
  readonly input?: string;
}

/** Returns the environment without the developer's own settings, and with the user's data in the test's folder. */
function environmentWith({ env, cwd }: Settings): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^GRADUS_|^(NO|FORCE)_COLOR$/.test(name));
  return { ...Object.fromEntries(inherited), XDG_DATA_HOME: resolve(cwd), ...env };
}

export function start(args: readonly string[], settings: Settings): ChildProcess {
  return spawn(launcher, args, { cwd: settings.cwd, env: environmentWith(settings), stdio: "pipe" });
}

/** Runs a command to its end, in a process of its own. */
export async function gradusAlone(settings: Settings, ...args: readonly string[]): Promise<Ended> {
  const child = start(args, settings);
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw new Error("no streams");
  child.stdin.end(settings.input ?? "");
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** Processes that have run a command and wait for another. */
const idle: ChildProcess[] = [];

/** Returns the text that a process writes until it says that its command is over, or until it ends. */
function untilEnd(stream: Readable | null): Promise<string> {
  if (stream === null) throw new Error("no streams");
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    const end = (): void => {
      stream.off("data", take).off("close", end);
      done(Buffer.concat(chunks).toString().replace(END_OF_COMMAND, ""));
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      if (Buffer.concat(chunks.slice(-2)).includes(END_OF_COMMAND)) end();
    };
    stream.on("data", take).once("close", end);
  });
}

/**
 * Runs a command to its end in a process that runs others before and after it, one at a time (host.ts): the start of a
 * process takes a third of a second and more. The launcher, signals and settings of Node want gradusAlone() or start().
 */
export async function gradus(settings: Settings, ...args: readonly string[]): Promise<Ended> {
  const host = idle.pop() ?? fork(hostProgram, { stdio: "pipe", execArgv: [] });
  const code = new Promise<number | null>((done) => {
    host.once("message", (message) => done(message as number)).once("exit", done);
  });
  const written = Promise.all([untilEnd(host.stdout), untilEnd(host.stderr)]);
  const { cwd, input = "" } = settings;
  host.send({ args, cwd, env: environmentWith(settings), input, end: END_OF_COMMAND } satisfies Asked);
  const ended = { code: await code, out: (await written)[0], err: (await written)[1] };
  host.removeAllListeners("message").removeAllListeners("exit");
  if (host.connected) idle.push(host);
  return ended;
}

/** A command that leaves something open keeps its process, which here is waited for as a shell would (end-hosts.ts). */
export async function endHosts(): Promise<void> {
  await Promise.all(
    idle.splice(0).map((host) => {
      const ended = once(host, "exit");
      host.disconnect();
      return ended;
    }),
  );
}

export interface Serving {
  readonly child: ChildProcess;
  readonly grpcPort: number;
  readonly httpPort: number;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly lines: readonly string[];
}

/** Starts `gradus serve` on free ports and waits until it listens. */
export async function startServing(settings: Settings, ...flags: readonly string[]): Promise<Serving> {
  const anyPorts = ["--port", "0", "--http-port", "0"];
  const child = start(["serve", ...anyPorts, ...LIGHT_FLAGS, "--log-format", "json", ...flags], settings);
  const ended = new Promise<number | NodeJS.Signals | null>((done) =>
    child.once("exit", (code, signal) => done(code ?? signal)),
  );
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("no streams");
  const lines: string[] = [];
  createInterface(stderr).on("line", (line) => lines.push(line));
  const ports = new Promise<{ grpcPort: number; httpPort: number }>((done, fail) => {
    createInterface(stdout).on("line", (line) => {
      lines.push(line);
      if (line.includes('"listening"')) done(JSON.parse(line) as { grpcPort: number; httpPort: number });
    });
    void ended.then(() => fail(new Error(`the server did not listen:\n${lines.join("\n")}`)));
  });
  return { child, ended, lines, ...(await ports) };
}

/** Returns this Node and the Nodes of other versions on the path, with their versions. */
export function nodes(): readonly (readonly [version: string, node: string])[] {
  const onPath = execFileSync("which", ["-a", "node"], { encoding: "utf8" }).trim().split("\n");
  const versionOf = (node: string): string => execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
  return [...new Map([...onPath, process.execPath].map((node) => [versionOf(node), node] as const))];
}
