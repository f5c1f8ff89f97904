/** Laws of answers: the solver's, and texts that are none. */
import fc from "fast-check";
import { expect } from "vitest";
import { share } from "../../support/share.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { Issued } from "../every.ts";
import { score } from "../../../envs/score.ts";
import { scoreTask } from "../every.ts";
import { hostileTexts } from "../hostile.ts";
import { changesOf } from "./changes.ts";
import { mutated } from "../mutated.ts";
import {
  CHOICES,
  every,
  isNoBetterThanTrivial,
  isSolved,
  isTaken,
  type Law,
  outsideOf,
  solved,
  solverOf,
  verdictOf,
} from "./law.ts";

export const answerLaws: readonly Law[] = [
  {
    title: "the solver's answer is feasible, of the solver's value, proven and within its nodes",
    appliesTo: isSolved,
    check({ environment, tasks }) {
      for (const { instance, baseline } of tasks) {
        const { answer, value, bound, proven, nodes } = solverOf(environment).solve(instance);
        const facts = environment.verify(instance, answer);
        expect(isTaken(facts)).toBe(true);
        expect([proven, bound]).toEqual([true, value]);
        expect(Number.isSafeInteger(nodes) && nodes >= 0).toBe(true);
        if (environment.goal === "satisfy") expect(baseline).toBeUndefined();
        else expect([baseline, facts]).toMatchObject([{ value, bound, proven }, { objective: value }]);
      }
    },
  },
  {
    title: "an instance's reference is right, in every format",
    appliesTo: (environment) => environment.reference !== undefined,
    check({ environment, tasks }) {
      for (const issued of tasks) {
        const text = environment.reference?.(issued.instance);
        if (text === undefined) continue;
        for (const format of environment.answerFormats) {
          const scored = score(scoreTask(environment, issued, format), wrapAnswer(text, format));
          expect([format, scored.solved, scored.violation]).toEqual([format, true, ""]);
        }
      }
    },
  },
  {
    title: "a solver out of nodes gives an answer of its value, and a bound that holds",
    appliesTo: isSolved,
    check({ environment, tasks }) {
      const sign = environment.goal === "minimize" ? 1 : -1;
      for (const issued of tasks) {
        const { instance } = issued;
        const best = solved(environment, issued);
        const hasty = solverOf(environment).solve(instance, 1);
        expect(hasty.nodes).toBeLessThanOrEqual(1);
        expect(sign * hasty.bound).toBeLessThanOrEqual(sign * best.value);
        expect(sign * hasty.value).toBeGreaterThanOrEqual(sign * best.value);
        expect(hasty.proven).toBe(hasty.value === hasty.bound);
        const facts = environment.verify(instance, hasty.answer);
        if (environment.goal !== "satisfy") expect(facts).toMatchObject({ kind: "feasible", objective: hasty.value });
      }
    },
  },
  {
    title: "an answer read back is the answer written, in every format",
    appliesTo: isSolved,
    check({ environment, tasks }) {
      for (const issued of tasks) {
        const { answer, text } = solved(environment, issued);
        expect(environment.parse(text, issued.instance)).toEqual({ kind: "answer", answer });
        for (const format of environment.answerFormats) {
          const scored = score(scoreTask(environment, issued, format), wrapAnswer(text, format));
          expect(scored).toMatchObject({ verdict: verdictOf(environment), solved: true, violation: "" });
        }
      }
    },
  },
  {
    title: "every reward scheme gives the solver's answer more than one that cannot be read",
    appliesTo: isSolved,
    check({ environment, tasks }) {
      for (const issued of tasks) {
        const { text } = solved(environment, issued);
        for (const name of environment.rewardSchemes) {
          const task = scoreTask(environment, issued, "answer_tag", name);
          const { min, max } = task.scheme.scheme.range(task.scheme.parameters);
          const [best, none] = [score(task, wrapAnswer(text, "answer_tag")).reward, score(task, "").reward];
          expect(best, name).toBeGreaterThan(none);
          expect([min <= none, best <= max], name).toEqual([true, true]);
        }
      }
    },
  },
  {
    title: "no change to the solver's answer beats it, neither to its text nor to what it means",
    appliesTo: isSolved,
    check({ environment, tasks }) {
      const issued = tasks[0] as Issued;
      const { answer, text } = solved(environment, issued);
      const task = scoreTask(environment, issued, "answer_tag");
      const best = score(task, wrapAnswer(text, "answer_tag")).reward;
      const solver = solverOf(environment);
      const meant = changedAnswer(answer, outsideOf(environment, issued)).map((changed) => solver.format(changed));
      const ways = [
        { arbitrary: mutated(text), weight: 5 },
        { arbitrary: meant, weight: 4 },
        { arbitrary: fc.constant(text), weight: 1 },
      ];
      let feasible = 0;
      fc.assert(
        // An objective beyond the baseline throws.
        // The answer itself among them: of some environments hardly a change is feasible.
        fc.property(fc.oneof(...ways), (changed) => {
          const { reward, verdict, solved: isRight } = score(task, wrapAnswer(changed, "answer_tag"));
          expect(reward).toBeLessThanOrEqual(best);
          if (verdict === "feasible" || isRight) feasible++;
        }),
        { numRuns: share(600) },
      );
      expect(feasible).toBeGreaterThan(0);
    },
  },
  {
    title: "random completions are malformed, infeasible or trivial",
    // A letter is right by chance, and so is "5".
    appliesTo: ({ id }) => !CHOICES.includes(id),
    check({ environment, level, tasks }) {
      // With fewer than a thousand possible answers, a random one is soon right by chance.
      if (level.small === true) return;
      const issued = tasks[0] as Issued;
      // A short answer, such as an independent set of two, is hit by chance now and then: texts are the same ones each time.
      for (const format of environment.answerFormats) {
        const task = scoreTask(environment, issued, format);
        fc.assert(
          fc.property(anyText, (inner) => {
            for (const completion of [inner, wrapAnswer(inner, format)]) {
              expect(isNoBetterThanTrivial(task, score(task, completion))).toBe(true);
            }
          }),
          { numRuns: share(200), seed: 11 },
        );
      }
    },
  },
];

