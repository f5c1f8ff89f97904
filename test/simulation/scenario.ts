/** A scenario, chosen by a seed: a run's configuration, and how often each fault happens. */
import { hashKey, type Rng } from "../../envs/lib/rng.ts";
import { checkConfig } from "../../server/curriculum/check-config.ts";
import type { Policy } from "../../server/curriculum/types.ts";
import type { Stage } from "../../server/curriculum/policies/stages.ts";
import {
  type Arm,
  arm,
  banditPolicy,
  codecs,
  competencePolicy,
  forgettingPolicy,
  frontierPolicy,
  type Made,
  mixturePolicy,
  noConstraints,
  type Place,
  replayPolicy,
  type RunConfig,
  runConfig,
  stage,
  stagedPolicy,
  type TaskSource,
} from "../server/curriculum/support.ts";
import type { NetworkFaults } from "./network.ts";
import type { ServerFaults } from "./server.ts";

/** Way in which a run's trainers share its groups. */
export type Sharing =
  /** Each trainer has samples of its own. */
  | "split"
  /** Each trainer sends every sample, with the same completions. */
  | "same"
  /** Each trainer sends every sample, with completions of its own. */
  | "rival";

export interface Scenario {
  readonly configs: ReadonlyMap<string, RunConfig>;
  readonly servers: number;
  readonly trainers: number;
  readonly sharing: Sharing;
  /** Number of tasks after which a trainer stops. */
  readonly target: number;
  readonly server: ServerFaults;
  readonly network: NetworkFaults;
  /** Milliseconds between faults of servers, faults of trainers, and operators' actions; Infinity: never. */
  readonly everyMs: {
    readonly server: number;
    readonly trainer: number;
    readonly operator: number;
    readonly outage: number;
    readonly observer: number;
  };
}

const ARMS = [arm("plain", { source: "real" }), arm("judged", { resource: "judge", hard: true }), arm("scarce")];

/** Returns stages of the arms that every run has, and of those that are added. */
function stagesFor(length: number, more: readonly string[]): readonly Stage[] {
  const first = length > 0 ? ({ kind: "share", share: 0.5 } as const) : ({ kind: "tasks", tasks: 8 } as const);
  const others = Object.fromEntries(more.map((id) => [id, 1]));
  return [stage(first, { plain: 2, scarce: 1 }), stage({ kind: "open" }, { judged: 1, plain: 1, ...others })];
}

function banditFor(rng: Rng, reported: boolean): Policy {
  const rule = rng.pick(["EMA_SOFTMAX", "EMA_SOFTMAX", "EXP3_S", "THOMPSON", "UCB"] as const);
  const more = ["SOLVED_VARIANCE", "LEARNING_PROGRESS", "MIXED_OUTCOMES"] as const;
  const signal = reported || rng.int(0, 1) === 0 ? "ABSOLUTE_ADVANTAGE" : rng.pick(more);
  const rescaled = rule === "EMA_SOFTMAX" && rng.int(0, 3) === 0;
  const rescale = rescaled ? { lowQuantile: 0.2, highQuantile: 0.8, window: 16 } : undefined;
  return banditPolicy({ rule, signal, rescale, alpha: rng.pick([0.15, 0.5]), epsilon: rng.pick([0.1, 0.3]) });
}

function kindFor(rng: Rng, length: number, reported: boolean, more: readonly string[]): Policy {
  const kind = rng.pick([
    "bandit",
    "bandit",
    "bandit",
    "mixture",
    "staged",
    "replay",
    "competence",
    "frontier",
    "forgetting",
  ] as const);
  if (kind === "mixture") return mixturePolicy();
  if (kind === "bandit" || (kind === "competence" && reported)) return banditFor(rng, reported);
  if (kind === "frontier")
    return frontierPolicy({ exploration: rng.pick([0.05, 0.3]), practiceScale: rng.pick([1, 8, "auto"]) });
  const stages = stagesFor(length, more);
  if (kind === "staged") return stagedPolicy(...stages);
  if (kind === "competence") {
    const tiers = stages.map(({ weights }) => weights);
    const step = rng.pick(["WIDEN", "MOVE_ON"] as const);
    return competencePolicy({ tiers, step, window: 3, threshold: 0.4, floor: rng.pick([0, 0.2]) });
  }
  if (kind === "replay") {
    const open = stages.map(({ weights }) => stage({ kind: "open" }, weights));
    return replayPolicy({ stages: open, cycle: { kind: "tasks", tasks: 16 }, instances: rng.pick(["FRESH", "SAME"]) });
  }
  const domains = stages.map(({ weights }, i) => ({ name: `domain ${i}`, weights, share: undefined }));
  return forgettingPolicy({ domains, transfers: [], reversed: rng.pick([true, false]) });
}

