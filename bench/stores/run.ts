/**
 * What many runs in the store cost their neighbours: starting, listing, loading and deleting them, with how late the
 * server's event loop was meanwhile.
 *
 *   node bench/stores/run.ts [--json] [--long 10] [--short 990] [--batches 5000]
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import nodeFlags from "../../cli/node-flags.json" with { type: "json" };
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { machineText } from "../transport/report.ts";
import { makeStore } from "./make.ts";
import type { LoopDelays } from "./server.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    long: { type: "string", default: "10" },
    short: { type: "string", default: "990" },
    batches: { type: "string", default: "5000" },
  },
});

type Curriculum = Client<typeof CurriculumService>;

interface Served {
  readonly startMs: number;
  readonly runs: Curriculum;
  /** How late the event loop was since this was last asked. */
  readonly delays: () => Promise<LoopDelays>;
  readonly stop: () => Promise<void>;
}

function answer<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the server ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as T);
    });
  });
}

async function startServer(folder: string): Promise<Served> {
  const startedMs = performance.now();
  const child = fork(join(import.meta.dirname, "server.ts"), [folder], { execArgv: nodeFlags });
  // Where this script fails, the server goes with it.
  process.once("exit", () => child.kill("SIGKILL"));
  const { grpcPort } = await answer<{ readonly grpcPort: number }>(child);
  const startMs = performance.now() - startedMs;
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${grpcPort}`, readMaxBytes: 64 * 1024 ** 2 });
  return {
    startMs,
    runs: createClient(CurriculumService, transport),
    delays: () => {
      const told = answer<LoopDelays>(child);
      child.send("delays");
      return told;
    },
    stop: () => {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      child.send("stop");
      return ended;
    },
  };
}

interface Figure {
  readonly what: string;
  /** How long calls took; of one call, all are the same. */
  readonly medianMs: number;
  readonly maxMs: number;
  readonly calls: number;
  readonly loop: LoopDelays | undefined;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function figure(what: string, times: readonly number[], loop?: LoopDelays): Figure {
  const sorted = [...times].sort((a, b) => a - b);
  const medianMs = sorted[sorted.length >> 1] ?? NaN;
  return { what, medianMs, maxMs: sorted.at(-1) ?? NaN, calls: times.length, loop };
}

/** All pages from the first to the last. */
async function listAll({ runs, delays }: Served, pageSize: number): Promise<Figure> {
  const times: number[] = [];
  let [pageToken, listed] = ["", 0];
  await delays();
  do {
    times.push(
      await timed(async () => {
        const page = await runs.listRuns({ pageSize, pageToken });
        pageToken = page.nextPageToken;
        listed += page.runs.length;
      }),
    );
  } while (pageToken !== "");
  return figure(`ListRuns, ${listed} runs in pages of ${pageSize}`, times, await delays());
}

/** Asks for a short run all the time, until `done`. */
async function neighbour(runs: Curriculum, done: () => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  for (; !done(); await sleep(1)) times.push(await timed(() => runs.getRun({ runId: "short-1" })));
  return times;
}

async function deleteLong({ runs, delays }: Served, folder: string): Promise<readonly Figure[]> {
  const db = new DatabaseSync(join(folder, "runs.sqlite"), { timeout: 5000 });
  const left = db.prepare("SELECT COUNT(*) AS runs FROM removals");
  await runs.getRun({ runId: "short-1" });
  await delays();
  let over = false;
  const beside = neighbour(runs, () => over);
  const startedMs = performance.now();
  let call: number;
  try {
    call = await timed(() => runs.deleteRun({ runId: "long-0" }));
    while ((left.get() as { runs: number }).runs > 0) await sleep(5);
  } finally {
    over = true;
  }
  const wholeMs = performance.now() - startedMs;
  const times = await beside;
  const loop = await delays();
  db.close();
  return [
    figure("DeleteRun of a long run", [call], loop),
    figure("until nothing is left of it", [wholeMs]),
    figure("GetRun of a short one beside it", times),
  ];
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const empty = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const figures: Figure[] = [];
try {
  const size = { longRuns: Number(options.long), shortRuns: Number(options.short), batches: Number(options.batches) };
  await makeStore(folder, size);
  const without = await startServer(empty);
  await without.stop();
  const server = await startServer(folder);
  figures.push(figure("start, without a run", [without.startMs]), figure("start", [server.startMs]));
  await server.runs.getRun({ runId: "short-0" });
  // The first time with code that is not compiled yet.
  for (const pageSize of [100, 100, 1000]) figures.push(await listAll(server, pageSize));
  await server.delays();
  const load = await timed(() => server.runs.getRun({ runId: "long-1" }));
  figures.push(figure("GetRun of a long run that is not loaded", [load], await server.delays()));
  figures.push(...(await deleteLong(server, folder)));
  await server.stop();
} finally {
  rmSync(empty, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

const rounded = (ms: number | undefined): number | string => (ms === undefined ? "" : Number(ms.toFixed(1)));
if (options.json) console.log(JSON.stringify({ machine: machineText(cpus(), process.version), figures }, undefined, 2));
else {
  console.table(
    figures.map(({ what, medianMs, maxMs, calls, loop }) => ({
      what,
      calls,
      "median ms": rounded(medianMs),
      "max ms": rounded(maxMs),
      "loop p99 ms": rounded(loop?.p99Ms),
      "loop max ms": rounded(loop?.maxMs),
    })),
  );
}
