/** Tests of the embedded sandbox with harmless programs: results, isolation, and which failures are the server's. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { descendants, jobs, runMany, traces } from "../../../support/sandbox-runs.ts";
import type { Embedded } from "../../../../server/outside/sandbox/embedded.ts";
import { until } from "../../../support/patience.ts";
import { call, openTestSandbox, runIn, script } from "../../../support/sandbox.ts";

let shared: Embedded | undefined;
beforeAll(async () => {
  shared = await openTestSandbox();
});
afterAll(() => shared?.close());

/** Defines a test that needs a sandbox. If there is none, openTestSandbox has said so. */
function sandboxed(name: string, body: (sandbox: Embedded) => Promise<void>): void {
  test(name, async () => (shared === undefined ? undefined : body(shared)));
}

describe("calls", () => {
  sandboxed("values of all builtin types come back as they are", async (sandbox) => {
    const program = String.raw`
import collections
def f():
    return [None, True, -0.0, 1e100, float("nan"), float("-inf"), 2**53 - 1, 2**53, -2**200, "é\n\ud800", b"\x00\xff",
            (1, [2]), {3}, frozenset(), {"k": (1,), 2: None}, collections.Counter("aab"), collections.OrderedDict(a=1)]
def g(): return [object(), 1j, range(3), collections.deque(), type("Mine", (int,), {})(3), type("My", (list,), {})(), f]
`;
    const int = (value: string) => ({ int: value });
    expect(await runIn(sandbox, program, [call("f"), call("g")])).toEqual([
      {
        kind: "returned",
        value: [
          ...[null, true, { float: "-0.0" }, { float: "1e+100" }, { float: "nan" }, { float: "-inf" }],
          ...[
            int("9007199254740991"),
            int("9007199254740992"),
            int(`-${2n ** 200n}`),
            "é\n\ud800",
            { bytes: "\u0000ÿ" },
          ],
          ...[{ tuple: [int("1"), [int("2")]] }, { set: [int("3")] }, { frozenset: [] }],
          {
            dict: [
              ["k", { tuple: [int("1")] }],
              [int("2"), null],
            ],
          },
          {
            dict: [
              ["a", int("2")],
              ["b", int("1")],
            ],
          },
          { dict: [["a", int("1")]] },
        ],
      },
      {
        kind: "returned",
        value: ["object", "complex", "range", "deque", "Mine", "My", "function"].map((other) => ({ other })),
      },
    ]);
  });

  sandboxed("arguments arrive as they were given, by place and by name", async (sandbox) => {
    const args = [
      { int: `${10n ** 30n}` },
      { float: "-0.0" },
      { tuple: [{ set: [{ int: "1" }] }] },
      { bytes: "ÿ" },
    ] as const;
    const cases = [{ kind: "call", name: "f", args, kwargs: [["last", { dict: [[{ int: "1" }, null]] }]] }] as const;
    const [result] = await runIn(sandbox, "def f(*args, last): return repr((args, last))", cases);
    expect(result).toEqual({
      kind: "returned",
      value: "((1000000000000000000000000000000, -0.0, ({1},), b'\\xff'), {1: None})",
    });
  });

  sandboxed("methods are called of a new instance, and what a call prints is not told", async (sandbox) => {
    const program = "class Solution:\n  n = 0\n  def add(self, x):\n    self.n += x\n    print(x)\n    return self.n";
    const results = await runIn(sandbox, program, [call("Solution.add", 2), call("Solution.add", 3)]);
    expect(results).toEqual([2, 3].map((n) => ({ kind: "returned", value: { int: String(n) } })));
  });

  sandboxed("calls of a job share a module, and jobs share nothing", async (sandbox) => {
    const program = "kept = []\ndef f(x):\n  kept.append(x)\n  return len(kept)";
    const lengths = (results: readonly unknown[]) => results.map((result) => JSON.stringify(result).match(/\d+/)?.[0]);
    expect(lengths(await runIn(sandbox, program, [call("f", 1), call("f", 1)]))).toEqual(["1", "2"]);
    expect(lengths(await runIn(sandbox, program, [call("f", 1)]))).toEqual(["1"]);
  });

  sandboxed("an error is told with its line, in the first call and where the program itself fails", async (sandbox) => {
    const raised = async (program: string) => (await runIn(sandbox, program, [call("f")]))[0];
    expect(await raised("def f():\n  return 1 / 0")).toEqual({
      kind: "raised",
      error: "ZeroDivisionError: division by zero (line 2)",
      names: ["ZeroDivisionError", "ArithmeticError", "Exception", "BaseException", "object"],
    });
    expect(await raised("x = [\n")).toMatchObject({
      kind: "unusable",
      why: expect.stringMatching(/^raised SyntaxError: .* \(line 1\)$/) as string,
    });
    expect(await raised("pass")).toEqual({ kind: "unusable", why: "does not define f" });
    expect(await raised("import nonsense")).toMatchObject({
      why: expect.stringContaining("No module named 'nonsense'") as string,
    });
  });

  sandboxed(
    "after a case that dies the next one has a new process, and after three the rest is not run",
    async (sandbox) => {
      const program = "import os\ndef f(x): return x if x % 2 else os._exit(7)";
      const kinds = async (...args: readonly number[]) =>
        (
          await runIn(
            sandbox,
            program,
            args.map((x) => call("f", x)),
          )
        ).map(({ kind }) => kind);
      expect(await kinds(1, 2, 3, 4, 5)).toEqual(["returned", "died", "returned", "died", "returned"]);
      expect(await kinds(2, 2, 2, 1, 1)).toEqual(Array(5).fill("died"));
    },
  );
});

