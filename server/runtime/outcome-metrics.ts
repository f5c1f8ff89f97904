/**
 * Counts the outcomes of completions for Prometheus, by environment, level and source. A group of completions looks up
 * its counters once and adds to plain numbers, as calls do (metrics.ts).
 */
import { type Registry } from "prom-client";
import {
  byName,
  counter,
  countUp,
  type Histogram,
  histogram,
  registerSamples,
  type SampledMetric,
} from "./sampled-metrics.ts";

/** Labels of a task, by which its outcomes are counted separately. */
export interface OutcomeKind {
  /** Id of the task's environment. Empty: the task id could not be read. */
  readonly environment: string;
  /** Level of the task. Empty: the task is a row of a pool, or was made from given parameters. */
  readonly level: string;
  readonly source: string;
}

/** Counts the outcomes of one group's samples. */
export interface GroupTally {
  scored(verdict: string, reward: number, solved: boolean): void;
  /** Counts a sample without a reward. `resource` is the failed resource; empty: there was another reason. */
  noReward(reason: string, resource: string): void;
}

export type OutcomeMeter = (kind: OutcomeKind) => GroupTally;

/** Upper bounds of the buckets for rewards. All reward schemes stay within [-2.5, 2]. */
const BOUNDS = [-2.5, -1.5, -0.5, 0, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2] as const;

interface Counts extends GroupTally {
  readonly kind: OutcomeKind;
  readonly verdicts: Map<string, number>;
  /** Counts of samples without a reward, by reason and then by resource. */
  readonly reasons: Map<string, Map<string, number>>;
  solved: number;
  readonly rewards: Histogram;
}

export function createOutcomeMeter(registry: Registry): OutcomeMeter {
  const all = new Map<string, Counts>();
  registerSamples(registry, ...outcomeMetrics(() => [...all.values()]));
  return ({ environment, level, source }) => {
    const key = JSON.stringify([environment, level, source]);
    const counts = all.get(key) ?? newCounts({ environment, level, source });
    all.set(key, counts);
    return counts;
  };
}

function newCounts(kind: OutcomeKind): Counts {
  const counts: Counts = {
    kind,
    verdicts: new Map(),
    reasons: new Map(),
    solved: 0,
    rewards: histogram(BOUNDS),
    scored(verdict, reward, solved) {
      countUp(counts.verdicts, verdict);
      counts.rewards.add(reward);
      if (solved) counts.solved += 1;
    },
    noReward(reason, resource) {
      const resources = counts.reasons.get(reason) ?? new Map<string, number>();
      counts.reasons.set(reason, resources);
      countUp(resources, resource);
    },
  };
  return counts;
}

function outcomeMetrics(each: () => readonly Counts[]): readonly SampledMetric[] {
  return [
    counter(
      "gradus_outcomes_total",
      "Completions that were scored, by verdict. The level is empty for rows of pools.",
      () => each().flatMap(({ kind, verdicts }) => byName("verdict", verdicts, { ...kind })),
    ),
    counter(
      "gradus_no_reward_total",
      "Completions without a reward, by reason and failed resource. Each retry counts again.",
      () =>
        each().flatMap(({ kind, reasons }) =>
          [...reasons].flatMap(([reason, resources]) => byName("resource", resources, { ...kind, reason })),
        ),
    ),
    counter("gradus_solved_total", "Completions whose answers reach the goal.", () =>
      each().map(({ kind, solved }) => ({ labels: { ...kind }, value: solved })),
    ),
    {
      name: "gradus_reward",
      help: "Rewards of completions.",
      type: "histogram",
      samples: () => each().flatMap(({ kind, rewards }) => rewards.samples("gradus_reward", { ...kind })),
    },
  ];
}
