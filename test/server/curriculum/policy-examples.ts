/** Policies for the laws: each registered one, configured so that the laws test it. */
import type { Policy } from "../../../server/curriculum/types.ts";
import {
  banditPolicy,
  competencePolicy,
  forgettingPolicy,
  frontierPolicy,
  mixturePolicy,
  replayPolicy,
  stage,
  stagedPolicy,
} from "./support.ts";

/** Tasks in an update batch. */
export const PROMPTS = 16;

/** Each registered policy with configurations that put it to the test; all of them go with ADSC's eight arms. */
export const policyExamples: readonly { readonly name: string; readonly policy: Policy }[] = [
  { name: "mixture", policy: mixturePolicy() },
  { name: "bandit", policy: banditPolicy() },
  { name: "bandit that only explores", policy: banditPolicy({ epsilon: 1 }) },
  { name: "bandit that only exploits", policy: banditPolicy({ epsilon: 0, tau: 1e-3, alpha: 1 }) },
  { name: "bandit with EXP3.S", policy: banditPolicy({ rule: "EXP3_S", signal: "SOLVED_VARIANCE" }) },
  {
    name: "bandit with EXP3.S that forgets nothing",
    policy: banditPolicy({ rule: "EXP3_S", epsilon: 0, exp3Share: 0 }),
  },
  { name: "bandit with Thompson sampling", policy: banditPolicy({ rule: "THOMPSON", signal: "MIXED_OUTCOMES" }) },
  { name: "bandit with UCB", policy: banditPolicy({ rule: "UCB", signal: "LEARNING_PROGRESS" }) },
  { name: "bandit with UCB and no bonus", policy: banditPolicy({ rule: "UCB", epsilon: 0, exploration: 0 }) },
  {
    name: "bandit of learning progress, rescaled",
    policy: banditPolicy({
      signal: "LEARNING_PROGRESS",
      rescale: { lowQuantile: 0.2, highQuantile: 0.8, window: 16 },
    }),
  },
  {
    name: "staged by share, by tasks, and until it is ended",
    policy: stagedPolicy(
      stage({ kind: "share", share: 0.3 }, { "real/T0": 1, "synthetic/T0": 2, "real/T2": 0.5 }),
      stage({ kind: "tasks", tasks: 2 * PROMPTS }, { "real/T3": 1, "synthetic/T3": 1 }),
      stage({ kind: "open" }),
      stage({ kind: "share", share: 0.2 }, { "real/T3": 1 }),
    ),
  },
  { name: "replay of fresh instances", policy: replayPolicy({ instances: "FRESH" }) },
  {
    name: "replay of the same instances, in cycles of so many tasks",
    policy: replayPolicy({ instances: "SAME", cycle: { kind: "tasks", tasks: 4 * PROMPTS + 1 } }),
  },
  { name: "competence that widens", policy: competencePolicy() },
  { name: "competence that moves on", policy: competencePolicy({ step: "MOVE_ON", threshold: 0.4, window: 8 }) },
  { name: "competence with a floor", policy: competencePolicy({ floor: 0.2, newestShare: 0.5, window: 3 }) },
  { name: "frontier", policy: frontierPolicy() },
  { name: "frontier with a given practice scale", policy: frontierPolicy({ practiceScale: 32 }) },
  {
    name: "frontier of solved samples that wears off at once",
    policy: frontierPolicy({ measure: "SOLVED", exploration: 1e-6, practiceScale: 0.5 }),
  },
  {
    name: "frontier with measures by arm",
    policy: frontierPolicy({ measure: "IMPROVEMENT", armMeasures: { "real/T0": "SOLVED", "real/T3": "QUALITY" } }),
  },
  { name: "frontier of rewards", policy: frontierPolicy({ measure: "REWARD", exploration: 0.5 }) },
  { name: "forgetting", policy: forgettingPolicy() },
  { name: "forgetting, reversed", policy: forgettingPolicy({ reversed: true }) },
];
