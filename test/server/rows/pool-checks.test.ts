/** Tests of rows whose check asks a sandbox or a judge when their pool is loaded. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PortContext } from "../../../envs/resource.ts";
import { type Pool, rowOf } from "../../../envs/pool.ts";
import type { Ports, Sandbox } from "../../../envs/ports.ts";
import { createRegistry } from "../../../envs/registry.ts";
import { loadPools } from "../../../server/rows/pools.ts";
import { reportOf } from "../../../server/rows/report.ts";
import { type Check, checked, SANDBOX_DOWN } from "../../support/environments/checked.ts";

/** The environment requires only that the sandbox exists. */
const sandbox: Sandbox = { ask: () => Promise.reject(new Error("nobody asks it")) };

const ROWS = 40;
let folder: string;
let path: string;
/** Number of times that the ports were opened. */
let opened = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gradus-checks-"));
  path = join(folder, "claims.jsonl");
  // One row in four is wrong.
  const rows = Array.from({ length: ROWS }, (_, a) => ({ a, b: 1, sum: a % 4 === 0 ? 0 : a + 1, solution: "x" }));
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function load(check: Check, ports: Ports = { sandbox }): Promise<{ pool: Pool; failure: string | undefined }> {
  const openPorts = async () => {
    opened++;
    return { ports, missing: {} };
  };
  const options = { threads: 1, environmentFiles: [], folder: join(folder, "pools"), openPorts };
  const result = await loadPools(createRegistry([checked(check)]), [{ name: "claims", path }], options);
  if (result.kind === "invalid") throw new Error(result.message);
  return { pool: result.pools.get("claims") as Pool, failure: result.failures.get("claims") };
}

const right: Check = async ({ a, b, sum }) => (a + b === sum ? undefined : `its sum is ${a + b}, and it says ${sum}`);

const rowsOf = (pool: Pool): readonly number[] => Array.from({ length: pool.size }, (_, i) => rowOf(pool, i).index);
const wrong = Array.from({ length: ROWS / 4 }, (_, i) => 4 * i);
const good = Array.from({ length: ROWS }, (_, i) => i).filter((row) => row % 4 !== 0);

test("a row that fails is rejected, and none is asked about twice", async () => {
  let asked = 0;
  const counting: Check = (claim, context) => {
    asked++;
    return right(claim, context);
  };
  const { pool, failure } = await load(counting);
  expect([rowsOf(pool), asked, failure]).toEqual([good, ROWS, undefined]);
  expect(reportOf(pool)).toMatchObject({
    rows: good.length,
    rejected: wrong.length,
    unchecked: 0,
    rejections: [{ rows: wrong.length, first: "line 1", reason: "its sum is 1, and it says 0" }],
  });
  opened = 0;
  const again = await load(counting);
  // The checks are cached, so a second start need not wait for a sandbox.
  expect([rowsOf(again.pool), asked, opened]).toEqual([good, ROWS, 0]);
  expect(reportOf(again.pool)).toEqual(reportOf(pool));
});

test("a few are asked about at once, each with a deadline", async () => {
  let [running, most] = [0, 0];
  const contexts: PortContext[] = [];
  await load(async (claim, context) => {
    contexts.push(context);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return right(claim, context);
  });
  expect(most).toBe(4);
  expect(
    contexts.every(({ ports, signal, deadlineMs }) => ports.sandbox === sandbox && !signal.aborted && deadlineMs > 0),
  ).toBe(true);
});

test("rows stay, and count as unchecked, where the port is not there", async () => {
  const { pool, failure } = await load(right, {});
  expect([pool.size, pool.rejected, pool.unchecked, failure]).toEqual([ROWS, 0, ROWS, "there is no sandbox"]);
  // No check was answered, so nothing is cached.
  expect(readdirSync(folder)).toEqual(["claims.jsonl"]);
  expect((await load(right)).pool.unchecked).toBe(0);
});

test("a failure is no rejection: the row stays unchecked, and is asked about by the next start alone", async () => {
  const asked: number[] = [];
  const flaky: Check = async (claim, context) => {
    asked.push(claim.a);
    if (claim.a === 5) return SANDBOX_DOWN;
    if (claim.a === 6) throw new Error("a bug");
    return right(claim, context);
  };
  const { pool, failure } = await load(flaky);
  expect([rowsOf(pool), pool.unchecked, failure]).toEqual([good, 2, "resource_unavailable: sandbox: no answer"]);
  asked.length = 0;
  const again = await load(async (claim, context) => {
    asked.push(claim.a);
    return claim.a === 5 ? "it is wrong after all" : right(claim, context);
  });
  expect(asked).toEqual([5, 6]);
  expect([rowsOf(again.pool), again.pool.unchecked]).toEqual([good.filter((row) => row !== 5), 0]);
});

test("one failure is tried again where that may help", async () => {
  const tried = new Set<number>();
  const { pool } = await load(async (claim, context) => {
    if (claim.a < 3 && !tried.has(claim.a)) {
      tried.add(claim.a);
      return { ...SANDBOX_DOWN, retryable: true, retryDelayMs: 1 };
    }
    return right(claim, context);
  });
  expect([rowsOf(pool), pool.unchecked]).toEqual([good, 0]);
});

test("a sandbox that is down is asked a few times, not for every row", async () => {
  let asked = 0;
  const { pool } = await load(async () => {
    asked++;
    return SANDBOX_DOWN;
  });
  expect([pool.size, pool.unchecked]).toEqual([ROWS, ROWS]);
  expect(asked).toBeLessThan(ROWS / 2);
});
