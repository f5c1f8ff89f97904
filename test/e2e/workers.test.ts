/** Tests that callers are served while all workers are busy. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GradusClient, createClient } from "../../clients/ts/src/index.ts";
import { checkHealth } from "../server/transport/grpc/health-client.ts";
import { right } from "./services/answers.ts";
import { configOf } from "./services/run-of.ts";
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

/** Number of the workers' jobs by state: "running" or "waiting". */
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
    for (let i = 0; i < 20; i++) expect((await client.step(task, right(task))).kind).toBe("scored");
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
  const endless = {
    environment: "test/endless",
    difficulty: { case: "parameters", value: { values: { max: 1e6 } } },
  } as const;
  /** Six numbers with exactly one solution are rare, so the generator searches each draw in full. */
  const barren = {
    environment: "countdown",
    difficulty: {
      case: "parameters",
      value: { values: { numbers_min: 6, numbers_max: 6, number_min: 190, number_max: 200, solutions_max: 1 } },
    },
  } as const;
  const environments = [new URL("../support/environments/endless.ts", import.meta.url).pathname];
  let wire: Wire;
  beforeAll(async () => {
    wire = await openWire({ workerTimeLimitMs: "300", maxQueue: "8", environmentFile: environments });
  });
  afterAll(() => wire[Symbol.asyncDispose]());

  test("a task over its time limit is given up, and what waits behind it is made", async () => {
    const slow = failureOf(wire.environments.reset({ spec: endless }));
    const behind = wire.environments.reset({ spec: { environment: "countdown" }, seed: 1n });
    expect(await slow).toEqual({
      code: "DEADLINE_EXCEEDED",
      message: "making the task took longer than 300 ms: ask for smaller parameters or raise --worker-time-limit-ms",
    });
    expect((await behind).task?.environment).toBe("countdown");
  });

  test("of a batch, only the tasks that take too long fail", async () => {
    const { results } = await wire.environments.batchReset({ spec: endless, seeds: [1n, 2n] });
    expect(results.map(({ result }) => result.case === "failure" && result.value.code)).toEqual([4, 4]);
  });

  test("work that finds no place in the queue is refused, with a time to try again", async () => {
    const first = wire.environments.batchReset({ spec: endless, seeds: [1n, 2n, 3n, 4n] });
    const { results } = await wire.environments.batchReset({ spec: endless, seeds: [5n, 6n, 7n] });
    const refused = results.flatMap(({ result }) => (result.case === "failure" ? [result.value] : []));
    const { code, message, retryDelayMs } = refused.find((each) => each.code === 8) ?? { code: 0, message: "" };
    expect(code).toBe(8);
    expect(message).toBe(
      `too many tasks are waiting to be made: try again in ${retryDelayMs} ms, or request fewer at once`,
    );
    expect(retryDelayMs).toBeGreaterThan(0);
    await first;
  });

  test("a run is not created where an arm gives no tasks, and is told which and why", async () => {
    await using wire = await openWire();
    const arms = [
      { id: "sound", spec: { environment: "countdown" } },
      { id: "barren", spec: barren },
    ];
    const config = configOf({ arms });
    const failure = await failureOf(wire.curriculum.createRun({ runId: "barren", config }));
    expect(failure).toMatchObject({ code: "INVALID_ARGUMENT", field: "config.arms[1].spec" });
    expect(failure.message).toMatch(
      /^config\.arms\[1\]\.spec: none of 3 seeds gave a task: countdown with numbers_min 6, .* none of \d+ attempts .* widen the ranges/,
    );
    expect((await failureOf(wire.curriculum.getRun({ runId: "barren" }))).code).toBe("NOT_FOUND");
  });
});
