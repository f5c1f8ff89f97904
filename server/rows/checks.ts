/**
 * Checks each row of a pool by a resource (e.g. the sandbox) when the pool is loaded: for example, whether a solution
 * passes its own tests. Results are stored, so each row is checked once. If the resource is unavailable, rows stay in
 * the pool unchecked until the next start.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Environment } from "../../envs/environment.ts";
import type { PortContext } from "../../envs/resource.ts";
import { type Failed, reasonWords } from "../../envs/facts.ts";
import { type Pool, poolOf, rowOf } from "../../envs/pool.ts";
import { type FinishedPool, removeRows } from "../../envs/pool-finish.ts";
import type { Ports } from "../../envs/ports.ts";
import type { OpenedPorts } from "../outside/open-ports.ts";
import { readKept, writeKept } from "./cache.ts";

/**
 * Opens the resources that check rows. Called only if a row must be checked, because starting a sandbox takes seconds.
 */
export type OpenPorts = () => Promise<Pick<OpenedPorts, "ports" | "missing">>;

export interface Checking {
  readonly environment: Environment;
  readonly openPorts: OpenPorts;
  readonly onProgress: (done: number, total: number) => void;
  /** File that stores the results. Undefined: they are not stored. */
  readonly kept: string | undefined;
}

/** Stored results of checking a pool's rows. */
interface KeptChecks {
  /** Reason for each rejected row, by the row's number in the file. */
  readonly failed: ReadonlyMap<number, string>;
  /** Numbers of the rows, in the file, that could not be checked. */
  readonly unchecked: readonly number[];
}

/** Maximum number of rows that are checked at the same time. The environment's resource may set a lower maximum. */
const CONCURRENCY_MAX = 16;

/** Maximum time to check one row, in milliseconds, if the environment's resource sets none. */
const TIME_LIMIT_MS = 30_000;

/** Number of consecutive failures after which the resource counts as down. The remaining rows are then not checked. */
const FAILURES_MAX = 8;

const RETRY_DELAY_MS = 200;
const RETRY_DELAY_MS_MAX = 2000;

/**
 * Checks the rows that have no stored result, and removes rows that fail. Returns in `failed` the reason for each
 * removed row, and in `failure` why the first unchecked row could not be checked; undefined: all were checked.
 */
export async function checkPool(finished: FinishedPool, checking: Checking) {
  const { environment, kept } = checking;
  if (environment.rows?.check === undefined) return { finished, failed: new Map<number, string>(), failure: undefined };
  const before = kept === undefined ? undefined : readKept<KeptChecks>(kept);
  const known = new Set(before?.unchecked);
  const rows = [...finished.columns.rows.entries()];
  const asked = rows.filter(([, row]) => before === undefined || known.has(row));
  const { failed: found, unchecked, failure } = await askAll(finished, asked, checking);
  const failed = new Map([...(before?.failed ?? []), ...found]);
  const checks: KeptChecks = { failed, unchecked };
  if (kept !== undefined && asked.length > unchecked.length) writeKept(kept, checks);
  const reasons = rows.flatMap(([place, row]) => {
    const reason = failed.get(row);
    return reason === undefined ? [] : [[place, reason] as const];
  });
  const { columns, summary } = removeRows(environment, finished, new Map(reasons));
  return { finished: { columns, summary: { ...summary, unchecked: unchecked.length } }, failed, failure };
}

interface Answers {
  readonly failed: ReadonlyMap<number, string>;
  readonly unchecked: readonly number[];
  readonly failure: string | undefined;
}

type Asked = readonly (readonly [place: number, row: number])[];

async function askAll(finished: FinishedPool, asked: Asked, checking: Checking): Promise<Answers> {
  const { environment, openPorts, onProgress } = checking;
  const unasked = (failure: string): Answers => ({
    failed: new Map(),
    unchecked: asked.map(([, row]) => row),
    failure,
  });
  if (asked.length === 0) return { failed: new Map(), unchecked: [], failure: undefined };
  const { ports, missing } = await openPorts();
  const port = environment.resource?.port;
  if (port !== undefined && ports[port] === undefined) return unasked(missing[port] ?? `there is no ${port}`);
  const pool = poolOf(environment, "", finished);
  const failed = new Map<number, string>();
  const unchecked: number[] = [];
  let failure: string | undefined;
  let [inARow, done] = [0, 0];
  const rows = asked.values();
  const askSome = async (): Promise<void> => {
    for (const [place, row] of rows) {
      const answer = inARow >= FAILURES_MAX ? "not asked" : await askTwice(pool, place, ports);
      if (answer === "not asked" || typeof answer === "object") {
        unchecked.push(row);
        inARow++;
        if (typeof answer === "object") failure ??= `${reasonWords(answer)}: ${answer.detail}`;
      } else {
        inARow = 0;
        if (answer !== undefined) failed.set(row, answer);
      }
      onProgress(++done, asked.length);
    }
  };
  const concurrency = Math.min(CONCURRENCY_MAX, environment.resource?.concurrencyMax ?? CONCURRENCY_MAX);
  await Promise.all(Array.from({ length: concurrency }, askSome));
  return { failed, unchecked: unchecked.toSorted((a, b) => a - b), failure };
}

/** Checks a row, and tries once more if the failure may be temporary. */
async function askTwice(pool: Pool, place: number, ports: Ports): Promise<string | undefined | Failed> {
  const first = await ask(pool, place, ports);
  if (typeof first !== "object" || !first.retryable) return first;
  await sleep(Math.min(first.retryDelayMs ?? RETRY_DELAY_MS, RETRY_DELAY_MS_MAX));
  return ask(pool, place, ports);
}

async function ask(pool: Pool, place: number, ports: Ports): Promise<string | undefined | Failed> {
  const { definition } = pool;
  const timeLimitMs = definition.resource?.timeLimitMs ?? TIME_LIMIT_MS;
  const context: PortContext = {
    ports,
    signal: AbortSignal.timeout(timeLimitMs),
    deadlineMs: Date.now() + timeLimitMs,
  };
  try {
    return await definition.rows?.check?.(rowOf(pool, place).instance, context);
  } catch (error) {
    // An exception is a bug of the environment's code, so the row is not rejected.
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "failed", reason: "internal", detail, retryable: false };
  }
}
