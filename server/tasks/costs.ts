/** What tasks cost to make, by what those before of their kind did. */
import { LRUCache } from "lru-cache";
import type { Parameters } from "../../envs/environment.ts";
import type { JobSpec } from "./jobs.ts";

/** Tasks of one environment and one set of parameters. */
export interface Kind {
  /** CPU of one, milliseconds; undefined: none was made yet. */
  meanMs: number | undefined;
  /** About the worst of the last ones. */
  worstMs: number;
}

export interface Costs {
  of(spec: Pick<JobSpec, "environment" | "version" | "parameters">): Kind;
  /** What so many tasks of a kind cost together. */
  took(kind: Kind, cpuMs: number, tasks: number): void;
}

/** Kinds that are remembered. */
const KINDS_MAX = 4096;
/** How much a slower task than those before counts: the first of a thread run cold code. */
const SLOWER_SHARE = 0.1;
/** How much of the worst is forgotten with each turn. */
const WORST_FORGOTTEN = 0.1;

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
      const kind = kinds.get(name) ?? { meanMs: undefined, worstMs: 0 };
      kinds.set(name, kind);
      return kind;
    },
    took(kind, cpuMs, tasks) {
      const ms = cpuMs / tasks;
      const before = kind.meanMs ?? ms;
      kind.meanMs = before + (ms > before ? SLOWER_SHARE : 1) * (ms - before);
      kind.worstMs = Math.max(ms, kind.worstMs + WORST_FORGOTTEN * (ms - kind.worstMs));
    },
  };
}
