/** What callers see of the workers: others are served while all of them are busy. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GradusClient, createClient } from "../../clients/ts/src/index.ts";
import { checkHealth } from "../server/transport/grpc/health-client.ts";
import { right } from "./services/answers.ts";
import { runOf } from "./services/run-of.ts";
import { type Wire, failureOf, openWire } from "./services/wire.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";

const folder = temporaryFolder();
let server: ServerProcess;
let client: GradusClient;
beforeAll(async () => {
  server = await startServer(folder.path, "--workers", "2");
  client = createClient(server.address);
});
afterAll(async () => {
  client.close();
  await server.kill("SIGTERM");
  folder[Symbol.dispose]();
});

/** Jobs of the workers, by what they do: "running" or "waiting". */
async function jobs(of: string): Promise<number> {
  const text = await (await fetch(`${server.httpAddress}/metrics`)).text();
  return Number(new RegExp(`^gradus_worker_jobs_${of} (\\d+)$`, "m").exec(text)?.[1]);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const benchmark = { environment: "np/tsp", level: "benchmark" } as const;

describe("while every worker is busy", () => {
  /** Far more than the workers can do soon. */
  async function flood() {
    const leaving = new AbortController();
    let ended = 0;
    const calls = Array.from({ length: 6 }, (_, i) => {
      const seeds = Array.from({ length: 1000 }, (_, k) => BigInt(1000 * i + k));
      return client.batchReset({ ...benchmark, seeds }, { signal: leaving.signal }).finally(() => ended++);
    });
    const settled = Promise.allSettled(calls);
    await until(async () => (await jobs("running")) === 2 && (await jobs("waiting")) > 0);
    return { ended: () => ended, leave: () => leaving.abort(), settled };
  }

  test("health, scores and runs are answered before the work is done", async () => {
    const task = await client.reset({ environment: "countdown", level: "T0", seed: 1n });
    const rows = { id: "rows", environment: "countdown", level: "T1", source: "real" } as const;
    const run = client.run("rows");
    await run.create({ arms: [rows], policy: { kind: "mixture" }, numGenerations: 2, promptsPerUpdate: 2 });
    const { ended, leave, settled } = await flood();

    const port = Number(server.address.split(":")[1]);
    for (let i = 0; i < 20; i++) expect(await checkHealth(port)).toBe("SERVING");
    expect((await fetch(`${server.httpAddress}/healthz`)).status).toBe(200);
    for (let i = 0; i < 20; i++) expect((await client.step(task, right(task))).result.case).toBe("score");
    // Rows of a pool need no worker.
    expect((await run.nextBatch()).tasks).toHaveLength(2);
    expect((await run.get()).state?.cursor).toBe(2n);
    expect(await jobs("running")).toBe(2);
    expect(ended()).toBe(0);
    leave();
    await settled;
  });

  test("callers that are gone leave the queue to others", async () => {
    const { leave, settled } = await flood();
    const next = client.reset({ environment: "countdown", level: "T0", seed: 2n });
    leave();
    expect((await settled).map(({ status }) => status)).toEqual(new Array(6).fill("rejected"));
    expect((await next).environment).toBe("countdown");
    await until(async () => (await jobs("waiting")) === 0 && (await jobs("running")) === 0);
  });
});

describe("limits", () => {
  /** Six large numbers with one way to the target, of which there are hardly any: each draw is searched in full. */
  const endless = {
    environment: "countdown",
    difficulty: {
      case: "parameters",
      value: { values: { numbers_min: 6, numbers_max: 6, number_min: 190, number_max: 200, solutions_max: 1 } },
    },
  } as const;
  let wire: Wire;
  beforeAll(async () => {
    wire = await openWire({ workerTimeLimitMs: "3000", maxQueue: "1" });
    // A worker that warms up is busy.
    await wire.environments.reset({ spec: { environment: "countdown" } });
  });
  afterAll(() => wire[Symbol.asyncDispose]());

  test("work over its time limit is given up, and what waits behind it is done", async () => {
    const slow = failureOf(wire.environments.reset({ spec: endless }));
    const behind = wire.environments.reset({ spec: { environment: "countdown" }, seed: 1n });
    expect(await slow).toEqual({
      code: "DEADLINE_EXCEEDED",
      message: "making the task took longer than 3000 ms: ask for smaller parameters or raise --worker-time-limit-ms",
    });
    expect((await behind).task?.environment).toBe("countdown");
  });

  test("work that finds no place in the queue is refused, with a time to try again", async () => {
    await runOf(wire, "full");
    const running = failureOf(wire.environments.reset({ spec: endless }));
    const waiting = wire.environments.reset({ spec: { environment: "countdown" }, seed: 1n });
    const refused = await failureOf(wire.environments.reset({ spec: { environment: "countdown" }, seed: 2n }));
    expect(refused.code).toBe("RESOURCE_EXHAUSTED");
    expect(refused.message).toMatch(/^the workers' queue is full: try again in \d+ ms$/);
    expect(refused.retryDelayMs).toBeGreaterThan(0);
    const batch = await failureOf(wire.curriculum.nextBatch({ runId: "full" }));
    expect(batch).toMatchObject({ code: "UNAVAILABLE", message: "the workers' queue is full" });
    expect(batch.retryDelayMs).toBeGreaterThan(0);
    expect((await running).code).toBe("DEADLINE_EXCEEDED");
    expect((await waiting).task).toBeDefined();
    // The run is none the worse.
    expect((await wire.curriculum.nextBatch({ runId: "full", count: 1 })).tasks).toHaveLength(1);
  });
});
