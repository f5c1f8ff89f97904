/** Instance with its optimum and the functions that score answers to it. */
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { Baseline, SyncEnvironment, Level } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { makeGenerated } from "../../../envs/instances.ts";
import { type ResolvedScheme, resolveScheme } from "../../../envs/reward/schemes.ts";
import { score, type Score } from "../../../envs/score.ts";

export interface Subject {
  readonly environment: SyncEnvironment;
  readonly instance: unknown;
  readonly baseline: Baseline;
  readonly optimum: unknown;
  /** An answer as a model would write it. */
  readonly format: (answer: unknown) => string;
  /** The environment's, the default first. */
  readonly schemes: readonly ResolvedScheme[];
}

/** The task of a seed in the train split. */
export function subjectOf(environment: SyncEnvironment, { parameters }: Level, seed: number): Subject {
  const result = makeGenerated(environment, { parameters, seed: BigInt(seed), split: "train" });
  if (result.kind !== "made") throw new Error(result.message);
  const { instance } = result;
  const { baseline } = result.key;
  const { solver } = environment;
  if (solver === undefined || baseline === undefined) throw new Error(`${environment.id} has no baseline`);
  const optimum = solver.solve(instance).answer;
  const format = (answer: unknown): string => solver.format(answer);
  return { environment, instance, baseline, optimum, format, schemes: environment.rewardSchemes.map(schemeOf) };

  function schemeOf(name: string): ResolvedScheme {
    const resolved = resolveScheme(environment, name, {});
    if (resolved.kind !== "ok") throw new Error(resolved.message);
    return resolved.scheme;
  }
}

/** An answer's text as a model would send it. */
export function completionOf(text: string, format: AnswerFormat): string {
  return wrapAnswer(text, format, "One after the other.");
}

/** The score of an answer; unless a scheme is named, by the default. */
export function scoreOf(subject: Subject, text: string, format: AnswerFormat, named?: ResolvedScheme): Score {
  const { environment, instance, baseline, schemes } = subject;
  const scheme = named ?? schemes[0]!;
  return score({ environment, instance, baseline, format, scheme }, completionOf(text, format));
}
