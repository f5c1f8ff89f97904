/** Opens the embedded sandbox for tests, with the walls that this kernel has. */
import { expect } from "vitest";
import type { SandboxCase, SandboxJob, SandboxResult } from "../../envs/ports.ts";
import { type Embedded, type EmbeddedOptions, openEmbedded } from "../../server/outside/sandbox/embedded.ts";
import { findPython } from "../../server/outside/sandbox/find-python.ts";

/**
 * Opens a sandbox. Undefined: this kernel has neither Landlock nor namespaces. Then the function asserts that no
 * sandbox opens, and prints why, because the test shows nothing.
 */
export async function openTestSandbox(options: Partial<EmbeddedOptions> = {}): Promise<Embedded | undefined> {
  const python = await findPython("python3");
  if (python.kind === "missing") throw new Error(python.why);
  const opened = await openEmbedded({ python: python.path, concurrency: 2, ...options });
  if (opened.kind === "opened") return opened.sandbox;
  expect(opened.why).toMatch(/neither Landlock nor namespaces|no list of system calls/);
  console.warn(`no sandbox here: ${opened.why}`);
  return undefined;
}

export const call = (name: string, ...args: readonly (number | string)[]): SandboxCase => ({
  kind: "call",
  name,
  args: args.map((arg) => (typeof arg === "number" ? { int: String(arg) } : arg)),
});
export const script = (stdin = ""): SandboxCase => ({ kind: "script", stdin });

/** Runs a program, with enough time for a busy machine. */
export async function runIn(
  sandbox: Embedded,
  program: string,
  cases: readonly SandboxCase[],
  more: Partial<SandboxJob> = {},
): Promise<readonly SandboxResult[]> {
  const context = { signal: new AbortController().signal, deadlineMs: Infinity };
  const reply = await sandbox.ask({ program, cases, cpuMsMax: 10_000, ...more }, context);
  if (reply.kind === "failed") throw new Error(reply.detail);
  return reply.results;
}
