/** All the ways in which a program can sit: each ends by a limit of its own, and is no failure of ours. */
import { describe, expect, test } from "vitest";
import type { SandboxResult } from "../../../../envs/ports.ts";
import { openEmbedded } from "../../../../server/outside/sandbox/embedded.ts";
import { findPython } from "../../../../server/outside/sandbox/find-python.ts";
import { call, openTestSandbox, runIn, script } from "../../../support/sandbox.ts";

/** CPU limit of one case, in milliseconds: it may sleep for a second more. */
const CPU_MS_MAX = 300;
const SLEPT = { kind: "exceeded", limit: "more than 1,300 ms of waiting" };
const WORKED = { kind: "exceeded", limit: "more than 300 ms of processor time" };

const calls: Readonly<Record<string, readonly [program: string, ends: object]>> = {
  asleep: ["import time\ndef f(): time.sleep(1e6)", SLEPT],
  "asleep before anything is called": ["import time\ntime.sleep(1e6)", SLEPT],
  "asleep in short naps": ["import time\ndef f():\n  while True: time.sleep(0.001)", { kind: "exceeded" }],
  "at work for 3% of the time": [
    "import time\ndef f():\n  while True:\n    t = time.perf_counter() + 0.0015\n    while time.perf_counter() < t: pass\n    time.sleep(0.0485)",
    SLEPT,
  ],
  "at work in bursts of a tenth of a second": [
    "import time\ndef f():\n  while True:\n    t = time.perf_counter() + 0.01\n    while time.perf_counter() < t: pass\n    time.sleep(0.1)",
    SLEPT,
  ],
  "giving its turn away": ["import os\ndef f():\n  while True: os.sched_yield()", WORKED],
  "reading a pipe": ["import os\ndef f():\n  a, b = os.pipe()\n  os.read(a, 1)", { kind: "raised" }],
  "reading the pipe of its turns": ["import os\ndef f(): os.read(3, 1)", SLEPT],
  "reading from a pair of sockets": ["import socket\ndef f():\n  a, b = socket.socketpair()\n  a.recv(1)", SLEPT],
  "at a lock": ["import threading\ndef f():\n  l = threading.Lock()\n  l.acquire()\n  l.acquire()", SLEPT],
  "at select": ["import select\ndef f(): select.select([3], [], [])", SLEPT],
  "at an event loop": ["import asyncio\ndef f(): asyncio.run(asyncio.sleep(1e6))", SLEPT],
  "until a signal comes": ["import signal\ndef f(): signal.pause()", SLEPT],
  "at a queue": ["import queue\ndef f(): queue.Queue().get()", SLEPT],
  "in all of its threads": [
    "import threading, time\ndef f():\n  for _ in range(8): threading.Thread(target=time.sleep, args=(1e6,)).start()\n  time.sleep(1e6)",
    SLEPT,
  ],
  "in a thread, after the main one is gone": [
    "import ctypes, threading, time\ndef f():\n  threading.Thread(target=time.sleep, args=(1e6,)).start()\n  ctypes.CDLL(None).syscall(60, 0)",
    SLEPT,
  ],
  "at work in a thread, after the main one is gone": [
    "import ctypes, threading\ndef spin():\n  while True: pass\ndef f():\n  threading.Thread(target=spin).start()\n  ctypes.CDLL(None).syscall(60, 0)",
    WORKED,
  ],
  "stopped by itself": ["import os, signal\ndef f():\n  os.kill(os.getpid(), signal.SIGSTOP)", { kind: "raised" }],
  "stopped by raise": ["import signal\ndef f():\n  signal.raise_signal(signal.SIGSTOP)", { kind: "raised" }],
  "with half of a reply written": [
    "import os, struct, time\ndef f():\n  os.write(4, struct.pack('>I', 100) + b'{')\n  time.sleep(1e6)",
    SLEPT,
  ],
  "with its pipes closed": ["import os, time\ndef f():\n  os.closerange(0, 16)\n  time.sleep(1e6)", { kind: "died" }],
  "asking for threads that it does not get": [
    "import threading, time\ndef f():\n  while True:\n    try: threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n    except RuntimeError: pass",
    { kind: "exceeded" },
  ],
};

