/**
 * Runs hostile programs in a sandbox one by one, for `gradus sandbox check`. Reports how each one ended, whether it
 * left anything behind, and whether a correct program still works after it.
 */
import { mkdtempSync, rmSync, writeFileSync, chmodSync, readFileSync, readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import type { Sandbox, SandboxReply } from "../../../../envs/ports.ts";
import type { Embedded } from "../embedded.ts";
import { type Hostile, rightAnswer, shown, type Witnesses } from "./hostile.ts";
import { forgeries, limits, reach } from "./programs.ts";

export const hostilePrograms: readonly Hostile[] = [...limits, ...reach, ...forgeries];

export interface Checked {
  readonly name: string;
  /** How the program escaped the sandbox or disturbed it, in words. Undefined: it was contained. */
  readonly wrong: string | undefined;
  readonly ms: number;
}

const SECRET = "the-secret-of-gradus-check-7f3a";
const RUN_MS_MAX = 300_000;
/** Milliseconds to wait after a program has ended, so that network connections that it made are noticed. */
const SETTLE_MS = 5;

export async function* checkSandbox(
  sandbox: Sandbox & Partial<Pick<Embedded, "zygotes">>,
  programs: readonly Hostile[] = hostilePrograms,
): AsyncGenerator<Checked> {
  await using outside = await openWitnesses();
  for (const hostile of programs) {
    const startedAtMs = performance.now();
    const wrong = await checkOne(sandbox, hostile, outside);
    yield { name: hostile.name, wrong, ms: Math.round(performance.now() - startedAtMs) };
  }
}

async function checkOne(
  sandbox: Sandbox & Partial<Pick<Embedded, "zygotes">>,
  { program, cases, cpuMsMax, wrong }: Hostile,
  outside: Outside,
): Promise<string | undefined> {
  const before = await leftovers(sandbox);
  const reply = await ask(sandbox, { program, cases: cases(outside.witnesses), cpuMsMax });
  if (reply === undefined) return "the sandbox failed";
  const found = wrong(reply.results, outside.witnesses) ?? (await outside.touched());
  if (found !== undefined) return found;
  const after = await leftovers(sandbox);
  if (after !== before) return `it left processes or files behind: ${after} after it, ${before} before it`;
  return checkRight(sandbox);
}

/**
 * Checks that the sandbox still runs a correct program after a hostile one. Returns what went wrong; undefined if
 * nothing did.
 */
async function checkRight(sandbox: Sandbox): Promise<string | undefined> {
  const program = "def solve(x): return x * 7919 + 104729";
  const cases = [{ kind: "call", name: "solve", args: [{ int: "12" }] }] as const;
  const reply = await ask(sandbox, { program, cases, cpuMsMax: 2000 });
  const expected = JSON.stringify({ kind: "returned", value: { int: rightAnswer(12) } });
  const got = reply?.results[0];
  return JSON.stringify(got) === expected
    ? undefined
    : `a correct program that ran after it had the result ${shown(got)}`;
}

async function ask(sandbox: Sandbox, job: Parameters<Sandbox["ask"]>[0]): Promise<SandboxReply | undefined> {
  const context = { signal: AbortSignal.timeout(RUN_MS_MAX), deadlineMs: Date.now() + RUN_MS_MAX };
  const reply = await sandbox.ask(job, context);
  return reply.kind === "ran" ? reply : undefined;
}

/**
 * Returns the sandbox's processes and open files as text, to compare them before and after a program. For a remote
 * sandbox the text is always the same.
 */
async function leftovers({ zygotes }: Partial<Pick<Embedded, "zygotes">>): Promise<string> {
  const all = zygotes?.() ?? [];
  const figures = all.map(async (zygote) => ({ pid: zygote.pid, ...(await zygote.figures()) }));
  return JSON.stringify(await Promise.all(figures).catch((error: unknown) => String(error)));
}

interface Outside extends AsyncDisposable {
  readonly witnesses: Witnesses;
  /** Returns, in words, what a program changed outside the sandbox. Undefined: nothing. */
  touched(): Promise<string | undefined>;
}

/** Creates a secret file, a folder and a listening port, which no program in the sandbox may change or reach. */
async function openWitnesses(): Promise<Outside> {
  const root = mkdtempSync(join(tmpdir(), "gradus-check-"));
  const secretFile = join(root, "secret");
  writeFileSync(secretFile, SECRET);
  chmodSync(root, 0o777);
  chmodSync(secretFile, 0o666);
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    witnesses: { secretFile, folder: root, secret: SECRET, pid: process.pid, port },
    async touched() {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      if (connections > 0) return "it connected to a port of this machine";
      if (readdirSync(root).length !== 1) return `it made files: ${readdirSync(root).join(", ")}`;
      return readFileSync(secretFile, "utf8") === SECRET ? undefined : "it changed a file";
    },
    async [Symbol.asyncDispose]() {
      rmSync(root, { recursive: true, force: true });
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
