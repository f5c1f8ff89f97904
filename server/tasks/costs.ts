/** What tasks cost to make, by what those before of their kind did. */
import { LRUCache } from "lru-cache";
import type { Parameters } from "../../envs/environment.ts";
import type { JobSpec } from "./jobs.ts";

/** Tasks of one environment and one set of parameters. */
export interface Kind {
  /** CPU of one once its code is warm, milliseconds; undefined: none was made yet. */
  leastMs: number | undefined;
  /** CPU of one lately, milliseconds. */
  recentMs: number;
}

export interface Costs {
  of(spec: Pick<JobSpec, "environment" | "version" | "parameters">): Kind;
  /** What so many tasks of a kind cost together. */
  took(kind: Kind, cpuMs: number, tasks: number): void;
}

/** Kinds that are remembered. */
const KINDS_MAX = 4096;
/** How much slower tasks than those before count: the first of a thread run cold code. */
const SLOWER_SHARE = 0.1;
/** How much the newest count in what tasks cost lately: one that met a busy machine makes no kind dear. */
const RECENT_SHARE = 0.2;

export function createCosts(): Costs {
  const kinds = new LRUCache<string, Kind>({ max: KINDS_MAX });
  const names = new WeakMap<Parameters, string>();
  const nameOf = (parameters: Parameters): string => {
    const known = names.get(parameters) ?? JSON.stringify(parameters);
    names.set(parameters, known);
    return known;
  };
  return {
    of({ environment, version, parameters }) {
      const name = `${environment} ${version} ${nameOf(parameters)}`;
      const kind = kinds.get(name) ?? { leastMs: undefined, recentMs: 0 };
      kinds.set(name, kind);
      return kind;
    },
    took(kind, cpuMs, tasks) {
      const ms = cpuMs / tasks;
      const least = kind.leastMs ?? ms;
      kind.recentMs = kind.leastMs === undefined ? ms : kind.recentMs + RECENT_SHARE * (ms - kind.recentMs);
      kind.leastMs = least + (ms > least ? SLOWER_SHARE : 1) * (ms - least);
    },
  };
}
