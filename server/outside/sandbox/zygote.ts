/**
 * Controls one zygote: an isolated Python process that runs one job at a time. For each run of a job's program, the
 * zygote forks a child process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import type { SandboxJob, SandboxResult } from "../../../envs/ports.ts";
import { cancelBytes, createFrameReader, figuresBytes, type Frame, jobBytes } from "./zygote-frames.ts";
import { resultOfFrame } from "./read-results.ts";
import { PARTS_MAX } from "../../../envs/lib/python-values.ts";

/** The means of isolation that the sandbox process found in this kernel. */
export interface KernelIsolation {
  /** Version of Python, e.g. "3.11.7". */
  readonly python: string;
  readonly machine: string;
  /** Version of Landlock, the kernel's file access control. 0 if the kernel has none. */
  readonly landlock: number;
  readonly namespaces: boolean;
  /** Why namespaces cannot be used. Null: they can. */
  readonly noNamespaces: string | null;
  /** Whether programs can import modules of the standard library that were not imported in advance. */
  readonly library: boolean;
  /** Id of the Unix user that programs run as. */
  readonly user: number;
}

/** Numbers of child processes and open files of a zygote, to see whether programs left some behind. */
export interface Figures {
  readonly children: number;
  readonly openFiles: number;
}

export type ZygoteOutcome =
  | { readonly kind: "ran"; readonly results: readonly SandboxResult[] }
  /** The job's message would be larger than a sandbox process accepts. */
  | { readonly kind: "too_large" }
  | { readonly kind: "cancelled" }
  /** The sandbox itself failed, which says nothing about the program. */
  | { readonly kind: "fault"; readonly why: string }
  /** The machine had no processor time for the program. Trying again later may succeed. */
  | { readonly kind: "busy"; readonly why: string };

export interface Zygote {
  readonly found: KernelIsolation;
  readonly pid: number;
  /** Runs a job. Must not be called again before the returned promise has resolved. */
  run(job: SandboxJob, signal: AbortSignal): Promise<ZygoteOutcome>;
  figures(): Promise<Figures>;
  /** Returns whether the zygote still runs and takes jobs. */
  alive(): boolean;
  close(): Promise<void>;
}

export type StartedZygote =
  { readonly kind: "started"; readonly zygote: Zygote } | { readonly kind: "failed"; readonly why: string };

export interface ZygoteOptions {
  /** Path of the Python interpreter. */
  readonly python: string;
  /** Means of isolation not to use, even if the kernel offers them. For tests. */
  readonly without?: readonly ("landlock" | "namespaces" | "listener")[];
}

/**
 * Shell command that starts the zygote with a stack of 256 MiB, for deeply recursive programs: CPython recurses in C
 * around lru_cache. If that limit is not allowed, the zygote starts with the usual stack.
 */
const LAUNCH = 'ulimit -s 262144 2>/dev/null; exec "$0" "$@"';
const SCRIPT = fileURLToPath(new URL("python/zygote.py", import.meta.url));
const START_MS_MAX = 30_000;
/** Maximum milliseconds for a sandbox process (zygote) to end a cancelled job. Then the process is killed. */
const CANCEL_MS_MAX = 5000;
const STDERR_LENGTH_MAX = 2000;

type Ended = { readonly kind: "ended"; readonly why: string };

export async function startZygote({ python, without = [] }: ZygoteOptions): Promise<StartedZygote> {
  const child = spawn("/bin/sh", ["-c", LAUNCH, python, "-S", "-s", "-B", SCRIPT, ...without], {
    // The zygote gets none of the server's environment variables. The fixed hash seed makes hashes equal in all runs.
    env: { PYTHONHASHSEED: "0", PYTHONUTF8: "1" },
    stdio: "pipe",
  });
  const link = createLink(child);
  const first = await Promise.race([link.next(), delay(START_MS_MAX, undefined, { ref: false })]);
  const hello = first?.kind === "hello" ? (JSON.parse(first.payload.toString()) as Hello) : undefined;
  if (hello !== undefined && !("refused" in hello)) return { kind: "started", zygote: createZygote(link, hello) };
  await link.close();
  if (hello !== undefined) return { kind: "failed", why: hello.refused };
  return {
    kind: "failed",
    why: first?.kind === "ended" ? first.why : `the sandbox process did not start within ${START_MS_MAX} ms`,
  };
}

