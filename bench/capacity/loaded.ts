/**
 * The memory of a server that trainers keep busy, for sizing and for the bar of docs/guides/capacity.md: after ten minutes at
 * 70% of a core with 20 runs it has at most 2.5 times the memory of an idle server.
 *
 * ```
 * node bench/capacity/loaded.ts [--minutes 10] [--runs 20] [--load 0.7] [--characters 4096] [--groups 64] [--json]
 *     [-- FLAGS OF THE SERVER]
 * ```
 *
 * Each run draws update batches of 64 countdown tasks and sends 16 completions of each, so many groups in one BatchStep. The
 * pace of all runs follows the processor time of all threads of the server, or the time that its event loop is busy where that
 * is more: on a machine with other work a busy event loop gets less than a core. Ends with 1 if the memory of the last minute
 * is above the bar.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "../../clients/ts/src/index.ts";
import { createProgress } from "../progress.ts";
import { startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";

const { values: options, positionals: serverFlags } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    runs: { type: "string", default: "20" },
    load: { type: "string", default: "0.7" },
    characters: { type: "string", default: "4096" },
    groups: { type: "string", default: "64" },
    json: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
const [minutes, runs, load] = [Number(options.minutes), Number(options.runs), Number(options.load)];
const groupsAtOnce = Number(options.groups);

const [PROMPTS, COMPLETIONS] = [64, 16];
const RATIO_MAX = 2.5;
/** Time until the idle server is measured: its workers have then loaded what they need. */
const IDLE_MS = 5000;
const DEADLINE_MS = 60_000;

const thoughts = "we try the nearest first and then exchange two of them. "
  .repeat(4096)
  .slice(0, Number(options.characters));
const completions = Array.from({ length: COMPLETIONS }, (_, i) =>
  i % 2 === 0
    ? `<think>${i} ${thoughts}</think><answer>1 + 2</answer>`
    : `<think>${i} ${thoughts}</think>I do not know.`,
);

interface Minute {
  readonly rssMiB: number;
  /**
   * Shares in the last minute: of a core that all the server's threads used, and of the time that its event loop was
   * busy.
   */
  readonly cpu: number;
  readonly busy: number;
  readonly samplesPerSecond: number;
  readonly nextBatchP50Ms: number;
  readonly nextBatchP99Ms: number;
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const server = await startOurs(folder, process.execArgv, serverFlags);
const pace = { everyMs: runs * 100, isOver: false };
let seen = { samples: 0, nextBatchMs: [] as number[] };

async function train(index: number): Promise<void> {
  const client = createClient(`127.0.0.1:${server.port}`, { onFeedback: "ignore" });
  const run = client.run(`loaded-${index}`);
  await run.create({
    arms: ["T0", "T1", "T2", "T3"].map((level) => ({ id: level, environment: "countdown", level })),
    policy: { kind: "bandit" },
    numGenerations: COMPLETIONS,
    promptsPerUpdate: PROMPTS,
  });
  await sleep((pace.everyMs * index) / runs);
  while (!pace.isOver) {
    const startMs = performance.now();
    const { tasks } = await run.nextBatch({ count: PROMPTS }, { deadlineMs: DEADLINE_MS });
    seen.nextBatchMs.push(performance.now() - startMs);
    const groups = tasks.map((task) => ({ task, completions }));
    for (let from = 0; from < groups.length; from += groupsAtOnce)
      await client.batchStep(groups.slice(from, from + groupsAtOnce), { deadlineMs: DEADLINE_MS });
    seen.samples += tasks.length * COMPLETIONS;
    await sleep(Math.max(0, startMs + pace.everyMs - performance.now()));
  }
  client.close();
}

/**
 * Returns the server's processor seconds so far, and its event loop's busy seconds, which are more if other processes
 * use the cores.
 */
async function usedSeconds(): Promise<readonly [cpu: number, busy: number]> {
  const metrics = await (await fetch(`http://127.0.0.1:${server.httpPort}/metrics`)).text();
  return [server.cpuSeconds(), Number(/^gradus_event_loop_busy_seconds_total (\S+)$/m.exec(metrics)?.[1])];
}

/** Sets the pace once a second by the server's use of a core, and returns a record of each minute. */
async function watch(): Promise<readonly Minute[]> {
  const rows: Minute[] = [];
  const progress = createProgress("minutes", minutes);
  for (let minute = 0; minute < minutes; minute++) {
    const [fromMs, from] = [performance.now(), await usedSeconds()];
    let [lastMs, last, rssMiB] = [fromMs, from, 0];
    seen = { samples: 0, nextBatchMs: [] };
    while (performance.now() < fromMs + 60_000) {
      await sleep(1000);
      const [nowMs, now] = [performance.now(), await usedSeconds()];
      const used = (1000 * Math.max(now[0] - last[0], now[1] - last[1])) / (nowMs - lastMs);
      [lastMs, last] = [nowMs, now];
      pace.everyMs *= Math.min(1.2, Math.max(0.8, (used / load) ** 0.3));
      rssMiB = Math.max(rssMiB, server.rssBytes() / 2 ** 20);
    }
    const seconds = (performance.now() - fromMs) / 1000;
    const [cpu, busy] = await usedSeconds();
    const sorted = seen.nextBatchMs.sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(share * sorted.length)] ?? NaN;
    rows.push({
      rssMiB: Math.round(rssMiB),
      cpu: (cpu - from[0]) / seconds,
      busy: (busy - from[1]) / seconds,
      samplesPerSecond: Math.round(seen.samples / seconds),
      nextBatchP50Ms: at(0.5),
      nextBatchP99Ms: at(0.99),
    });
    if (!options.json) console.error(JSON.stringify(rows.at(-1)));
    progress.step();
  }
  progress.stop();
  pace.isOver = true;
  return rows;
}

try {
  await sleep(IDLE_MS);
  const idleMiB = Math.round(server.rssBytes() / 2 ** 20);
  const [rows] = await Promise.all([watch(), ...Array.from({ length: runs }, (_, i) => train(i))]);
  const ratio = (rows.at(-1)?.rssMiB ?? NaN) / idleMiB;
  const machine = machineText(cpus(), process.version);
  if (options.json) console.log(JSON.stringify({ machine, idleMiB, ratio, rows }, undefined, 2));
  else {
    console.log(`${machine}\n`);
    console.table(rows);
    console.log(`idle: ${idleMiB} MiB; the last minute: ${ratio.toFixed(2)} times that`);
  }
  if (!(ratio <= RATIO_MAX)) process.exitCode = 1;
} finally {
  pace.isOver = true;
  await server.stop();
  rmSync(folder, { recursive: true });
}
