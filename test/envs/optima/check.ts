/** Scores answers as if a model gave them, and looks for one that a verifier, a baseline or a reward is wrong about. */
import type { SyncEnvironment, Level } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Score } from "../../../envs/score.ts";
import { answersTo, type Kind } from "./answers.ts";
import { problemByDefinition, problemOf, problemOfSchemes } from "./laws.ts";
import { completionOf, scoreOf, type Subject, subjectOf } from "./subject.ts";

export interface Plan {
  /** Least number of answers in all; half of them are at the benchmark level. */
  readonly answers: number;
  readonly instances: number;
  /** Seed of the first instance at each level; the seeds of the others follow it. */
  readonly seed: number;
  /** Called after each answer. */
  readonly step?: () => void;
}

export interface Counterexample {
  readonly level: string;
  /** Seed of the instance, in the train split. */
  readonly seed: number;
  readonly kind: Kind;
  readonly completion: string;
  readonly problem: string;
}

interface Tally {
  instances: number;
  answers: number;
  /** Different texts, counted apart for each instance. */
  distinct: number;
  feasible: number;
  /** Answers that reach the baseline. */
  optimal: number;
  /** Largest ratio below 1. 0 if there is none. */
  ratioBelowOne: number;
  violations: number;
  /** The first of the violations. */
  counterexample?: Counterexample;
}

export interface Report extends Readonly<Tally> {
  readonly environment: string;
}

/** Number of answers between two checks of all reward schemes. */
const SCHEMES_EVERY = 10;

export function checkAnswers(environment: SyncEnvironment, plan: Plan): Report {
  const counts = { instances: 0, answers: 0, distinct: 0, feasible: 0, optimal: 0 };
  const tally: Tally = { ...counts, ratioBelowOne: 0, violations: 0 };
  for (const level of environment.levels) {
    const answers = Math.ceil((plan.answers * shareOf(environment, level)) / plan.instances);
    for (let i = 0; i < plan.instances; i++) {
      checkInstance(environment, level, { ...plan, answers, seed: plan.seed + i }, tally);
    }
  }
  return { environment: environment.id, ...tally };
}

function shareOf({ levels }: SyncEnvironment, { name }: Level): number {
  return name === "benchmark" ? 1 / 2 : 1 / 2 / (levels.length - 1);
}

function checkInstance(environment: SyncEnvironment, level: Level, plan: Plan, tally: Tally): void {
  const { answers, seed, step } = plan;
  const subject = subjectOf(environment, level, seed);
  const texts = new Set<string>();
  const rng = rngFor("answers", environment.id, level.name, seed);
  tally.instances++;
  for (const { kind, text } of answersTo(subject, answers, rng)) {
    const format = rng.pick(environment.answerFormats);
    const problem = check(subject, kind, text, format, tally);
    if (problem !== undefined) {
      tally.violations++;
      tally.counterexample ??= { level: level.name, seed, kind, completion: completionOf(text, format), problem };
    }
    texts.add(text);
    step?.();
  }
  tally.distinct += texts.size;
}

/** Returns the fault in the score of an answer; undefined if there is none. */
function check(subject: Subject, kind: Kind, text: string, format: AnswerFormat, tally: Tally): string | undefined {
  try {
    const scored = scoreOf(subject, text, format);
    const withSchemes = tally.answers++ % SCHEMES_EVERY === 0;
    count(scored, tally);
    if (kind === "optimum" && !scored.solved) return "the solver's own answer is not the optimum";
    const problem = problemOf(subject, scored) ?? problemByDefinition(subject, text, scored);
    return problem ?? (withSchemes ? problemOfSchemes(subject, text, format, scored) : undefined);
  } catch (error) {
    // An objective beyond the certified bound throws.
    return error instanceof Error ? error.message : "failed";
  }
}

function count({ verdict, solved, ratio }: Score, tally: Tally): void {
  if (verdict === "feasible") tally.feasible++;
  if (solved) tally.optimal++;
  if (ratio !== undefined && ratio < 1) tally.ratioBelowOne = Math.max(tally.ratioBelowOne, ratio);
}
