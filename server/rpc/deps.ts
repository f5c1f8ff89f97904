/** Dependencies of the services. `server/main.ts` makes them once. */
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

/** The operator's limits of a request's contents. An error names the limit that was exceeded. */
export interface RequestLimits {
  /** Maximum number of groups in a BatchStep or StreamSteps message. */
  readonly maxGroups: number;
  /** Maximum number of completions in a group, and of num_generations of a run. */
  readonly maxCompletions: number;
  readonly maxBatchSeeds: number;
  readonly maxMessageBytes: number;
  readonly maxCompletionBytes: number;
}

/** Counts the outcomes of a group's samples. */
interface GroupTally {
  scored(verdict: string, reward: number, solved: boolean): void;
  /** Counts a sample without a reward. `resource`: the resource that failed, empty if the reason is another one. */
  noReward(reason: string, resource: string): void;
}

/**
 * Returns the counters of a kind of task. There are few kinds, because there are few environments, levels and sources.
 */
type OutcomeMeter = (kind: {
  readonly environment: string;
  readonly level: string;
  readonly source: string;
}) => GroupTally;

/** Facts about a process. See ServerInfo in the contract. */
export interface ServerFacts {
  readonly version: string;
  readonly commit: string;
  readonly store: string;
  readonly replicaId: string;
}

/** State and load of a resource. */
export interface PortLoad extends Omit<QueueLoad, "waitingMax"> {
  /** Reason why it is not asked now. Undefined: it is asked. */
  readonly down: string | undefined;
}

/** Current state of a process. See ServerInfo in the contract. */
export interface ServerStatus {
  readonly startedAtMs: number;
  readonly queues: () => readonly QueueLoad[];
  readonly ports: () => readonly PortLoad[];
  /** Time since each replica was last seen. Empty: the store belongs to this process alone. */
  readonly replicas: () => readonly { readonly id: string; readonly ageMs: number }[];
}

export interface ServiceDeps {
  readonly facts: ServerFacts;
  readonly status: ServerStatus;
  /** Samples without a reward since the process started. */
  readonly noRewards: NoRewards;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly ranks: RunRanks;
  readonly maker: Maker;
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
  /** Teacher of the server. Undefined: there is none, and requests that need one are refused. */
  readonly teacher?: Teacher | undefined;
  /** Resources that the server lacks, with reason and remedy. Tasks that need one of them are refused. */
  readonly missingPorts?: MissingPorts;
  readonly runs: Runs<TaskSpec, TaskKey>;
  /** Threads for pictures, solutions and simulations. */
  readonly background: Background;
  /** Completions that runs keep. */
  readonly samples: Samples;
  readonly evaluations: Evaluations;
  readonly limits: RequestLimits;
  /** Maximum number of requests of one stream that are processed at once. */
  readonly streamWindow: number;
  /** Counters of outcomes. Undefined: outcomes are not counted. */
  readonly meter?: OutcomeMeter | undefined;
  /** Called with each internal failure of which a client sees only a reason. */
  readonly onFailure: (error: unknown, what: string) => void;
}
