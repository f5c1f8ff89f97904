/** Dependencies that all services share. `server/assemble.ts` makes them once. */
import type { TaskKey } from "../../envs/origin.ts";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Background, QueueLoad } from "../background/background-threads.ts";
import type { Runs } from "../runs/runs.ts";
import type { Evaluations } from "../evaluation/evaluations.ts";
import type { Keyring } from "../tasks/keyring.ts";
import type { Samples } from "../samples/kept-samples.ts";
import type { AsyncScorer } from "../tasks/scoring/async-scorer.ts";
import type { Maker } from "../tasks/making/make.ts";
import type { RunRanks } from "../tasks/making/run-ranks.ts";
import type { Scorer } from "../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MissingPorts } from "../outside/open-ports.ts";
import type { Teacher } from "../outside/teacher/teacher.ts";
import type { NoRewards } from "../tasks/scoring/no-rewards.ts";

/** Limits that the operator sets for the contents of requests. An error names the limit that a request exceeds. */
export interface RequestLimits {
  /** Maximum number of groups in a BatchStep or StreamSteps message. */
  readonly maxGroups: number;
  /** Maximum number of completions in a group, and maximum of a run's num_generations. */
  readonly maxCompletions: number;
  readonly maxBatchSeeds: number;
  readonly maxMessageBytes: number;
  readonly maxCompletionBytes: number;
}

/** Counts the outcomes of a group's samples, for the metrics. */
interface GroupTally {
  scored(verdict: string, reward: number, solved: boolean): void;
  /** Counts a sample that got no reward. `resource` is the resource that failed; empty: there was another reason. */
  noReward(reason: string, resource: string): void;
}

/** Returns the counters for tasks of one environment, level and source. There are few such combinations. */
type OutcomeMeter = (kind: {
  readonly environment: string;
  readonly level: string;
  readonly source: string;
}) => GroupTally;

/** Facts about this server process that do not change. See ServerInfo in proto/. */
export interface ServerFacts {
  readonly version: string;
  readonly commit: string;
  readonly store: string;
  readonly replicaId: string;
}

/** State and load of an external resource, e.g. of the sandbox or a judge model. */
export interface PortLoad extends Omit<QueueLoad, "waitingMax"> {
  /** Reason why the resource is not used at the moment. Undefined: it is used. */
  readonly down: string | undefined;
}

/** Load of this server process. See ServerStatus in proto/. */
export interface ServerActivity {
  readonly problem: string;
  readonly windowMs: number;
  readonly eventLoopUtilization: number;
  readonly coresUsed: number;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly startMemoryBytes: number;
  readonly memoryMaxBytes: number;
  readonly methods: readonly {
    readonly method: string;
    readonly count: number;
    readonly running: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
  }[];
  readonly errors: readonly {
    readonly method: string;
    readonly code: string;
    readonly count: number;
    readonly recent: number;
  }[];
  readonly lastErrors: readonly {
    readonly timeMs: number;
    readonly method: string;
    readonly requestId: string;
    readonly message: string;
  }[];
}

/** Functions that report the present state of this server process. See ServerInfo in proto/. */
export interface ServerStatus {
  readonly startedAtMs: number;
  readonly queues: () => readonly QueueLoad[];
  readonly ports: () => readonly PortLoad[];
  /** Servers that share the store, each with the time since its last sign of life. Empty: the store is not shared. */
  readonly replicas: () => readonly { readonly id: string; readonly ageMs: number }[];
  /** Returns the load of the last minutes. Undefined in commands without a server. */
  readonly activity?: (() => ServerActivity) | undefined;
}

export interface ServiceDeps {
  readonly facts: ServerFacts;
  readonly status: ServerStatus;
  /** Counts of samples without a reward since the process started. */
  readonly noRewards: NoRewards;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly ranks: RunRanks;
  readonly maker: Maker;
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
  /** The model that writes tasks (teacher). Undefined: the server has none, and requests that need it are refused. */
  readonly teacher?: Teacher | undefined;
  /** Resources that this server lacks, each with the reason and a remedy. Tasks that need one are refused. */
  readonly missingPorts?: MissingPorts;
  readonly runs: Runs<TaskSpec, TaskKey>;
  /** Threads that make pictures and solutions and run simulations. */
  readonly background: Background;
  /** The stored completions of runs. */
  readonly samples: Samples;
  readonly evaluations: Evaluations;
  readonly limits: RequestLimits;
  /** Maximum number of requests of one stream that are processed at once. */
  readonly streamWindow: number;
  /** Returns counters of outcomes, for the metrics. Undefined: outcomes are not counted. */
  readonly meter?: OutcomeMeter | undefined;
  /** Called with each internal error of which the client sees only a short reason. `what` says what failed. */
  readonly onFailure: (error: unknown, what: string) => void;
}
