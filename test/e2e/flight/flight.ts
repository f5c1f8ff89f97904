/**
 * Sends the completions of one update batch at once, from streams of both clients, and reads the run's record of them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { GradusClient, RunHandle } from "../../../clients/ts/src/index.ts";
import type { Told, Unit, Work } from "./work.ts";

const repository = join(import.meta.dirname, "../../..");

export interface FlightOptions {
  /** Client of the server itself, for the calls on the run; the streams use `addresses`. */
  readonly client: GradusClient;
  /** Addresses of the streams: one for each, or one for all. */
  readonly addresses: readonly string[];
  /** Work files are put here. */
  readonly folder: string;
  readonly runId: string;
  readonly environment: string;
  readonly prompts: number;
  readonly generations: number;
  readonly bytes: number;
  readonly perMessage: number;
  /** Client processes of each language, and the streams of each. */
  readonly processes: { readonly python: number; readonly typescript: number };
  readonly streams: number;
  readonly timeoutSeconds: number;
  /** Called when every client process has its work. */
  readonly underWay?: () => Promise<void>;
}

export interface Flight {
  readonly completions: number;
  readonly seconds: number;
  /** Messages that failed, as the clients report them. */
  readonly failed: number;
  readonly reasons: readonly string[];
  readonly statuses: Readonly<Record<string, number>>;
  /**
   * Samples that the run recorded. The next three count samples of its groups that are there once, missing, or twice.
   */
  readonly recorded: number;
  readonly once: number;
  readonly missing: number;
  readonly twice: number;
  readonly closedGroups: number;
}

/** The completion of a sample, unlike every other's: one that went to another sample would be a conflict. */
function completionOf(groupId: string, index: number, bytes: number): string {
  const thoughts = `<think>sample ${index} of ${groupId}. `;
  const answer = `</think><answer>${index}</answer>`;
  return thoughts + "So it goes on. ".repeat(bytes / 15).slice(0, bytes - thoughts.length - answer.length) + answer;
}

/** Deals the units of all groups to streams, a group to one stream. */
async function dealt(run: RunHandle, options: FlightOptions, streams: number): Promise<readonly (readonly Unit[])[]> {
  const { tasks } = await run.nextBatch({ count: options.prompts });
  const units = tasks.map(({ taskId, groupId }) => {
    const samples = Array.from({ length: options.generations }, (_, index) => {
      return { index, text: completionOf(groupId, index, options.bytes) };
    });
    const messages = Math.ceil(samples.length / options.perMessage);
    return Array.from({ length: messages }, (_, i) => {
      return { taskId, groupId, samples: samples.slice(i * options.perMessage, (i + 1) * options.perMessage) };
    });
  });
  return Array.from({ length: streams }, (_, i) => units.filter((_, k) => k % streams === i).flat());
}

interface Process {
  readonly child: ChildProcess;
  readonly line: () => Promise<string>;
}

function started(command: string, args: readonly string[]): Process {
  const env = { ...process.env, PYTHONPATH: join(repository, "clients/python/src") };
  const child = spawn(command, args, { cwd: repository, env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error(`${command} ${args.join(" ")} ended before it was done`);
    return next.value;
  };
  return { child, line };
}

/** Client processes with their work, connected and waiting. */
async function clientsOf(options: FlightOptions, streams: readonly (readonly Unit[])[]): Promise<readonly Process[]> {
  const { python, typescript } = options.processes;
  const processes = Array.from({ length: python + typescript }, (_, i) => {
    const file = join(options.folder, `${options.runId}-${i}.json`);
    const own = streams.slice(i * options.streams, (i + 1) * options.streams).map((units, k) => {
      return { units, address: options.addresses[(i * options.streams + k) % options.addresses.length] ?? "" };
    });
    const work: Work = { timeoutSeconds: options.timeoutSeconds, streams: own };
    writeFileSync(file, JSON.stringify(work));
    if (i < python) return started(join(repository, ".venv/bin/python"), ["test/e2e/flight/client.py", file]);
    return started(process.execPath, ["test/e2e/flight/client.ts", file]);
  });
  for (const { line } of processes) await line();
  return processes;
}

/** Returns the run's record, sample for sample. */
async function recordOf(run: RunHandle) {
  const { state } = await run.get();
  const groups = await run.groups({ which: 0n });
  const indices = groups.map(({ samples }) => samples.map(({ sampleIndex }) => sampleIndex));
  const once = indices.reduce((sum, each) => sum + new Set(each).size, 0);
  return {
    recorded: Number(state?.samplesRecorded ?? 0),
    once,
    missing: groups.reduce((sum, { missing }) => sum + missing.length, 0),
    twice: indices.reduce((sum, { length }) => sum + length, 0) - once,
    closedGroups: groups.filter(({ closed }) => closed).length,
  };
}

export async function fly(options: FlightOptions): Promise<Flight> {
  const run = options.client.run(options.runId);
  await run.create({
    arms: [{ id: "only", environment: options.environment }],
    policy: { kind: "bandit" },
    numGenerations: options.generations,
    promptsPerUpdate: options.prompts,
    length: options.prompts,
  });
  const { python, typescript } = options.processes;
  const processes = await clientsOf(options, await dealt(run, options, (python + typescript) * options.streams));
  const from = performance.now();
  for (const { child } of processes) child.stdin?.write("go\n");
  await options.underWay?.();
  const told = (await Promise.all(processes.map(({ line }) => line()))).map((line) => JSON.parse(line) as Told);
  const seconds = (performance.now() - from) / 1000;
  const statuses: Record<string, number> = {};
  for (const [status, count] of told.flatMap((each) => Object.entries(each.statuses)))
    statuses[status] = (statuses[status] ?? 0) + count;
  return {
    completions: options.prompts * options.generations,
    seconds,
    failed: told.reduce((sum, { failed }) => sum + failed, 0),
    reasons: [...new Set(told.flatMap(({ reasons }) => reasons))],
    statuses,
    ...(await recordOf(run)),
  };
}
