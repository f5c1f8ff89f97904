/** Runs right programs, and counts what is there before and after. */
import { readdirSync, readFileSync } from "node:fs";
import type { SandboxJob } from "../../envs/ports.ts";
import type { Embedded } from "../../server/tasks/sandbox/embedded.ts";

/** Small programs, as most tests of functions and of scripts are. */
export const jobs = {
  call: {
    program: "def add(a, b):\n    return a + b\n",
    cases: [{ kind: "call", name: "add", args: [{ int: "2" }, { int: "40" }] }],
    cpuMsMax: 5000,
  },
  calls: {
    program: "def add(a, b):\n    return a + b\n",
    cases: Array.from({ length: 20 }, (_, i) => ({
      ...{ kind: "call" as const, name: "add", args: [{ int: String(i) }, { int: "1" }] },
    })),
    cpuMsMax: 5000,
  },
  script: {
    program: "n = int(input())\nprint(sum(int(x) for x in input().split()[:n]))\n",
    cases: [{ kind: "script", stdin: "3\n20 20 2\n" }],
    cpuMsMax: 5000,
  },
} as const satisfies Readonly<Record<string, SandboxJob>>;

export type JobName = keyof typeof jobs;

export interface Measured {
  readonly runs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly runsPerSecond: number;
}

/** So many runs, so many of them at once. */
export async function measure(
  sandbox: Embedded,
  job: SandboxJob,
  runs: number,
  atOnce: number,
  onRun: () => void = () => undefined,
): Promise<Measured> {
  const taken: number[] = [];
  let left = runs;
  const signal = new AbortController().signal;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const startedAtMs = performance.now();
      const reply = await sandbox.run(job, { signal, deadlineMs: Infinity });
      taken.push(performance.now() - startedAtMs);
      onRun();
      const broken =
        reply.kind === "failed" ? reply : reply.results.find(({ kind }) => !/^(returned|printed)$/.test(kind));
      if (broken !== undefined) throw new Error(`a right program came to ${JSON.stringify(broken)}`);
    }
  };
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: atOnce }, caller));
  const seconds = (performance.now() - startedAtMs) / 1000;
  const sorted = taken.sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  return { runs, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1), runsPerSecond: runs / seconds };
}

/** What runs may leave behind. */
export interface Traces {
  /** Of this process and the zygotes. */
  readonly descriptors: number;
  /** Below this process. */
  readonly processes: number;
  /** Files where programs could have made some. */
  readonly files: number;
  /** Of all those processes, without this one. */
  readonly memoryKiB: number;
}

export async function traces(sandbox: Embedded): Promise<Traces> {
  const figures = await Promise.all(sandbox.zygotes().map((zygote) => zygote.figures()));
  const below = descendants(process.pid);
  return {
    descriptors: readdirSync("/proc/self/fd").length + figures.reduce((sum, { openFiles }) => sum + openFiles, 0),
    processes: below.length,
    files: ["/tmp", "/dev/shm", "/var/tmp"].reduce((sum, folder) => sum + entriesIn(folder), 0),
    memoryKiB: below.reduce((sum, pid) => sum + residentKiB(pid), 0),
  };
}

/** Processes that this one started, and those that they did. */
export function descendants(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const of = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (of !== undefined) parents.set(Number(name), of);
  }
  const isBelow = (each: number): boolean => {
    const parent = parents.get(each);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid: number): number | undefined {
  const [, , parent] = statusOf(pid)?.match(/^(PPid):\s*(\d+)/m) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

function residentKiB(pid: number): number {
  return Number(statusOf(pid)?.match(/^VmRSS:\s*(\d+)/m)?.[1] ?? 0);
}

/** Undefined: it has ended. */
function statusOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return undefined;
  }
}

function entriesIn(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}
