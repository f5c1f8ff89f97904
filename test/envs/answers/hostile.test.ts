/**
 * Wrong answers in every wrapping, environment and answer format: none gets in. Texts that must never count, such as two
 * answers in one block, and mutations of right answers, which may count only where an oracle that shares no code with
 * the parsers finds that their digits spell a right one. HOSTILE_SHARE=1 tries every wrapping.
 */
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { locateAnswers } from "../../../envs/answers/locate.ts";
import { score } from "../../../envs/score.ts";
import { synchronous, scoreTask, ungraded } from "../every.ts";
import { mutated } from "../mutated.ts";
import { share } from "../../support/share.ts";
import { isReallyFeasible } from "./oracle.ts";
import { DOUBTFUL } from "./wrappings.ts";
import {
  completionsOf,
  contradictions,
  issuedOf,
  misplaced,
  neverAnswers,
  ownTexts,
  type Subject,
  subjectOf,
} from "./wrong.ts";

const MUTATIONS = share(120);

let tried = 0;
const accepted: string[] = [];

function tryIt({ id }: SyncEnvironment, subject: Subject, format: AnswerFormat, completion: string): void {
  tried++;
  if (subject.isTaken(format, completion)) accepted.push(`${id}, ${format}: ${JSON.stringify(completion)}`);
}

function tryAll(environment: SyncEnvironment, subject: Subject, text: string): void {
  for (const [format, completion] of completionsOf(environment, text)) tryIt(environment, subject, format, completion);
}

describe.each(synchronous.map((environment) => [environment.id, environment] as const))("%s", (_, environment) => {
  const subject = subjectOf(environment);

  test("neither a wrong answer nor one that is taken back or doubled gets in by a wrapping", () => {
    const before = accepted.length;
    for (const text of [subject.wrong, ...contradictions(subject)]) tryAll(environment, subject, text);
    expect(accepted.slice(before)).toEqual([]);
  });

  test("a right answer gets in by no place where none counts", () => {
    const before = accepted.length;
    for (const format of environment.answerFormats)
      for (const completion of misplaced(subject, format)) tryIt(environment, subject, format, completion);
    expect(accepted.slice(before)).toEqual([]);
  });

  test("where the trainer says that the completion was cut, no mark may be missing", () => {
    const issued = issuedOf(environment);
    for (const format of environment.answerFormats) {
      const task = scoreTask(environment, issued, format);
      for (const { write } of DOUBTFUL[format]) {
        const completion = write(subject.right) ?? "";
        if (locateAnswers(completion, format).formatValid) continue;
        expect(score(task, completion)).toMatchObject({
          solved: true,
          verdict: expect.not.stringMatching("malformed") as unknown,
        });
        expect(score({ ...task, wasCut: true }, completion)).toMatchObject({ solved: false, verdict: "malformed" });
      }
    }
  });
});

describe.each(ungraded.map((environment) => [environment.id, environment] as const))("%s", (id, environment) => {
  const subject = subjectOf(environment);

  test("the oracle knows the right answer from the wrong one", () => {
    expect(isReallyFeasible(environment, subject.instance, subject.right)).toBe(true);
    expect(isReallyFeasible(environment, subject.instance, subject.wrong)).toBe(false);
  });

  test("what is no answer gets in by no wrapping", () => {
    const before = accepted.length;
    // An amount may have a point after it, and zeros, unlike the numbers of vertices.
    const isAmount = (text: string): boolean =>
      id === "tools/ledger" && [`${subject.right}.`, `${subject.right}.0`].includes(text);
    for (const text of [...neverAnswers(subject), ...ownTexts(id, subject)])
      if (!isAmount(text)) tryAll(environment, subject, text);
    expect(accepted.slice(before)).toEqual([]);
  });

  test("nor does what is infeasible, by the oracle", () => {
    const before = accepted.length;
    const mutations = fc.sample(mutated(subject.right), { numRuns: MUTATIONS, seed: 8 });
    const wrong = mutations.filter((text) => !isReallyFeasible(environment, subject.instance, text));
    expect(wrong.length).toBeGreaterThan(MUTATIONS / 10);
    for (const text of wrong) tryAll(environment, subject, text);
    expect(accepted.slice(before)).toEqual([]);
  });
});

afterAll(() => {
  console.log(`hostile: ${tried} wrong answers tried, ${accepted.length} accepted`);
  expect(tried).toBeGreaterThan(100_000);
  expect(accepted).toEqual([]);
});
