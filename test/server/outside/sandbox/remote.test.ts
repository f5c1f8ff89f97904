/** A sandbox behind SandboxFusion's protocol: the same answers as the embedded one's, and failures that are no answers. */
import { describe, expect, test } from "vitest";
import type { SandboxCase, SandboxJob } from "../../../../envs/ports.ts";
import { createRemote } from "../../../../server/outside/sandbox/remote.ts";
import { type FusionBehaviour, startFusionServer } from "../../../support/fusion-server.ts";
import { call, script } from "../../../support/sandbox.ts";

async function ask(
  behave: Parameters<typeof startFusionServer>[0],
  program: string,
  cases: readonly SandboxCase[],
  more: Partial<SandboxJob> = {},
  signal = new AbortController().signal,
) {
  await using server = await startFusionServer(behave);
  const sandbox = createRemote({ url: server.url, concurrency: 2 });
  const reply = await sandbox.ask({ program, cases, cpuMsMax: 20_000, ...more }, { signal, deadlineMs: Infinity });
  return { reply, requests: server.requests };
}

const runs = (): FusionBehaviour => ({ kind: "run" });

describe("programs", () => {
  test("calls of a job are one request, and their values come back", async () => {
    const program = "kept = []\ndef f(x):\n  print('noise')\n  kept.append(x)\n  return (x, len(kept), {'é': 0.5})";
    const { reply, requests } = await ask(runs, program, [call("f", 1), call("f", "a"), call("g")]);
    const value = (x: unknown, n: number) => ({ tuple: [x, { int: String(n) }, { dict: [["é", { float: "0.5" }]] }] });
    expect(reply).toMatchObject({
      kind: "ran",
      results: [
        { kind: "returned", value: value({ int: "1" }, 1) },
        { kind: "returned", value: value("a", 2) },
        { kind: "unusable", why: "does not define g" },
      ],
    });
    expect(requests).toMatchObject([{ language: "python" }]);
  });

  test("what tests make of a result is made of it over there, and exceptions are told with their classes", async () => {
    const program = "def f(x):\n  if x: raise KeyError(x)\n  yield x";
    const list = (x: number) => ({
      ...(call("f", x) as Extract<SandboxCase, { kind: "call" }>),
      views: ["list"] as const,
    });
    const { reply } = await ask(runs, program, [list(0), list(1)]);
    expect(reply).toMatchObject({
      results: [
        { kind: "returned", value: [{ int: "0" }] },
        { kind: "raised", names: ["KeyError", "LookupError", "Exception", "BaseException", "object"] },
      ],
    });
  });

  test("scripts are sent as they are, each with its input", async () => {
    const program = "print(int(input()) * 2)";
    const { reply, requests } = await ask(runs, program, [script("21"), script("x"), script("4")]);
    expect(reply).toMatchObject({
      results: [
        { kind: "printed", stdout: "42\n" },
        { kind: "raised", error: expect.stringMatching(/^ValueError/) as string },
        { kind: "printed", stdout: "8\n" },
      ],
    });
    expect(requests.map(({ code, stdin }) => [code, stdin])).toEqual(["21", "x", "4"].map((stdin) => [program, stdin]));
  });

  test("a call that dies or takes too long costs itself alone, and the third one ends the job", async () => {
    const program = "import os\ndef f(x):\n  if x == 0: os._exit(0)\n  while x == 2: pass\n  return x";
    const { reply, requests } = await ask(
      runs,
      program,
      [0, 1, 2, 1, 0, 1].map((x) => call("f", x)),
      // The limit for all cases is a multiple of this time by the wall clock: three starts of Python on a busy machine
      // must fit.
      { cpuMsMax: 3000 },
    );
    expect(reply.kind === "ran" && reply.results.map(({ kind }) => kind)).toEqual([
      "died",
      "returned",
      "exceeded",
      "returned",
      "died",
      "died",
    ]);
    expect(requests).toHaveLength(3);
  });

  test("what prints lines of its own gives another answer, and no more", async () => {
    const forged =
      "import os, gc\nfor d in range(3, 9):\n  try: os.write(d, b'{\"value\":1}\\n' * 9)\n  except OSError: pass\nos._exit(0)";
    const { reply } = await ask(runs, forged, [call("f"), call("f")]);
    expect(reply).toEqual({ kind: "ran", results: [1, 1].map(() => ({ kind: "returned", value: { int: "1" } })) });
    const junk = await ask(runs, forged.replace('{\\"value\\":1}', "[[["), [call("f")]);
    expect(junk.reply).toMatchObject({ kind: "ran" });
  });
});

