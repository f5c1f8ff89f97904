/**
 * What a second replica costs: server CPU of a recorded sample, all its threads, with the same trainers on one server and on
 * two, behind the same HAProxy, by turns; of PostgreSQL its own beside it. CPU time, so that a busy machine counts for little.
 *
 *   node bench/replicas/run.ts [--store sqlite] [--pairs 9] [--warming 8] [--samples 8192] [--pause 0] [--no-affinity] [--double] [--apart] [--json]
 *
 * `--apart` gives each server a store of its own, so that neither knows of the other: what two of them then take more than
 * one is what a load costs that is split, and no replica's.
 *
 * With the same trainers each of two servers has half as many calls to take at once as one has, and does less of them
 * together; with `--double` two servers have twice the trainers, for which one adds a second. `idle` is what the second one
 * takes while it has nothing to do, of a core. `--pause` has each trainer wait for so many milliseconds in the mean before it
 * sends its completions, as one that generates them does; without it the servers are as busy as they can be. What is measured
 * in the first pairs, which do not count and in which nobody waits, is what Node compiles.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient } from "../../clients/ts/src/index.ts";
import { type Postgres, startPostgres } from "../../test/support/postgres.ts";
import { type Replicas, startReplicas } from "../../test/support/replicas.ts";
import { adscRun, completionsOf } from "../../test/support/scripted-policy.ts";
import { temporaryFolder } from "../../test/support/server-process.ts";

const { values: options } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    pairs: { type: "string", default: "9" },
    warming: { type: "string", default: "8" },
    samples: { type: "string", default: "8192" },
    pause: { type: "string", default: "0" },
    "no-affinity": { type: "boolean", default: false },
    double: { type: "boolean", default: false },
    apart: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const pauseMs = Number(options.pause);

const RUNS = 8;
const RANKS = 4;
const TASKS = 4;
const GENERATIONS = 8;

/** Of a clock tick of /proc, microseconds. */
const TICK_US = 10_000;

/** CPU time of a process so far with all its threads, microseconds. */
function cpuUs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** Of a database server, with all its processes: those that are gone are counted by the first one. */
function databaseUs(postgres: Postgres | undefined): number {
  if (postgres === undefined) return 0;
  const first = postgres.pid();
  const stat = readFileSync(`/proc/${first}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const gone = (Number(fields[13]) + Number(fields[14])) * TICK_US;
  const children = readdirSync(`/proc/${first}/task`).flatMap((thread) =>
    readFileSync(`/proc/${first}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean),
  );
  return children.reduce((sum, pid) => sum + cpuUs(Number(pid)), cpuUs(first) + gone);
}

/** The same each time, but for the names of its runs. */
async function train(address: string, turn: string, runs: number, samples: number, pauseMs: number): Promise<void> {
  const batches = Math.max(1, Math.round(samples / (runs * RANKS * TASKS * GENERATIONS)));
  const promptsPerUpdate = RANKS * TASKS;
  const one = async (id: string, rank: number): Promise<void> => {
    const client = createClient(address);
    const run = client.run(id);
    for (let batch = 0; batch < batches; batch++) {
      const cursor = BigInt(batch * promptsPerUpdate + rank * TASKS);
      const { tasks } = await run.nextBatch({ cursor, count: TASKS });
      // Between half and one and a half of it, another each time, so that trainers do not move together.
      if (pauseMs > 0) await sleep(pauseMs * (0.5 + ((rank * 7 + batch * 13) % 16) / 16));
      for await (const result of client.streamSteps(tasks.map((task) => completionsOf(task, GENERATIONS))))
        if (result.kind === "failed") throw result.error;
    }
    client.close();
  };
  for (let r = 0; r < runs; r++) {
    const client = createClient(address);
    const id = `${turn}-${r}`;
    await client
      .run(id)
      .create(adscRun({ length: batches * promptsPerUpdate, promptsPerUpdate, numGenerations: GENERATIONS }));
    client.close();
  }
  await Promise.all(Array.from({ length: runs * RANKS }, (_, i) => one(`${turn}-${i % runs}`, Math.floor(i / runs))));
}

interface Figure {
  /** Of a sample, microseconds. */
  readonly serverUs: number;
  readonly databaseUs: number;
  /** Of the server that is not asked, the share of a core; NaN: there is none. */
  readonly idle: number;
}

async function measured(
  replicas: Replicas,
  postgres: Postgres | undefined,
  two: boolean,
  turn: string,
  pauseMs: number,
): Promise<Figure> {
  const more = two && options.double ? 2 : 1;
  const samples = more * Number(options.samples);
  const pids = replicas.all.map(({ server }) => server?.pid ?? 0);
  const look = () => ({ all: pids.map(cpuUs), database: databaseUs(postgres), atUs: 1000 * performance.now() });
  const before = look();
  await train(two ? replicas.address : replicas.alone, turn, more * RUNS, samples, pauseMs);
  const after = look();
  const [first = 0, second = 0] = after.all.map((us, i) => us - (before.all[i] ?? 0));
  return {
    serverUs: (first + (two ? second : 0)) / samples,
    databaseUs: (after.database - before.database) / samples,
    idle: two ? NaN : second / (after.atUs - before.atUs),
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

using folders = new DisposableStack();
const first = folders.use(temporaryFolder()).path;
const second = folders.use(temporaryFolder()).path;
await using postgres = options.store === "postgres" ? await startPostgres({ fsync: "on" }) : undefined;
const keyFile = join(first, "keys-of-both");
writeFileSync(keyFile, `${"5a".repeat(32)}\n`, { mode: 0o600 });
const url = await postgres?.database();
const urls = [url, options.apart ? await postgres?.database() : url];
const flagsOf = (store: string | undefined): readonly string[] => [
  ...["--log-level", "info", "--key-file", keyFile],
  ...(store === undefined ? [] : ["--store", store]),
];
const secondDir = url === undefined && !options.apart ? first : second;
await using replicas = await startReplicas(
  [first, secondDir].map((dataDir, i) => ({ dataDir, flags: flagsOf(urls[i]) })),
  !options["no-affinity"],
);
const pairs: { readonly one: Figure; readonly two: Figure }[] = [];
for (let pair = -Number(options.warming); pair < Number(options.pairs); pair++) {
  const order = pair % 2 === 0 ? [false, true] : [true, false];
  const found = new Map<boolean, Figure>();
  for (const two of order)
    found.set(
      two,
      await measured(replicas, postgres, two, `${two ? "two" : "one"}-${pair + 1}`, pair < 0 ? 0 : pauseMs),
    );
  // The first ones warm up what Node compiles.
  if (pair >= 0) pairs.push({ one: found.get(false)!, two: found.get(true)! });
  if (!options.json)
    console.error(
      `pair ${pair + 1}:`,
      JSON.stringify(Object.fromEntries(found.entries().map(([two, figure]) => [two ? "two" : "one", figure]))),
    );
}
const figures = {
  store: options.store,
  affinity: !options["no-affinity"],
  double: options.double,
  apart: options.apart,
  pauseMs,
  oneUs: median(pairs.map(({ one }) => one.serverUs)),
  twoUs: median(pairs.map(({ two }) => two.serverUs)),
  ratio: median(pairs.map(({ one, two }) => two.serverUs / one.serverUs)),
  idle: median(pairs.map(({ one }) => one.idle)),
  databaseOneUs: median(pairs.map(({ one }) => one.databaseUs)),
  databaseTwoUs: median(pairs.map(({ two }) => two.databaseUs)),
};
if (options.json) console.log(JSON.stringify({ ...figures, pairs }, undefined, 2));
else console.table([figures]);
