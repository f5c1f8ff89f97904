/**
 * What calls cost that wait for a run which two servers share over PostgreSQL, and how soon they hear of a change.
 *
 *   node bench/stores/waiters.ts [--waiters 100] [--seconds 10] [--repetitions 9] [--json]
 *
 * Transactions a second by pg_stat_database, with nobody waiting and with that many NextBatch calls on one run. Then the time
 * from the answer of the call that ends their wait until the first and the last of them are answered, where that call went to
 * the same server and where it went to the other.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import pg from "pg";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { startPostgres } from "../../test/support/postgres.ts";
import { spreadOf } from "../transport/measure.ts";
import { startOurs } from "../transport/processes.ts";

const { values: options } = parseArgs({
  options: {
    waiters: { type: "string", default: "100" },
    seconds: { type: "string", default: "10" },
    repetitions: { type: "string", default: "9" },
    json: { type: "boolean", default: false },
  },
});
const waiters = Number(options.waiters);
const seconds = Number(options.seconds);
const repetitions = Number(options.repetitions);
const runId = "run";
/** A server takes this many calls of a connection at a time. */
const CALLS_PER_CONNECTION = 100;

type Curriculum = Client<typeof CurriculumService>;

const connect = (port: number): Curriculum =>
  createClient(CurriculumService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));

await using after = new AsyncDisposableStack();
const postgres = after.use(await startPostgres({ fsync: "on" }));
const folder = mkdtempSync(join(tmpdir(), "gradus-waiters-"));
after.defer(() => rmSync(folder, { recursive: true, force: true }));
const url = await postgres.database();
const stored = ["--store", url];
const here = await startOurs(folder, [], stored);
const beside = mkdtempSync(join(folder, "other-"));
const other = await startOurs(beside, [], [...stored, "--key-file", join(folder, "task-keys")]);
after.defer(async () => void (await Promise.all([here.stop(), other.stop()])));
const [curriculum, elsewhere] = [connect(here.port), connect(other.port)];
const connections = Array.from({ length: Math.ceil(waiters / CALLS_PER_CONNECTION) }, () => connect(here.port));

async function createRun(): Promise<void> {
  const arms = [
    { id: "only", spec: { environment: "countdown", difficulty: { case: "level", value: "T1" } as const } },
  ];
  const policy = { kind: { case: "bandit", value: {} } } as const;
  await curriculum.createRun({
    runId,
    config: { arms, policy, numGenerations: 2, promptsPerUpdate: 1, lag: { case: "feedbackLag", value: 0 } },
  });
}

/** All wait for the task at a cursor; when each of them was answered. */
async function wait(cursor: bigint): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: waiters }, async (_, i) => {
      const from = connections[Math.floor(i / CALLS_PER_CONNECTION)] ?? curriculum;
      await from.nextBatch({ runId, cursor, count: 1, wait: { seconds: 60n } });
      return performance.now();
    }),
  );
}

const statistics = new pg.Client(url);
await statistics.connect();
after.defer(() => statistics.end());

/** Transactions a second, this session's left out. */
async function transactionsPerSecond(): Promise<number> {
  const count = async (): Promise<number> => {
    // What a session has done is counted there a second later at the latest, or when it asks for that.
    await sleep(1500);
    const { rows } = await statistics.query<{ readonly n: string }>(
      "SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()",
    );
    return Number(rows[0]?.n);
  };
  const [before, startMs] = [await count(), performance.now()];
  await sleep(seconds * 1000);
  const after = await count();
  return (after - before - 1) / ((performance.now() - startMs) / 1000);
}

await createRun();
const idle = await transactionsPerSecond();
let { groupId } = (await curriculum.nextBatch({ runId, cursor: 0n, count: 1 })).tasks[0] ?? {};
let cursor = 1n;

/** Ends the wait of all, by the group's end; how soon the first and the last hear of it. */
async function wake(by: Curriculum, duringWait: () => Promise<void>): Promise<readonly [number, number]> {
  const waiting = wait(cursor);
  await duringWait();
  await by.closeGroups({ runId, groupIds: [groupId ?? ""] });
  const closedMs = performance.now();
  const answered = await waiting;
  ({ groupId } = (await curriculum.nextBatch({ runId, cursor, count: 1 })).tasks[0] ?? {});
  cursor++;
  return [Math.min(...answered) - closedMs, Math.max(...answered) - closedMs];
}

let waited = NaN;
await wake(curriculum, async () => {
  waited = await transactionsPerSecond();
});
const measureWakes = async (by: Curriculum) => {
  const found: (readonly [number, number])[] = [];
  // At another moment of what they do meanwhile each time.
  for (let i = 0; i < repetitions; i++) found.push(await wake(by, () => sleep(1000 + (i * 250) / repetitions)));
  return [0, 1].map((which) => {
    const { lowerQuartile, median, upperQuartile } = spreadOf(found.map((pair) => pair[which] ?? NaN));
    return [median, lowerQuartile, upperQuartile].map((value) => Number(value.toPrecision(3)));
  });
};
const [near, far] = [await measureWakes(curriculum), await measureWakes(elsewhere)];
const result = {
  waiters,
  "transactions a second, nobody waits": Number(idle.toPrecision(3)),
  "transactions a second, all wait": Number(waited.toPrecision(3)),
  "first answer after a change here, ms": near[0],
  "last answer after a change here, ms": near[1],
  "first answer after a change at the other, ms": far[0],
  "last answer after a change at the other, ms": far[1],
};
console.log(options.json ? JSON.stringify(result) : result);
