/** The figures of one task from its samples, and their means over tasks. Pure. */
import type { Goal } from "../../envs/environment.ts";
import type { SampleFacts } from "./facts.ts";

/** By name; gradus.v1.ReportRow says what each means. */
export type Figures = Readonly<Record<string, number>>;

/**
 * The chance that of k samples drawn without replacement from n, of which c are right, at least one is: 1 − C(n−c, k) /
 * C(n, k), as a product, for the binomials leave the doubles' range (SPEC.md section 3; Chen et al. 2021).
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** 1, 2, 4, … and n. */
export function passKs(n: number): readonly number[] {
  const powers = Array.from({ length: Math.floor(Math.log2(n)) + 1 }, (_, i) => 2 ** i);
  return [...new Set([...powers, n])];
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(samples: readonly SampleFacts[], holds: (facts: SampleFacts) => boolean): number {
  return samples.filter(holds).length / samples.length;
}

function common(samples: readonly SampleFacts[]): Figures {
  return {
    mean_reward: mean(samples.map(({ reward }) => reward)),
    malformed_rate: share(samples, ({ verdict }) => verdict === "malformed"),
    infeasible_rate: share(samples, ({ verdict }) => verdict === "infeasible"),
    truncated_rate: share(samples, ({ truncated }) => truncated),
    no_reward_rate: share(samples, ({ verdict }) => verdict === "none"),
  };
}

/** SR and QR (FORGE section 4; SPEC.md section 2). */
function qualityFigures(samples: readonly SampleFacts[]): Figures {
  return {
    success_rate: share(samples, ({ verdict }) => verdict === "feasible"),
    quality_ratio: mean(samples.map(({ ratio }) => ratio)),
    optimal_rate: share(samples, ({ solved }) => solved),
    ...common(samples),
  };
}

/** Papers 003 and 004; what needs all samples of a task waits until they are there. */
function exactFigures(samples: readonly SampleFacts[], expected: number): Figures {
  const n = samples.length;
  const right = samples.filter(({ solved }) => solved).length;
  const ks = passKs(expected).filter((k) => k <= n);
  const all = Array.from({ length: n }, (_, i) => passAtK(n, right, i + 1));
  return {
    exact_rate: right / n,
    mean_score: mean(samples.map(({ reward }) => reward)),
    ...Object.fromEntries(ks.map((k) => [`pass@${k}`, passAtK(n, right, k)])),
    ...(n === expected && {
      "pass@avg": mean(all),
      "nonzero_pass@n": Number(samples.some(({ reward }) => reward > 0)),
    }),
    "first_verifying_pass@1": share(samples, ({ verified }) => verified),
    ...common(samples),
  };
}

/** The figures of one task; `expected` is how many samples it will have, and it has at least one. */
export function taskFigures(goal: Goal, samples: readonly SampleFacts[], expected: number): Figures {
  return goal === "satisfy" ? exactFigures(samples, expected) : qualityFigures(samples);
}

/** The unweighted mean of each figure over those that have it. */
export function meanFigures(all: readonly Figures[]): Figures {
  const names = new Set(all.flatMap((figures) => Object.keys(figures)));
  return Object.fromEntries(
    [...names].map((name) => [name, mean(all.flatMap((figures) => figures[name] ?? []))] as const),
  );
}
