/** Makes tasks of a family: rows here and now, generated ones in the workers. */
import { pickRow, type Pool, rowAt } from "../../envs/pool.ts";
import type { TaskFamily } from "./spec.ts";
import type { DraftResult, WorkerPool } from "./workers.ts";

export type IssueResult =
  | DraftResult
  | { readonly kind: "overloaded"; readonly retryDelayMs: number }
  | { readonly kind: "timeout"; readonly message: string }
  | { readonly kind: "cancelled" };

/** Seeds of one job: few enough to spread over threads, enough to pay for the message. */
const SEEDS_PER_JOB = 8;
/** What a waiting job costs the next one, roughly: 8 benchmark TSPs. */
const JOB_MS = 80;

export interface Issuer {
  /** One result for each seed, in order. */
  issue(family: TaskFamily, seeds: readonly bigint[], signal?: AbortSignal): Promise<readonly IssueResult[]>;
  /** The ordinal-th task of an arm: rows come in a permutation without replacement, other tasks by their seed. */
  issueOrdinal(family: TaskFamily, at: { armSeed: bigint; ordinal: number; seed: bigint }): Promise<IssueResult>;
}

export function createIssuer(workers: WorkerPool, pools: ReadonlyMap<string, Pool>): Issuer {
  const poolOf = (family: TaskFamily): Pool => {
    const pool = pools.get(family.pool);
    if (pool === undefined) throw new Error(`a family names a pool that is not loaded: ${family.pool}`);
    return pool;
  };

  const job = async (family: TaskFamily, seeds: readonly bigint[], signal?: AbortSignal): Promise<IssueResult[]> => {
    const { environment, version, parameters, split } = family;
    const result = await workers.run({ environment, version, parameters, split, seeds }, signal);
    switch (result.kind) {
      case "done":
        return [...result.results];
      case "overloaded":
        return seeds.map(() => ({ kind: "overloaded", retryDelayMs: (1 + result.waiting) * JOB_MS }));
      case "timeout":
        return seeds.map(() => ({ kind: "timeout", message: `making the task took longer than ${result.limitMs} ms` }));
      case "cancelled":
        return seeds.map(() => ({ kind: "cancelled" }));
    }
  };

  return {
    async issue(family, seeds, signal) {
      if (family.source === "real")
        return seeds.map((seed) => fromRow(pickRow(poolOf(family), family.level, family.split, seed)));
      const chunks = Array.from({ length: Math.ceil(seeds.length / SEEDS_PER_JOB) }, (_, i) =>
        seeds.slice(i * SEEDS_PER_JOB, (i + 1) * SEEDS_PER_JOB),
      );
      return (await Promise.all(chunks.map((chunk) => job(family, chunk, signal)))).flat();
    },
    async issueOrdinal(family, { armSeed, ordinal, seed }) {
      if (family.source === "real") return fromRow(rowAt(poolOf(family), family.level, family.split, armSeed, ordinal));
      const [result] = await job(family, [seed]);
      if (result === undefined) throw new Error("a job of one seed gave no result");
      return result;
    },
  };
}

function fromRow(result: ReturnType<typeof pickRow>): IssueResult {
  if (result.kind === "exhausted") return result;
  const { origin, hash, baseline } = result.issued;
  return { kind: "draft", draft: baseline === undefined ? { origin, hash } : { origin, hash, baseline } };
}
