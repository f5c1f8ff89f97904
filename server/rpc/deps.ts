/** What the services work with. Made once, in server/main.ts. */
import type { TaskKey } from "../../envs/origin.ts";
import type { Pool } from "../../envs/pool.ts";
import type { Registry } from "../../envs/registry.ts";
import type { Aside, LaneLoad } from "../background/threads.ts";
import type { Runs } from "../runs/runs.ts";
import type { Evaluations } from "../evaluation/evaluations.ts";
import type { Keyring } from "../tasks/keyring.ts";
import type { Samples } from "../samples/kept-samples.ts";
import type { AsyncScorer } from "../tasks/scoring/async-scorer.ts";
import type { Maker } from "../tasks/making/make.ts";
import type { RunRanks } from "../tasks/making/run-ranks.ts";
import type { Scorer } from "../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MissingPorts } from "../outside/open.ts";
import type { Teacher } from "../outside/teacher/teacher.ts";
import type { GroupLimits } from "./request-checks.ts";
import type { NoRewards } from "../tasks/scoring/no-rewards.ts";

/** Limits on what a request may hold; each is named in the error that it gives. */
export interface RequestLimits extends GroupLimits {
  /** Seeds in a BatchReset. */
  readonly batchSeedsMax: number;
  /** Requests of one stream that are worked on at once. */
  readonly streamWindow: number;
  /** Bytes of a message. */
  readonly messageBytesMax: number;
}

/** Counts what the samples of a group came to. */
interface GroupTally {
  scored(verdict: string, reward: number, solved: boolean): void;
  /** `resource`: empty where the reason is not one that failed. */
  noReward(reason: string, resource: string): void;
}

/** Returns the counts for a kind of task: one of few environments, levels and sources. */
type OutcomeMeter = (kind: {
  readonly environment: string;
  readonly level: string;
  readonly source: string;
}) => GroupTally;

/** What a process says of itself; see ServerInfo in the contract. */
export interface ServerFacts {
  readonly version: string;
  readonly commit: string;
  readonly store: string;
  readonly replicaId: string;
  readonly messageBytesMax: number;
  readonly completionBytesMax: number;
}

/** What is the matter with a resource, and how much is asked of it. */
export interface PortLoad extends Omit<LaneLoad, "waitingMax"> {
  /** Why it is not asked now; undefined: it is. */
  readonly down: string | undefined;
}

/** What a process does at this moment; see ServerInfo in the contract. */
export interface ServerStatus {
  readonly startedAtMs: number;
  readonly queues: () => readonly LaneLoad[];
  readonly ports: () => readonly PortLoad[];
  /** How long ago each was last heard of; none: the store is this process's own. */
  readonly replicas: () => readonly { readonly id: string; readonly ageMs: number }[];
}

export interface ServiceDeps {
  readonly facts: ServerFacts;
  readonly status: ServerStatus;
  /** Samples that had no reward, since the process started. */
  readonly noRewards: NoRewards;
  readonly keyring: Keyring;
  readonly registry: Registry;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly ranks: RunRanks;
  readonly maker: Maker;
  readonly scorer: Scorer;
  readonly asyncScorer: AsyncScorer;
  /** Undefined: the server has none, and refuses what asks for one. */
  readonly teacher?: Teacher | undefined;
  /** Ports that the server does not have: why, and what to do. Tasks that need one of them are refused. */
  readonly missingPorts?: MissingPorts;
  readonly runs: Runs<TaskSpec, TaskKey>;
  /** Pictures, solutions and simulations. */
  readonly aside: Aside;
  /** Completions that runs keep. */
  readonly samples: Samples;
  readonly evaluations: Evaluations;
  readonly limits: RequestLimits;
  /** Undefined: outcomes are not counted. */
  readonly meter?: OutcomeMeter | undefined;
  /** Told of each failure of ours that a client sees only as a reason. */
  readonly onFailure: (error: unknown, what: string) => void;
}
