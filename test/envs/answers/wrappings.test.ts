/**
 * Right answers as people and models write them, in every environment and answer format: none is refused. Each wrapping
 * and spelling comes alone; then several at once, drawn from a seed.
 */
import { afterAll, describe, expect, test } from "vitest";
import { stripAnswer } from "../../../envs/answers/strip.ts";
import { wrapAnswer } from "../../../envs/answers/wording.ts";
import type { SyncEnvironment } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { type Rng, rngFor } from "../../../envs/lib/rng.ts";
import { score, type ScoreTask } from "../../../envs/score.ts";
import { type Case, cases, issue, scoreTask, synchronous } from "../every.ts";
import { LABELS, MARKINGS, spellingsOf, type Way, WRAPPINGS } from "./wrappings.ts";

/** Tasks of an environment, one of each of its first levels. */
const TASKS = 3;
/** Compositions of each environment, format and seed. WRAPPING_SEEDS=1,2,3 sets other seeds. */
const COMPOSITIONS = 120;
const SEEDS = (process.env.WRAPPING_SEEDS ?? "1,2,3,4").split(",");

interface Right {
  readonly text: string;
  readonly taskOf: (format: AnswerFormat) => ScoreTask;
}

/** The solver's answer; of a row its own. */
function rightAnswer({ id, solver }: SyncEnvironment, instance: unknown): string {
  if (solver !== undefined) return solver.format(solver.solve(instance).answer);
  const { answer } = instance as { readonly answer?: unknown };
  if (typeof answer !== "string") throw new Error(`${id} has neither a solver nor rows with an answer`);
  return answer;
}

function rightAnswers(environment: SyncEnvironment): readonly Right[] {
  const own = cases.filter((each) => each.environment === environment && each.level.evaluationOnly !== true);
  return Array.from({ length: TASKS }, (_, i) => {
    const issued = issue(own[i % own.length] as Case, BigInt(i), "train");
    return {
      text: rightAnswer(environment, issued.instance),
      taskOf: (format) => scoreTask(environment, issued, format),
    };
  });
}

/** An answer as a way writes it; or as it is, where that cannot. */
const written = (text: string, ...ways: readonly Way[]): string =>
  ways.reduce((inner, { write }) => write(inner) ?? inner, text);

let tried = 0;
const refused: string[] = [];

function tryIt(right: Right, format: AnswerFormat, completion: string, what: string): void {
  const { solved, violation } = score(right.taskOf(format), completion);
  tried++;
  if (!solved) refused.push(`${format}: ${what}: ${JSON.stringify(completion.slice(-300))}: ${violation}`);
}

/** A completion of one to three wrappings, one in four times with a label, of a spelling, in a marking. */
function composed(right: Right, environment: SyncEnvironment, format: AnswerFormat, rng: Rng): void {
  const spelling = rng.pick([...spellingsOf(environment.id), ...WRAPPINGS.slice(0, 1)]);
  const wrappings = Array.from({ length: rng.int(1, 3) }, () => rng.pick(WRAPPINGS));
  // In answer_line a label that starts a line is a mark of the format's own, and the text around it goes elsewhere.
  if (rng.int(0, 3) === 0)
    wrappings.splice(format === "answer_line" ? wrappings.length : rng.int(0, 3), 0, rng.pick(LABELS));
  const marking = rng.pick(MARKINGS[format]);
  const completion = written(right.text, spelling, ...wrappings, marking);
  tryIt(right, format, completion, [spelling, ...wrappings, marking].map(({ name }) => name).join(" + "));
}

describe.each(synchronous.map((environment) => [environment.id, environment] as const))("%s", (id, environment) => {
  const rights = rightAnswers(environment);

  test.each(environment.answerFormats)("%s: no wrapping, label, marking or spelling is refused", (format) => {
    const before = refused.length;
    for (const right of rights) {
      for (const way of [...WRAPPINGS, ...LABELS, ...spellingsOf(id)]) {
        tryIt(right, format, wrapAnswer(written(right.text, way), format), way.name);
      }
      for (const way of MARKINGS[format]) tryIt(right, format, written(right.text, way), way.name);
    }
    expect(refused.slice(before)).toEqual([]);
  });

  test.each(environment.answerFormats)("%s: nor several at once", (format) => {
    const before = refused.length;
    for (const seed of SEEDS) {
      const rng = rngFor("wrappings", id, format, seed);
      for (let i = 0; i < COMPOSITIONS; i++) composed(rng.pick(rights), environment, format, rng);
    }
    expect(refused.slice(before)).toEqual([]);
  });

  test("what an environment writes itself is left as it is", () => {
    for (const { text } of rights) expect(stripAnswer(text)).toBe(text);
  });
});

afterAll(() => {
  console.log(`wrappings: ${tried} right answers tried, ${refused.length} refused`);
  expect(tried).toBeGreaterThan(10_000);
  expect(refused).toEqual([]);
});
