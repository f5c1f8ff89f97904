/** Tests of the operator's message when there is no sandbox, and of the metrics when there is one. */
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import type { SandboxReply } from "../../../../envs/ports.ts";
import { registerSamples } from "../../../../server/runtime/sampled-metrics.ts";
import { counted, sandboxMetrics } from "../../../../server/outside/sandbox/sandbox-metrics.ts";
import { openSandbox } from "../../../../server/outside/sandbox/open-sandbox.ts";
import type { SandboxSettings } from "../../../../server/outside/sandbox/sandbox-settings.ts";
import { probeRoom } from "../../../../server/outside/sandbox/probe-isolation.ts";

const context = { signal: new AbortController().signal, deadlineMs: Infinity };

describe("no sandbox is opened, and it is said why and what to do", () => {
  test.each<readonly [string, SandboxSettings, RegExp]>([
    [
      "there is no Python",
      { kind: "embedded", python: "/no/python", concurrency: 1 },
      /'\/no\/python' cannot be started \(ENOENT\): install Python 3.10 or newer, or say where it is with --python/,
    ],
    ["what is called Python is not", { kind: "embedded", python: "true", concurrency: 1 }, /'true' is Python/],
    [
      "this kernel has no walls",
      { kind: "embedded", python: "python3", concurrency: 1, without: ["landlock", "namespaces"] },
      /neither Landlock nor namespaces/,
    ],
  ])("%s", async (_name, settings, why) => {
    const opened = await openSandbox(settings);
    expect(opened.kind === "missing" && opened.why).toMatch(why);
    expect(opened.kind === "missing" && opened.why).toMatch(/^this server runs no programs: .*; give --sandbox/);
  });
});

test.each(["darwin", "win32"])("on %s it is refused before anything is started", async (platform) => {
  const own = process.platform;
  Object.defineProperty(process, "platform", { value: platform });
  try {
    const opened = await openSandbox({ kind: "embedded", python: "python3", concurrency: 1 });
    expect(opened.kind === "missing" && opened.why).toContain(
      `programs can only be run on Linux, and this is ${platform}`,
    );
  } finally {
    Object.defineProperty(process, "platform", { value: own });
  }
});

test("a room that lets programs do something is not trusted", async () => {
  const replies = (value: readonly string[]): SandboxReply => ({ kind: "ran", results: [{ kind: "returned", value }] });
  const probe = (reply: SandboxReply) => probeRoom({ ask: async () => reply }, context);
  expect(await probe(replies([]))).toEqual({ kind: "closed" });
  expect(await probe(replies(["a socket"]))).toEqual({ kind: "open", why: "programs could do this: a socket" });
  expect(await probe({ kind: "ran", results: [{ kind: "died", how: "SIGSYS" }] })).toMatchObject({ kind: "open" });
});

test("jobs and cases are counted by what they came to", async () => {
  const results = [
    { kind: "returned", value: null },
    { kind: "raised", error: "x" },
    { kind: "returned", value: null },
  ] as const;
  let ms = 0;
  const sandbox = counted(
    { ask: async (job) => (job.program === "" ? FAILED : { kind: "ran", results }) },
    () => (ms += 250),
  );
  for (const program of ["", "x", "x"]) await sandbox.ask({ program, cases: [], cpuMsMax: 1 }, context);
  const registry = new Registry();
  for (const metric of sandboxMetrics(() => sandbox.figures())) registerSamples(registry, metric);
  const lines = (await registry.metrics()).split("\n").filter((line) => !line.startsWith("#") && line !== "");
  expect(lines).toEqual([
    'gradus_sandbox_jobs_total{outcome="resource_unavailable"} 1',
    'gradus_sandbox_jobs_total{outcome="ran"} 2',
    'gradus_sandbox_cases_total{result="returned"} 4',
    'gradus_sandbox_cases_total{result="raised"} 2',
    "gradus_sandbox_seconds_total 0.75",
  ]);
});

const FAILED = {
  kind: "failed",
  reason: "resource_unavailable",
  resource: "sandbox",
  detail: "x",
  retryable: true,
} as const;
