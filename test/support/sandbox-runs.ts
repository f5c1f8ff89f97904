/** Runs right programs, and counts the descriptors, processes, files and memory before and after. */
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxJob } from "../../envs/ports.ts";
import type { Embedded } from "../../server/outside/sandbox/embedded.ts";

/** Small programs, like those of most tests of functions and of scripts. */
export const jobs = {
  call: {
    program: "def add(a, b):\n    return a + b\n",
    cases: [{ kind: "call", name: "add", args: [{ int: "2" }, { int: "40" }] }],
    cpuMsMax: 5000,
  },
  calls: {
    program: "def add(a, b):\n    return a + b\n",
    cases: Array.from({ length: 20 }, (_, i) => ({
      kind: "call" as const,
      name: "add",
      args: [{ int: String(i) }, { int: "1" }],
    })),
    cpuMsMax: 5000,
  },
  script: {
    program: "n = int(input())\nprint(sum(int(x) for x in input().split()[:n]))\n",
    cases: [{ kind: "script", stdin: "3\n20 20 2\n" }],
    cpuMsMax: 5000,
  },
} as const satisfies Readonly<Record<string, SandboxJob>>;

/** Runs a job `runs` times, `atOnce` of them at a time; throws if one does not return or print. */
export async function runMany(sandbox: Embedded, job: SandboxJob, runs: number, atOnce: number): Promise<void> {
  let left = runs;
  const signal = new AbortController().signal;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const reply = await sandbox.ask(job, { signal, deadlineMs: Infinity });
      const broken =
        reply.kind === "failed" ? reply : reply.results.find(({ kind }) => !/^(returned|printed)$/.test(kind));
      if (broken !== undefined) throw new Error(`a right program came to ${JSON.stringify(broken)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}

/** Counts of what runs may leave behind. */
export interface Traces {
  /** Open descriptors of this process and the zygotes. */
  readonly descriptors: number;
  /** Number of processes below this one. */
  readonly processes: number;
  /** Files, in folders open to everybody, of the user that programs run as. */
  readonly files: number;
  /** Memory of all those processes, without this one. */
  readonly memoryKiB: number;
}

export async function traces(sandbox: Embedded): Promise<Traces> {
  const figures = await Promise.all(sandbox.zygotes().map((zygote) => zygote.figures()));
  const below = descendants(process.pid);
  return {
    descriptors: readdirSync("/proc/self/fd").length + figures.reduce((sum, { openFiles }) => sum + openFiles, 0),
    processes: below.length,
    files: ["/tmp", "/dev/shm", "/var/tmp"].reduce((sum, folder) => sum + filesOf(sandbox.found.user, folder), 0),
    memoryKiB: below.reduce((sum, pid) => sum + residentKiB(pid), 0),
  };
}

/** Returns the ids of the processes below a process. */
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

const statusOf = (pid: number): string | undefined => read(`/proc/${pid}/status`);

/** Undefined: the process has ended. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function filesOf(user: number, folder: string): number {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  // Files of other users come and go meanwhile.
  return names.filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.uid === user).length;
}
