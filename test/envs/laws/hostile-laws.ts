/**
 * Laws of answers that are made from the solver's to be wrong: a number that comes twice, is out of range, negative, huge
 * or a fraction, a list too long, too short, empty or in another order. The verifier under test has no part in making them.
 */
import { expect } from "vitest";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { AnswerShape, SyncEnvironment } from "../../../envs/environment.ts";
import { assertNever } from "../../../envs/lib/assert-never.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Issued } from "../every.ts";
import { score } from "../../../envs/score.ts";
import { scoreTask } from "../every.ts";
import { changesOf, numbersIn, reordered } from "./changes.ts";
import { CHOICES, isSolved, type Law, outsideOf, solved, solverOf } from "./law.ts";

type Numbered = Exclude<AnswerShape<never, never>["kind"], "items">;

export const hostileLaws: readonly Law[] = [
  {
    title: "no answer made to be wrong is taken",
    // A choice is no list of numbers: its tests try each option.
    appliesTo: (environment) => isSolved(environment) && !CHOICES.includes(environment.id),
    check({ environment, tasks }) {
      let tried = 0;
      for (const issued of tasks) {
        const { answer, text } = solved(environment, issued);
        const outside = outsideOf(environment, issued);
        for (const change of changesOf(answer, outside)) {
          const changed = solverOf(environment).format(change.answer);
          if (changed === text) continue;
          tried++;
          const problem = problemOf(environment, issued, changed, change.isWrong);
          expect(problem, `${change.how}: ${text} became ${changed}`).toBeUndefined();
        }
      }
      expect(tried).toBeGreaterThan(0);
    },
  },
  {
    title: "the order of the answer counts where the environment says so, and only there",
    appliesTo: ({ shape, solver }) => shape !== undefined && shape.kind !== "items" && solver !== undefined,
    check({ environment, tasks }) {
      const worth = tasks.flatMap((issued, i) => {
        const { answer } = solved(environment, issued);
        const rng = rngFor("reordered", environment.id, i);
        const others = Array.from({ length: 10 }, () => reordered(answer, rng));
        const [first, ...rest] = [answer, ...others].map((each) => worthOf(environment, issued, each));
        return rest.map((other) => other === first);
      });
      if (environment.shape?.kind === "choice") expect(worth).not.toContain(false);
      else expect(worth).toContain(false);
    },
  },
];

/** Returns the fault in the verdict on a changed answer; undefined if there is none. */
function problemOf(environment: SyncEnvironment, issued: Issued, text: string, isWrong: boolean): string | undefined {
  const { shape } = environment;
  // Better than the proven optimum throws.
  const scored = score(scoreTask(environment, issued, "answer_tag"), wrapAnswer(text, "answer_tag"));
  if (scored.verdict !== "feasible" && !scored.solved) return undefined;
  if (shape === undefined) return isWrong ? "it is taken" : undefined;
  const parsed = environment.parse(text, issued.instance);
  if (parsed.kind === "malformed") return "it is taken, though it cannot be read";
  if (shape.kind === "items") return itemsProblem(shape.given(issued.instance), shape.used(parsed.answer));
  return shapeProblem(shape.kind, shape.count(issued.instance), numbersIn(parsed.answer));
}

/** Returns the fault in the items of an accepted answer; undefined if there is none. */
function itemsProblem(given: readonly string[], used: readonly string[]): string | undefined {
  const left = [...given];
  for (const item of used) {
    const at = left.indexOf(item);
    if (at < 0) return `it is taken with more of "${item}" than is given`;
    left.splice(at, 1);
  }
  return undefined;
}

/** Returns the fault in the numbers of an accepted answer; undefined if there is none. */
function shapeProblem(kind: Numbered, count: number, numbers: readonly number[]): string | undefined {
  const isThere = (number: number): boolean => Number.isInteger(number) && number >= 0 && number < count;
  switch (kind) {
    case "labels":
      return numbers.length === count ? undefined : `it is taken with ${numbers.length} labels for ${count} things`;
    case "choice":
    case "route":
    case "arrangement":
      if (!numbers.every(isThere)) return `it is taken with a number that is not from 0 to ${count - 1}`;
      if (new Set(numbers).size < numbers.length) return "it is taken with a number that comes twice";
      if (kind === "arrangement" && numbers.length < count) return `it is taken with ${numbers.length} of ${count}`;
      return undefined;
    default:
      return assertNever(kind);
  }
}

/** The verdict and the objective of an answer, to be compared. */
function worthOf(environment: SyncEnvironment, { instance }: Issued, answer: unknown): string {
  const facts = environment.verify(instance, answer);
  return facts.kind === "feasible" ? `feasible ${facts.objective}` : facts.kind;
}