test("all cases of a job together have their limit, by that server's own account", async () => {
  const result = { status: "Finished", return_code: 0, stdout: "7\n", stderr: "", execution_time: 9 };
  const slow = (): FusionBehaviour => ({ kind: "reply", json: { status: "Success", run_result: result } });
  const { reply, requests } = await ask(slow, "print(7)", Array<SandboxCase>(64).fill(script()), { cpuMsMax: 4000 });
  expect(requests).toHaveLength(10);
  expect(reply.kind === "ran" && reply.results.map(({ kind }) => kind)).toEqual([
    ...Array<string>(10).fill("printed"),
    ...Array<string>(54).fill("exceeded"),
  ]);
  expect(Math.max(...requests.map(({ run_timeout: seconds }) => seconds))).toBe(10);
});

describe("failures over there are no answers", () => {
  const finished = (more: object) => ({
    status: "Success",
    run_result: { status: "Finished", return_code: 0, ...more },
  });
  test.each<readonly [string, FusionBehaviour, object]>([
    ["its own error", { kind: "reply", json: { status: "SandboxError", message: "no room" } }, { detail: /no room/ }],
    ["an error in a result", { kind: "reply", json: { status: "Failed", run_result: { status: "Error" } } }, {}],
    ["no result", { kind: "reply", json: { status: "Success", run_result: null } }, {}],
    ["no status", { kind: "reply", json: finished({ return_code: "0" }) }, {}],
    ["a reply that is no object", { kind: "reply", json: 7 }, {}],
    ["a reply that is no JSON", { kind: "raw", body: "<html>" }, {}],
    [
      "a reply that is too long",
      { kind: "raw", body: " ".repeat(17 * 1024 ** 2) },
      { detail: /more than 16777216 bytes/ },
    ],
    ["HTTP 500", { kind: "status", status: 500 }, { retryable: true }],
    ["HTTP 429", { kind: "status", status: 429 }, { retryable: true }],
    ["HTTP 422", { kind: "status", status: 422 }, { retryable: false }],
    ["a broken connection", { kind: "reset" }, { retryable: true }],
  ])(
    "%s",
    async (
      _name,
      behaviour,
      { detail = /the sandbox/, retryable = true }: { detail?: RegExp; retryable?: boolean },
    ) => {
      for (const cases of [[call("f")], [script()]]) {
        const { reply } = await ask(() => behaviour, "def f(): return 1", cases);
        expect(reply).toMatchObject({ kind: "failed", reason: "resource_unavailable", resource: "sandbox", retryable });
        expect(reply.kind === "failed" && reply.detail).toMatch(detail);
      }
    },
  );

  test("one that never answers is waited for until the caller leaves", async () => {
    const left = new AbortController();
    const behave = (): FusionBehaviour => {
      setImmediate(() => left.abort());
      return { kind: "silence" };
    };
    const { reply } = await ask(behave, "", [script()], {}, left.signal);
    expect(reply).toMatchObject({ kind: "failed", reason: "timeout" });
  });

  test("an output that was cut off is too much, and no answer", async () => {
    const stdout = "x".repeat(1024 ** 2);
    for (const cases of [[call("f")], [script()]]) {
      const { reply } = await ask(() => ({ kind: "reply", json: finished({ stdout }) }), "", cases);
      expect(reply).toMatchObject({ results: [{ kind: "exceeded" }] });
    }
  });
});