const scripts: Readonly<Record<string, readonly [program: string, ends: object]>> = {
  "asleep after its output is closed": ["import os, time\nprint(7, flush=True)\nos.close(1)\ntime.sleep(1e6)", SLEPT],
  "in a thread that goes on after main": [
    "import threading, time\nprint(7, flush=True)\nthreading.Thread(target=time.sleep, args=(1e6,)).start()",
    SLEPT,
  ],
  "at its end": ["import atexit, time\natexit.register(time.sleep, 1e6)\nprint(7)", SLEPT],
  "in what is cleared away at its end": [
    "import time\nclass Late:\n  def __del__(self, sleep=time.sleep): sleep(1e6)\nkept = Late()\nprint(7)",
    SLEPT,
  ],
  "in a daemon thread: it does not hold the program": [
    "import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\nprint(7)",
    { kind: "printed", stdout: "7\n" },
  ],
};

describe.each([
  ["calls", calls, call("f")],
  ["scripts", scripts, script()],
] as const)("%s", (_kind, programs, one) => {
  // The programs run side by side, each in a sandbox of its own, whose zygote reports what a program has left behind.
  test.concurrent.each(Object.entries(programs))("%s", async (_name, [program, ends]) => {
    const sandbox = await openTestSandbox({ concurrency: 1 });
    if (sandbox === undefined) return;
    const [result] = await runIn(sandbox, program, [one], { cpuMsMax: CPU_MS_MAX });
    expect(result).toMatchObject(ends);
    const [zygote] = sandbox.zygotes();
    expect(await zygote?.figures()).toMatchObject({ children: 0 });
    await sandbox.close();
  });
});

test.concurrent("asleep in each of its tests, for less than each may be: all together have their limit", async () => {
  const sandbox = await openTestSandbox({ concurrency: 1 });
  if (sandbox === undefined) return;
  const program = "import time\ndef f(): time.sleep(0.9)";
  const results = await runIn(sandbox, program, Array(64).fill(call("f")), { cpuMsMax: CPU_MS_MAX });
  expect(results).toHaveLength(64);
  expect(results.at(-1)).toEqual({ kind: "exceeded", limit: "more than 4,000 ms for all tests together" });
  await sandbox.close();
});

describe("threads", () => {
  /**
   * Starts two thousand threads, with stacks so small that memory does not end the program, and counts those that ran
   * at once.
   */
  const MANY =
    "import threading\ndef f():\n  threading.stack_size(32768)\n  event, started = threading.Event(), 0\n  try:\n    for started in range(2000): threading.Thread(target=event.wait, daemon=True).start()\n  except RuntimeError: pass\n  return started";
  /** Starts two thousand threads without Python's own module, where a failure has no message. */
  const RAW = `
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
def f():
    started = 0
    for _ in range(2000):
        thread = ctypes.c_ulong()
        if libc.pthread_create(ctypes.byref(thread), attributes(), libc.pause, None) != 0: break
        started += 1
    return started
def attributes():
    made = ctypes.create_string_buffer(64)
    libc.pthread_attr_init(made)
    libc.pthread_attr_setstacksize(made, ctypes.c_size_t(32768))
    return made
`;
  const countOf = (result: SandboxResult | undefined): number =>
    result?.kind === "returned" ? Number((result.value as { readonly int: string }).int) : NaN;

  test.each([
    ["with all walls", []],
    ["where namespaces are denied", ["namespaces"]],
  ] as const)("at most 64 at once, %s", async (_name, without) => {
    const one = await openTestSandbox({ concurrency: 1, without });
    if (one === undefined) return;
    for (const program of [MANY, RAW]) {
      const count = countOf((await runIn(one, program, [call("f")]))[0]);
      expect(count).toBeGreaterThan(32);
      expect(count).toBeLessThanOrEqual(64);
    }
    // There may be any number of threads one after the other.
    const turns =
      "import threading\ndef f():\n  for _ in range(300):\n    t = threading.Thread(target=int)\n    t.start()\n    t.join()\n  return 300";
    expect(countOf((await runIn(one, turns, [call("f")]))[0])).toBe(300);
    await one.close();
  });

  test("where neither the kernel nor a listener counts them, no program is run, and it says why", async () => {
    const python = await findPython("python3");
    if (python.kind === "missing") throw new Error(python.why);
    const without = ["namespaces", "listener"] as const;
    const opened = await openEmbedded({ python: python.path, concurrency: 1, without });
    expect(opened).toMatchObject({
      kind: "missing",
      why: expect.stringMatching(/cannot limit a program's threads|neither Landlock nor namespaces/) as string,
    });
  });
});