sandboxed("all cases together have a limit too: who idles through them comes to it", async (sandbox) => {
  const program = "import time\ndef f(): time.sleep(0.4)";
  const results = await runIn(sandbox, program, Array(12).fill(call("f")), { cpuMsMax: 100 });
  expect(results).toHaveLength(12);
  expect(results[0]).toMatchObject({ kind: "returned" });
  expect(results.at(-1)).toEqual({ kind: "exceeded", limit: "more than 2,000 ms for all tests together" });
});

describe("scripts", () => {
  sandboxed("each reads its input and is told by what it prints", async (sandbox) => {
    const program = "import sys\nprint(int(input()) * 2)\nsys.stdout.write(sys.stdin.read().upper())";
    expect(await runIn(sandbox, program, [script("21\nrest é"), script("4\n")])).toEqual([
      { kind: "printed", stdout: "42\nREST É" },
      { kind: "printed", stdout: "8\n" },
    ]);
    const results = await runIn(sandbox, program, [script("x")]);
    expect(results).toMatchObject([
      { kind: "raised", error: expect.stringMatching(/^ValueError: .*\(line 2\)$/) as string },
    ]);
  });

  sandboxed("what ends a script well is not an error, and what ends it badly is", async (sandbox) => {
    const ends = async (program: string) => (await runIn(sandbox, program, [script()]))[0];
    for (const end of ["exit()", "import sys; sys.exit(0)", "import sys; sys.exit(None)", "raise SystemExit"])
      expect(await ends(`print('x')\n${end}`), end).toEqual({ kind: "printed", stdout: "x\n" });
    expect(await ends("import sys; sys.exit(3)")).toEqual({ kind: "raised", error: "an exit with status 3" });
    expect(await ends("import sys; sys.exit('no')")).toEqual({ kind: "raised", error: "SystemExit: no" });
    expect(await ends("import atexit\natexit.register(print, 'bye')\nprint('x')")).toEqual({
      kind: "printed",
      stdout: "x\nbye\n",
    });
  });

  sandboxed("what right programs use works, as it does on the judges that they were written for", async (sandbox) => {
    const programs = {
      threads:
        "import sys, threading\nthreading.stack_size(2**27)\nthreading.Thread(target=lambda: print('ok')).start()",
      recursion:
        "import sys, functools\nsys.setrecursionlimit(10**6)\n@functools.lru_cache(None)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint('ok' if f(20000) == 20000 else '')",
      asyncio: "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  print('ok')\nasyncio.run(f())",
      digits: "print('ok' if len(str(7**20000)) == 16902 else '')",
      dataclasses:
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n  x: int\nprint('ok' if A(1) == A(1) else '')",
      time: "import time\ntime.sleep(0.01)\nprint('ok')",
      "/dev/stdin": "print(open('/dev/stdin').read())",
      "/dev/stdin as standard input": "import sys\nsys.stdin = open('/dev/stdin', 'r')\nprint(input())",
      "/dev/stdin by lines": "with open('/dev/stdin') as file: print(*[line.strip() for line in file])",
      "/dev/stdin in bytes": "import io\nprint(io.open('/dev/stdin', 'rb').read().decode())",
      "/dev/stdin as a path": "from pathlib import Path\nprint(Path('/dev/stdin').read_text())",
      "/dev/stdin as a descriptor": "import os\nprint(os.read(os.open('/dev/stdin', os.O_RDONLY), 9).decode())",
      "/dev/fd/0": "print(open('/dev/fd/0').read())",
      "/dev/stdout": "open('/dev/stdout', 'w').write('ok\\n')",
      "open(0)": "print(open(0).read())",
      "open(0) in bytes": "print(open(0, 'rb').read().decode())",
      "sys.stdin.buffer": "import sys\nprint(sys.stdin.buffer.readline().decode())",
      "standard input in a map": "import mmap\nprint(mmap.mmap(0, 0, access=mmap.ACCESS_READ).read().decode())",
      "fast input":
        "import os, io\ninput = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline\nprint(input().decode())",
      fileinput: "import fileinput\nfor line in fileinput.input(): print(line)",
      "a larger stack":
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)\nresource.setrlimit(resource.RLIMIT_STACK, [2**29, -1])\nsys.setrecursionlimit(10**6)\ndef f(n): return n and 1 + f(n - 1)\nprint('ok' if f(10**5) == 10**5 else '')",
      "a thread with a large stack":
        "import sys, threading\nsys.setrecursionlimit(10**7)\nthreading.stack_size(1 << 27)\ndef f(n): return n and 1 + f(n - 1)\ndef main(): print('ok' if f(10**5) == 10**5 else '')\nthread = threading.Thread(target=main)\nthread.start()\nthread.join()",
      "a thread with too large a stack":
        "import _thread, threading\nfor size in (1 << 30, 2**31 - 1): threading.stack_size(size)\nthreading.Thread(target=print, args=('ok',)).start()",
      "threads at once":
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(8) as pool: print(*pool.map(str.lower, 'OK'), sep='')",
      "what site defines": "print('ok' if all((exit, quit, copyright, credits, license, help)) else '')",
      sqlite3: "import sqlite3\nwith sqlite3.connect(':memory:') as db: print(*db.execute('select \"ok\"').fetchone())",
      "ssl, lzma, bz2 and XML":
        "import ssl, lzma, bz2, xml.etree.ElementTree as tree\nprint(tree.fromstring('<a>ok</a>').text)",
    };
    for (const [name, program] of Object.entries(programs)) {
      if (/asyncio|fileinput|sqlite3|ssl|at once/.test(name) && !sandbox.found.library) continue;
      const [result] = await runIn(sandbox, program, [script("ok")]);
      expect(result?.kind === "printed" ? result.stdout.trim() : result, name).toBe("ok");
    }
  });
});

