/** Scores a completion of a task: finds the answer, reads it, verifies it and has it priced. */
import { locateAnswers, type LocatedSpan, type Thinking } from "./answers/locate.ts";
import { stripAnswer } from "./answers/strip.ts";
import type { AnswerFormat, Baseline, Environment, Facts } from "./environment.ts";
import { assertNever } from "./lib/assert-never.ts";
import { clipUtf8, codePointOffsets } from "./lib/text.ts";
import { isOptimal, qualityRatio, type RewardComponent } from "./reward/scheme.ts";
import type { ResolvedScheme } from "./reward/schemes.ts";

/** What scoring needs to know of a task. */
export interface ScoreTask<Instance = unknown> {
  readonly environment: Environment<Instance>;
  readonly instance: Instance;
  readonly format: AnswerFormat;
  /** Unset: required. */
  readonly thinking?: Thinking;
  readonly scheme: ResolvedScheme;
  /** Unset: the environment has nothing to optimise, or no solver. */
  readonly baseline?: Baseline;
}

export type Verdict = "malformed" | "infeasible" | "feasible";

/** One marked answer; offsets are Unicode code points, without the marks. */
export interface ScoredSpan {
  readonly start: number;
  readonly end: number;
  readonly verdict: Verdict;
  readonly solved: boolean;
}

/** A completion's worth; the fields mean what those of gradus.v1.Score mean. */
export interface Score {
  readonly reward: number;
  readonly components: readonly RewardComponent[];
  readonly verdict: Verdict;
  readonly solved: boolean;
  readonly objective: number | undefined;
  readonly baseline: Baseline | undefined;
  /** In [0, 1]. */
  readonly ratio: number | undefined;
  /** What is wrong, at most VIOLATION_BYTES_MAX bytes of UTF-8; empty for a feasible answer. */
  readonly violation: string;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly spans: readonly ScoredSpan[];
  readonly info: Readonly<Record<string, string>>;
}

export const VIOLATION_BYTES_MAX = 512;

type Findings = Facts | { readonly kind: "malformed"; readonly reason: string };

const NO_INFO: Readonly<Record<string, string>> = Object.freeze({});
const NO_SPANS: readonly ScoredSpan[] = Object.freeze([]);

/** The score of a completion. Never throws for what the completion holds; a throw is a bug of the environment. */
export function score<Instance>(task: ScoreTask<Instance>, completion: string): Score {
  try {
    return scoreOf(task, completion);
  } catch (cause) {
    const { id, version } = task.environment;
    throw new Error(`${id} version ${version}: ${cause instanceof Error ? cause.message : "failed"}`, { cause });
  }
}

function scoreOf<Instance>(task: ScoreTask<Instance>, completion: string): Score {
  const located = locateAnswers(completion, task.format, task.thinking);
  const findings = located.spans.map((span) => examine(task, span.text));
  const facts: Findings =
    located.problem === undefined ? (findings.at(-1) as Findings) : { kind: "malformed", reason: located.problem };
  const { reward, components } = price(task, facts);
  const objective = facts.kind === "feasible" ? facts.objective : undefined;
  return {
    reward,
    components,
    verdict: facts.kind,
    solved: isSolved(task, facts),
    objective,
    baseline: task.baseline,
    ratio: ratioOf(task, objective),
    violation: clipUtf8(violationOf(facts), VIOLATION_BYTES_MAX),
    terminated: true,
    truncated: located.truncated,
    spans: findings.length === 0 ? NO_SPANS : toScoredSpans(task, completion, located.spans, findings),
    info: (facts.kind === "malformed" ? undefined : facts.info) ?? NO_INFO,
  };
}

function examine<Instance>({ environment, instance }: ScoreTask<Instance>, text: string): Findings {
  const parsed = environment.parse(stripAnswer(text), instance);
  return parsed.kind === "malformed" ? parsed : environment.verify(instance, parsed.answer);
}

function price<Instance>({ environment, instance, scheme, baseline }: ScoreTask<Instance>, facts: Findings) {
  const trivial = scheme.scheme.usesTrivial ? environment.trivial?.(instance) : undefined;
  const { goal } = environment;
  return scheme.scheme.price({ goal, facts, baseline, trivial, parameters: scheme.parameters });
}

/** Whether the goal is reached: a right answer, or an objective that equals a proven optimum. */
function isSolved({ environment, baseline }: ScoreTask, facts: Findings): boolean {
  if (facts.kind !== "feasible") return false;
  if (environment.goal === "satisfy") return true;
  return baseline !== undefined && facts.objective !== undefined && isOptimal(facts.objective, baseline);
}

function ratioOf({ environment, baseline }: ScoreTask, objective: number | undefined): number | undefined {
  if (environment.goal === "satisfy" || baseline === undefined || objective === undefined) return undefined;
  return qualityRatio(environment.goal, objective, baseline);
}

function violationOf(facts: Findings): string {
  switch (facts.kind) {
    case "feasible":
      return "";
    case "infeasible":
      return facts.violation;
    case "malformed":
      return facts.reason;
    default:
      return assertNever(facts);
  }
}

function toScoredSpans(
  task: ScoreTask,
  completion: string,
  spans: readonly LocatedSpan[],
  findings: readonly Findings[],
): readonly ScoredSpan[] {
  const ends: number[] = [];
  for (const { start, end } of spans) ends.push(start, end);
  const offsets = codePointOffsets(completion, ends);
  return findings.map((facts, i) => ({
    start: offsets[2 * i] as number,
    end: offsets[2 * i + 1] as number,
    verdict: facts.kind,
    solved: isSolved(task, facts),
  }));
}