type Hello = KernelIsolation | { readonly refused: string };

interface Link {
  readonly pid: number;
  write(bytes: Buffer): void;
  /**
   * Resolves to the next message from the zygote. Must not be called again before the returned promise has resolved.
   */
  next(): Promise<Frame | Ended>;
  alive(): boolean;
  close(): Promise<void>;
}

/** Creates a connection that sends messages to a zygote process and receives its messages. */
function createLink(child: ChildProcess): Link {
  const frames: Frame[] = [];
  let ended: Ended | undefined;
  let waiter: ((frame: Frame | Ended) => void) | undefined;
  let said = "";
  const wake = (): void => {
    const first = waiter === undefined ? undefined : (frames.shift() ?? ended);
    if (first === undefined) return;
    waiter?.(first);
    waiter = undefined;
  };
  const end = (why: string): void => {
    ended ??= { kind: "ended", why };
    child.kill("SIGKILL");
    wake();
  };
  const read = createFrameReader((frame) => frames.push(frame));
  child.stdout?.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
      wake();
    } catch (error) {
      end(`the sandbox process sent invalid output: ${String(error)}`);
    }
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-STDERR_LENGTH_MAX);
  });
  // Writing to a process that has ended fails. The error is ignored, because the close event reports the end.
  child.stdin?.on("error", () => undefined);
  const exited = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      end(error.message);
      resolve();
    });
    child.once("close", (code, signal) => {
      end(
        `the sandbox process ended with ${signal ?? `status ${code}`}${said === "" ? "" : `: ${said.trim().split("\n").at(-1)}`}`,
      );
      resolve();
    });
  });
  return {
    pid: child.pid ?? -1,
    write: (bytes) => void child.stdin?.write(bytes),
    next: () =>
      new Promise((resolve) => {
        waiter = resolve;
        wake();
      }),
    alive: () => ended === undefined,
    close: () => {
      end("it was closed");
      return exited;
    },
  };
}

function createZygote(link: Link, found: KernelIsolation): Zygote {
  let jobs = 0;
  const collect = async (jobId: number, cases: SandboxJob["cases"]): Promise<ZygoteOutcome> => {
    const budget = { partsLeft: PARTS_MAX };
    const results: SandboxResult[] = [];
    for (;;) {
      const frame = await link.next();
      if (frame.kind === "ended") return { kind: "fault", why: frame.why };
      if (frame.jobId !== jobId) continue;
      if (frame.kind === "fault" || frame.kind === "busy") return { kind: frame.kind, why: frame.payload.toString() };
      if (frame.kind === "done") return results.length === cases.length ? { kind: "ran", results } : CANCELLED;
      const next = cases[results.length];
      const result = next && resultOfFrame(frame, next, budget);
      if (result !== undefined) results.push(result);
    }
  };
  return {
    found,
    pid: link.pid,
    alive: () => link.alive(),
    close: () => link.close(),
    async run(job, signal) {
      const jobId = (jobs = (jobs + 1) % 2 ** 32);
      const bytes = jobBytes(jobId, job);
      if (bytes === undefined) return { kind: "too_large" };
      let late: NodeJS.Timeout | undefined;
      const cancel = (): void => {
        link.write(cancelBytes(jobId));
        late = setTimeout(() => void link.close(), CANCEL_MS_MAX);
      };
      signal.addEventListener("abort", cancel, { once: true });
      link.write(bytes);
      const outcome = await collect(jobId, job.cases);
      signal.removeEventListener("abort", cancel);
      clearTimeout(late);
      return signal.aborted ? CANCELLED : outcome;
    },
    async figures() {
      link.write(figuresBytes(0));
      for (;;) {
        const frame = await link.next();
        if (frame.kind === "ended") throw new Error(frame.why);
        if (frame.kind === "counted") return JSON.parse(frame.payload.toString()) as Figures;
      }
    },
  };
}

const CANCELLED: ZygoteOutcome = Object.freeze({ kind: "cancelled" });