/** One arbitrary for all laws, because making it builds a list of a million characters. */
const anyText = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.stringMatching(/^[[\](){}0-9, +*/=-]{0,30}$/));

/** The answer after one to three changes. */
function changedAnswer(answer: unknown, outside: number): fc.Arbitrary<unknown> {
  const change = (before: unknown, pick: number): unknown => {
    const all = [...changesOf(before, outside)];
    return all[pick % all.length]?.answer ?? before;
  };
  return fc.array(fc.nat(), { minLength: 1, maxLength: 3 }).map((picks) => picks.reduce(change, answer));
}

/** Held at an environment's first level alone, for it takes seconds. */
export const longLaw: Law = {
  title: "empty and long hostile completions are malformed, infeasible or trivial",
  appliesTo: every,
  check({ environment, tasks }) {
    const issued = tasks[0] as Issued;
    let turn = 0;
    for (const text of hostileTexts(1 << 18)) {
      const format = environment.answerFormats[turn++ % environment.answerFormats.length];
      const task = scoreTask(environment, issued, format ?? "boxed");
      const scored = score(task, text);
      expect(isNoBetterThanTrivial(task, scored)).toBe(true);
      expect(Buffer.byteLength(scored.violation)).toBeLessThanOrEqual(512);
      expect(scored.violation === "").toBe(scored.verdict === "feasible" || scored.solved);
    }
    for (const format of environment.answerFormats) {
      for (const completion of ["", wrapAnswer("", format)]) {
        expect(score(scoreTask(environment, issued, format), completion).verdict).toBe("malformed");
      }
    }
  },
};