sandboxed("a program gives the same in every process: hashes and chance are fixed", async (sandbox) => {
  const program = "import random\ndef f(): return [random.random(), hash('x'), list({'a', 'b', 'c'})]";
  const once = () => runIn(sandbox, program, [call("f")]);
  const other = await openTestSandbox({ concurrency: 1 });
  const elsewhere = other === undefined ? [] : await runIn(other, program, [call("f")]);
  await other?.close();
  const first = await once();
  expect(await once()).toEqual(first);
  expect(elsewhere).toEqual(first);
});

describe("failures of ours", () => {
  sandboxed("a job that is left is ended, whether it runs or waits, and its zygote is used again", async (sandbox) => {
    const one = await openTestSandbox({ concurrency: 1 });
    if (one === undefined) return;
    const left = new AbortController();
    const context = { signal: left.signal, deadlineMs: Infinity };
    const job = { program: "while True: pass", cases: [script()], cpuMsMax: 1e6 };
    const running = [one.ask(job, context), one.ask(job, context)];
    await until(async () => descendants(one.zygotes()[0]?.pid ?? 0).length >= 2);
    left.abort();
    for (const reply of await Promise.all(running)) expect(reply).toMatchObject({ kind: "failed", retryable: true });
    const [before] = one.zygotes();
    expect(await runIn(one, "def f(): return 1", [call("f")])).toMatchObject([{ kind: "returned" }]);
    expect(one.zygotes()).toEqual([before]);
    expect(await before?.figures()).toMatchObject({ children: 0 });
    await one.close();
    expect(sandbox.zygotes().length).toBeGreaterThan(0);
  });

  sandboxed("a zygote that is killed fails its job, and another takes its place", async () => {
    const faults: string[] = [];
    const one = await openTestSandbox({ concurrency: 1, onFault: (why) => faults.push(why) });
    if (one === undefined) return;
    const [zygote] = one.zygotes();
    const context = { signal: new AbortController().signal, deadlineMs: Infinity };
    const running = one.ask({ program: "while True: pass", cases: [script()], cpuMsMax: 1e6 }, context);
    process.kill(zygote?.pid ?? 0, "SIGKILL");
    expect(await running).toMatchObject({
      kind: "failed",
      reason: "resource_unavailable",
      resource: "sandbox",
      retryable: true,
    });
    expect(faults).toEqual([expect.stringContaining("SIGKILL")]);
    expect(await runIn(one, "def f(): return 1", [call("f")])).toMatchObject([{ kind: "returned" }]);
    await one.close();
    await until(() =>
      descendants(process.pid).every((pid) =>
        shared?.zygotes().some((of) => of.pid === pid || descendants(of.pid).includes(pid)),
      ),
    );
  });

  sandboxed("a program's process that is killed from outside is a failure of ours", async () => {
    const one = await openTestSandbox({ concurrency: 1 });
    if (one === undefined) return;
    const zygote = one.zygotes()[0]?.pid ?? 0;
    const before = descendants(zygote);
    const running = runIn(one, "import time\ndef f(): time.sleep(60)", [call("f")], { cpuMsMax: 60_000 });
    const born = () => descendants(zygote).filter((pid) => !before.includes(pid));
    await until(async () => born().length > 0);
    for (const pid of born()) process.kill(pid, "SIGKILL");
    await expect(running).rejects.toThrow(/a process that had kept to its limits was killed/);
    // A program that only closes its pipes, as if it had been killed, has ended by itself.
    const program = "import os, time\ndef f():\n    os.closerange(3, 64)\n    time.sleep(60)";
    expect(await runIn(one, program, [call("f")])).toMatchObject([{ kind: "died" }]);
    await one.close();
  });

  sandboxed("a job that is too large is refused, and not tried again", async (sandbox) => {
    const context = { signal: new AbortController().signal, deadlineMs: Infinity };
    const job = { program: "", cases: [script("x".repeat(65 * 1024 ** 2))], cpuMsMax: 1000 };
    expect(await sandbox.ask(job, context)).toMatchObject({ kind: "failed", retryable: false });
  });

  sandboxed("no process outlives a server that is killed", async () => {
    const program = `
      import { openEmbedded } from "./server/outside/sandbox/embedded.ts";
      import { findPython } from "./server/outside/sandbox/find-python.ts";
      const { path } = await findPython("python3");
      const { sandbox } = await openEmbedded({ python: path, concurrency: 1 });
      const cases = [{ kind: "script", stdin: "" }];
      void sandbox.ask({ program: "while True: pass", cases, cpuMsMax: 1e6 }, { signal: new AbortController().signal });
      console.log("running");
    `;
    const server = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(createInterface(server.stdout), "line");
    await until(() => descendants(server.pid ?? 0).length >= 3);
    const below = descendants(server.pid ?? 0);
    server.kill("SIGKILL");
    await until(() => below.every((pid) => isGone(pid)));
  });
});

sandboxed("300 runs leave no process, file or descriptor behind", async (sandbox) => {
  for (const job of Object.values(jobs)) await runMany(sandbox, job, 4, 2);
  const { memoryKiB: memoryBefore, files: _, ...before } = await traces(sandbox);
  for (const job of Object.values(jobs)) await runMany(sandbox, job, 100, 2);
  const { memoryKiB, files: __, ...after } = await traces(sandbox);
  expect(after).toEqual(before);
  expect(memoryKiB - memoryBefore).toBeLessThan(8 * 1024);
});

function isGone(pid: number): boolean {
  try {
    return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).startsWith("Z");
  } catch {
    return true;
  }
}
