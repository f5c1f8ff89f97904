/**
 * What a PostgreSQL store costs, beside SQLite's.
 *
 *   node bench/stores/postgres.ts [samples] [writers] [start] [--repetitions 9] [--samples 1000000] [--json]
 *
 * samples: CPU of the server a sample that is recorded, both servers by turns, and of PostgreSQL's processes, from /proc.
 * writers: 16 processes' stores that write to one run, each as fast as it can: how long a commit takes, and who gets how many.
 * start: a run of so many samples is loaded by servers that have just started, and what that takes of their memory.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { FeedbackStatus } from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task } from "../../proto/gen/gradus/v1/task_pb.js";
import { openPostgres } from "../../server/stores/postgres/postgres.ts";
import type { Store, Turn } from "../../server/stores/store.ts";
import { loadKeyring, signingKey } from "../../server/tasks/keyring.ts";
import { type Postgres, startPostgres } from "../../test/support/postgres.ts";
import { spreadOf } from "../transport/measure.ts";
import { type ServerProcess, startOurs } from "../transport/processes.ts";
import { BATCH_SAMPLES, trainRuns } from "./make.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    repetitions: { type: "string", default: "9" },
    samples: { type: "string", default: "1000000" },
    json: { type: "boolean", default: false },
  },
});
const wanted = positionals.length > 0 ? positionals : ["samples", "writers", "start"];
const repetitions = Number(options.repetitions);

/** Seconds of CPU of PostgreSQL's processes, those that have ended included. */
function databaseSeconds(postgres: Postgres): number {
  const main = postgres.pid();
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const ticks = processes.map((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      const isMain = Number(name) === main;
      if (!isMain && Number(fields[1]) !== main) return 0;
      // utime and stime; of the main process also those of children that it has waited for.
      return fields.slice(11, isMain ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
    } catch {
      return 0;
    }
  });
  return ticks.reduce((sum, each) => sum + each, 0) / 100;
}

/** The median, and the middle half. */
function told(values: readonly number[]): string {
  const { median, lowerQuartile, upperQuartile } = spreadOf(values);
  return `${median.toPrecision(3)} (${lowerQuartile.toPrecision(3)} – ${upperQuartile.toPrecision(3)})`;
}

// Samples.

interface Services {
  readonly server: ServerProcess;
  readonly environments: Client<typeof EnvironmentService>;
  readonly curriculum: Client<typeof CurriculumService>;
}

const PROMPTS = 256;
const COMPLETIONS = 16;
const BATCHES = 2;
/** Requests of a batch on their way at once. */
const WINDOW = 64;
const WARM_UP = 4;