/** Returns a policy for a run and its added arms. */
export function policyFor(
  rng: Rng,
  { length, feedbackSource }: Pick<RunConfig, "length" | "feedbackSource">,
  added: readonly Arm[] = [],
): Policy {
  const reported = feedbackSource === "reported";
  const ids = added.map(({ id }) => id);
  const policy = kindFor(rng, length, reported, ids);
  const filter = { skipSolved: true, skipFailedAfter: rng.pick([0, 2]), ranks: undefined };
  const constraints = { ...noConstraints, realShareMin: 0.25 };
  // Every stage contains the arm whose tasks are real.
  const constrained = rng.int(0, 5) === 0 ? { ...policy, constraints } : policy;
  return !reported && rng.int(0, 5) === 0 ? { ...constrained, filter } : constrained;
}

function configFor(rng: Rng, target: number): RunConfig {
  const promptsPerUpdate = rng.pick([1, 2, 4, 5, 8, 12]);
  const length = rng.pick([0, 0, target]);
  const lag = rng.pick([0, 1, 1, 2, "unbounded"] as const);
  const feedbackSource = rng.int(0, 5) === 0 ? "reported" : "step";
  const alike = feedbackSource === "step" ? rng.pick(["rewards", "solved"] as const) : "rewards";
  const config = runConfig({
    arms: ARMS,
    policy: policyFor(rng, { length, feedbackSource }),
    seed: BigInt(rng.int(0, 1000)),
    numGenerations: rng.pick([1, 2, 4, 4, 8, 16]),
    length,
    promptsPerUpdate,
    feedbackSource,
    dynamicSampling: rng.int(0, 1) === 0 ? { oversampleMax: rng.pick([1, 1.5, 2, 3]), alike } : undefined,
    lateFeedback: rng.int(0, 2) === 0 ? { batchesMax: rng.int(0, 2), weight: rng.pick([0, 0, 0.5]) } : undefined,
    lag: lag === "unbounded" ? { kind: lag } : { kind: "batches", count: lag },
    groupTimeoutMs: rng.int(0, 3) === 0 ? rng.int(500, 4000) : undefined,
    timeToLiveMs: 1e7,
    // Some runs are of older servers, which told apart rewards that differ by rounding only.
    ignoresRounding: promptsPerUpdate !== 5,
  });
  // One completion is too few for some policies.
  return checkConfig(config)?.field === "num_generations" ? { ...config, numGenerations: 2 } : config;
}

/**
 * Returns a scenario. Most seeds have most faults; some have none of a kind, so that a rare meeting of the others is
 * not hidden.
 */
export function scenarioFor(rng: Rng): Scenario {
  const some = (probability: number): number => (rng.int(0, 2) === 0 ? 0 : probability * rng.float());
  const every = (ms: number): number => (rng.int(0, 3) === 0 ? Infinity : ms * (0.3 + rng.float()));
  const target = rng.pick([12, 40, 60, 120]);
  const ids = rng.int(0, 2) === 0 ? ["one", "two"] : ["one"];
  return {
    configs: new Map(ids.map((id) => [id, configFor(rng, target)])),
    servers: rng.int(1, 2),
    trainers: rng.int(1, 2),
    sharing: rng.pick(["split", "same", "rival"]),
    target,
    server: {
      store: { unavailable: some(0.02), failsAfterwards: some(0.02) },
      sourceUnavailable: some(0.05),
      aheadMax: rng.pick([0, 8, 256]),
    },
    network: { requestLost: some(0.05), replyLost: some(0.1), repeated: some(0.1) },
    everyMs: {
      server: every(600),
      trainer: every(800),
      operator: every(150),
      outage: every(1500),
      observer: every(400),
    },
  };
}

/** Returns a source of tasks. Keys of some seeds are long, so that journals grow until snapshots are due. */
export function sourceFor(bulk: number): TaskSource {
  const make = ({ arm: { id }, ordinal, seed }: Place): Made => {
    const text = hashKey(seed).slice(0, 16);
    // Sometimes there is no instance, and the scarce arm has only few.
    if (text.startsWith("0")) return { kind: "none", message: "there is none" };
    const hash = id === "scarce" ? hashKey("scarce", Number.parseInt(text.slice(0, 4), 16) % 24).slice(0, 16) : text;
    return { kind: "task", key: { hash, name: `${id}:${ordinal}${" ".repeat(bulk)}` } };
  };
  return { ...codecs, make: async (places) => places.map(make) };
}
