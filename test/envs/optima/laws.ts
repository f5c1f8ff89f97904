/** Laws that hold for every score (FORGE 3.1), written independently of the code that scores. */
import { stripAnswer } from "../../../envs/answers/strip.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import type { Score } from "../../../envs/score.ts";
import { definitions } from "./definitions.ts";
import { scoreOf } from "./subject.ts";
import type { Subject } from "./subject.ts";

/** Returns the fault in a score; undefined if there is none. */
export function problemOf({ environment: { goal }, baseline }: Subject, scored: Score): string | undefined {
  const { verdict, solved, objective, ratio, violation } = scored;
  if (!baseline.proven) return "the baseline is not proven";
  if (verdict !== "feasible") {
    if (solved || objective !== undefined || ratio !== undefined) return `${verdict}, but solved or with an objective`;
    return violation === "" ? `${verdict}, but nothing is said to be wrong` : undefined;
  }
  if (violation !== "") return `feasible, but wrong: ${violation}`;
  if (objective === undefined || ratio === undefined) return "feasible without an objective or a ratio";
  const compared = `the objective ${objective} to ${goal}, where the baseline is ${baseline.value}`;
  if (goal === "maximize" ? objective > baseline.value : objective < baseline.value) return `better: ${compared}`;
  if (!(ratio >= 0 && ratio <= 1)) return `a ratio of ${ratio}: ${compared}`;
  const isBest = objective === baseline.value;
  if (solved === isBest && (ratio === 1) === isBest) return undefined;
  return `${solved ? "solved" : "not solved"} at a ratio of ${ratio}: ${compared}`;
}

/** Returns the fault in an answer's verdict and objective by the definition; undefined if there is none. */
export function problemByDefinition(subject: Subject, text: string, scored: Score): string | undefined {
  const { environment, instance } = subject;
  const parsed = environment.parse(stripAnswer(text), instance);
  if (parsed.kind === "malformed")
    return scored.verdict === "malformed" ? undefined : `${scored.verdict}, but malformed`;
  const expected = definitions[environment.id]?.(instance as never, parsed.answer as never);
  const verdict = expected === undefined ? "infeasible" : "feasible";
  if (scored.verdict === verdict && scored.objective === expected) return undefined;
  return `${scored.verdict} of objective ${scored.objective}, but by definition ${verdict} of ${expected}`;
}

/** Returns the fault in an answer's rewards under all schemes; undefined if there is none. */
export function problemOfSchemes(
  subject: Subject,
  text: string,
  format: AnswerFormat,
  expected: Score,
): string | undefined {
  const { verdict, solved, objective } = expected;
  const best = subject.format(subject.optimum);
  for (const scheme of subject.schemes) {
    const found = scoreOf(subject, text, format, scheme);
    if (found.verdict !== verdict || found.solved !== solved || found.objective !== objective) {
      return `${found.verdict} by ${scheme.name}, and ${verdict} by another scheme`;
    }
    const [min, max] = rangeOf(verdict);
    const range = scheme.scheme.range(scheme.parameters);
    if (!(found.reward >= Math.max(min, range.min) && found.reward <= Math.min(max, range.max))) {
      return `a reward of ${found.reward} by ${scheme.name}, for a ${verdict} answer`;
    }
    if (found.reward > scoreOf(subject, best, format, scheme).reward) return `by ${scheme.name} more than the optimum`;
  }
  return undefined;
}

/** The least and the most that a reward can be (FORGE 3.1). */
function rangeOf(verdict: Score["verdict"]): readonly [number, number] {
  if (verdict === "feasible") return [1, 2];
  return verdict === "infeasible" ? [-0.5, -0.5] : [-2.5, -2.5];
}