function servicesOf(server: ServerProcess): Services {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` });
  return {
    server,
    environments: createClient(EnvironmentService, transport),
    curriculum: createClient(CurriculumService, transport),
  };
}

let completions = 0;

async function tasksOf({ curriculum }: Services, runId: string): Promise<readonly Task[]> {
  const arms = [
    { id: "only", spec: { environment: "countdown", difficulty: { case: "level", value: "T1" } as const } },
  ];
  const policy = { kind: { case: "mixture", value: {} } } as const;
  const sizes = { numGenerations: COMPLETIONS, promptsPerUpdate: PROMPTS, length: BigInt(PROMPTS * BATCHES) };
  await curriculum.createRun({
    runId,
    config: { arms, policy, lag: { case: "feedbackLag", value: BATCHES }, ...sizes },
  });
  const tasks: Task[] = [];
  for (let batch = 0; batch < BATCHES; batch++)
    tasks.push(...(await curriculum.nextBatch({ runId, cursor: BigInt(batch * PROMPTS) })).tasks);
  return tasks;
}

async function record({ environments }: Services, tasks: readonly Task[]): Promise<void> {
  const messages = tasks.map(({ taskId, groupId }) => ({
    groups: [
      {
        taskId,
        groupId,
        numGenerations: COMPLETIONS,
        completions: Array.from({ length: COMPLETIONS }, (_, sampleIndex) => {
          const text = `<think>try ${completions++}</think><answer>${sampleIndex} + 1</answer>`;
          return { sampleIndex, text };
        }),
      },
    ],
  }));
  let next = 0;
  async function* requests() {
    for (let id = next; id < messages.length; id = next) {
      next++;
      yield { requestId: String(id), ...messages[id] };
    }
  }
  let recorded = 0;
  await Promise.all(
    Array.from({ length: Math.ceil(WINDOW / 64) }, async () => {
      for await (const reply of environments.streamSteps(requests())) {
        for (const group of reply.groups)
          recorded += group.outcomes.filter(({ feedback }) => feedback?.status === FeedbackStatus.RECORDED).length;
      }
    }),
  );
  if (recorded !== tasks.length * COMPLETIONS)
    throw new Error(`${recorded} samples were recorded, of ${tasks.length * COMPLETIONS}`);
}

async function measureSamples(postgres: Postgres) {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "gradus-bench-")));
  const [onSqlite, onPostgres] = [
    await startOurs(folders[0] ?? ""),
    await startOurs(folders[1] ?? "", [], ["--store", postgres.url]),
  ].map(servicesOf) as [Services, Services];
  const cost = async (services: Services, name: string) => {
    const tasks = await tasksOf(services, name);
    await sleep(300);
    const [server, database] = [services.server.cpuSeconds(), databaseSeconds(postgres)];
    await record(services, tasks);
    // What the store still does for them.
    await sleep(300);
    const samples = tasks.length * COMPLETIONS;
    return {
      server: ((services.server.cpuSeconds() - server) * 1e6) / samples,
      database: ((databaseSeconds(postgres) - database) * 1e6) / samples,
    };
  };
  const pairs: { readonly sqlite: number; readonly postgres: number; readonly database: number }[] = [];
  for (let i = 0; i < WARM_UP + repetitions; i++) {
    const [sqlite, pg] =
      i % 2 === 0
        ? [await cost(onSqlite, `run-${i}`), await cost(onPostgres, `run-${i}`)]
        : [await cost(onPostgres, `run-${i}`), await cost(onSqlite, `run-${i}`)].toReversed();
    if (i >= WARM_UP && sqlite && pg) pairs.push({ sqlite: sqlite.server, postgres: pg.server, database: pg.database });
  }
  await Promise.all([onSqlite.server.stop(), onPostgres.server.stop()]);
  for (const folder of folders) rmSync(folder, { recursive: true });
  const of = (value: (pair: (typeof pairs)[number]) => number): string => told(pairs.map(value));
  return {
    "server on SQLite, µs a sample": of(({ sqlite }) => sqlite),
    "server on PostgreSQL, µs a sample": of(({ postgres: each }) => each),
    "the one over the other": of(({ sqlite, postgres: each }) => each / sqlite),
    "PostgreSQL's own, µs a sample": of(({ database }) => database),
  };
}

// Writers.

const WRITERS = 16;
const WRITING_MS = 10_000;
const keys = [signingKey(Buffer.alloc(32, 7))] as const;
const body = new Uint8Array(220);

async function measureWriters(postgres: Postgres) {
  const url = await postgres.database();
  const opened = [];
  for (let i = 0; i < WRITERS; i++) opened.push(await openPostgres({ url, keys }));
  const stores = opened.map(({ store }) => store);
  await stores[0]?.create({ id: "run", timeToLiveMs: 3_600_000, events: [body], records: [], summary: { state: "" } });
  const key = (await stores[0]?.find("run"))?.key ?? -1;
  const latencies: number[] = [];
  const [before, database] = [process.cpuUsage(), databaseSeconds(postgres)];
  const endMs = performance.now() + WRITING_MS;
  const counts = await Promise.all(
    stores.map(async (store) => {
      let [version, count] = [1, 0];
      const writer = writerOf(store, key);
      while (performance.now() < endMs) {
        const startMs = performance.now();
        version = await writer(version);
        latencies.push(performance.now() - startMs);
        count++;
      }
      return count;
    }),
  );
  const { user, system } = process.cpuUsage(before);
  const databaseMs = (databaseSeconds(postgres) - database) * 1000;
  await Promise.all(opened.map((each) => each.close()));
  const sorted = latencies.sort((a, b) => a - b);
  const mean = latencies.length / WRITERS;
  return {
    "commits a second": Math.round((latencies.length / WRITING_MS) * 1000),
    "p50, ms": Math.round(sorted[Math.floor(sorted.length * 0.5)] ?? NaN),
    "p99, ms": Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? NaN),
    "longest, ms": Math.round(sorted.at(-1) ?? NaN),
    "fewest over the mean": Number((Math.min(...counts) / mean).toPrecision(2)),
    "CPU of a commit, ms": Number(((user + system) / 1000 / latencies.length).toPrecision(2)),
    "PostgreSQL's own, ms": Number((databaseMs / latencies.length).toPrecision(2)),
  };
}

/** As a run commits (live-run.ts): at the version that it knows, and after a conflict in turns; gives the version after it. */
function writerOf(store: Store, key: number): (known: number) => Promise<number> {
  let isContended = false;
  return async (known) => {
    let version = known;
    for (;;) {
      const turn: Turn | undefined = isContended ? await store.turn?.(key) : undefined;
      if (turn !== undefined) {
        const others = (await store.read(key, version))?.length ?? 0;
        isContended = others > 0;
        version += others;
      }
      const append = { expectedVersion: version, events: [body], records: [] };
      const outcome = await (turn === undefined ? store.append(key, append) : turn.append(append));
      if (outcome === "appended") return version + 1;
      isContended = true;
    }
  };
}

// Start.

async function measureStart(postgres: Postgres) {
  const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
  const url = await postgres.database();
  const keyring = loadKeyring({ keyFile: undefined, dataDir: folder });
  if (keyring.kind === "invalid") throw new Error(keyring.message);
  const stores = await openPostgres({ url, keys: keyring.keyring });
  const { store } = stores;
  const batches = Math.ceil(Number(options.samples) / BATCH_SAMPLES);
  const memory: number[] = [];
  for (const part of [1, 2]) {
    // The same run twice as long.
    if (part === 2) await store.remove((await store.find("long"))?.key ?? -1);
    await trainRuns(store, [["long", Math.ceil((batches * part) / 2)]]);
    globalThis.gc?.();
    memory.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  const version = (await store.find("long"))?.version;
  await stores.close();
  const starts: { readonly ms: number; readonly cpuMs: number; readonly bytes: number }[] = [];
  for (let start = 0; start < repetitions; start++) {
    const server = await startOurs(folder, [], ["--store", url]);
    const [rss, cpu] = [server.rssBytes(), server.cpuSeconds()];
    const startMs = performance.now();
    await servicesOf(server).curriculum.getRun({ runId: "long" });
    const ms = performance.now() - startMs;
    starts.push({ ms, cpuMs: (server.cpuSeconds() - cpu) * 1000, bytes: server.rssBytes() - rss });
    await server.stop();
  }
  rmSync(folder, { recursive: true });
  return {
    samples: batches * BATCH_SAMPLES,
    events: version,
    "loading it, ms": told(starts.map(({ ms }) => ms)),
    "CPU of that, ms": told(starts.map(({ cpuMs }) => cpuMs)),
    "memory of that, MiB": told(starts.map(({ bytes }) => bytes / 2 ** 20)),
    "heap after half as many and after all, MiB": memory.map(Math.round).join(", "),
  };
}

const measures = {
  samples: { measure: measureSamples, fsync: "on" },
  writers: { measure: measureWriters, fsync: "on" },
  // Only what is read counts, and a million samples are there in minutes.
  start: { measure: measureStart, fsync: "off" },
};
for (const [name, { measure, fsync }] of Object.entries(measures)) {
  if (!wanted.includes(name)) continue;
  await using postgres = await startPostgres({ fsync, shared_buffers: "256MB" });
  const result = await measure(postgres);
  if (options.json) console.log(JSON.stringify({ [name]: result }));
  else console.table(result);
}
