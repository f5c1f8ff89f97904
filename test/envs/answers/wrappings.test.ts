/**
 * Right answers as people and models write them, in every environment and answer format: none is refused. Each wrapping
 * and spelling comes alone; then several at once, drawn from a seed. WRAPPING_SEEDS=1,2,3 draws from other seeds.
 */
import { afterAll, describe, expect, test } from "vitest";
import { stripAnswer } from "../../../envs/answers/strip.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import { environments } from "../../../envs/registry.ts";
import { composed, rightAnswers, single, type Right, type Trial } from "./right.ts";

/** Compositions of each environment, format and seed. WRAPPING_SEEDS=1,2,3 sets other seeds. */
const COMPOSITIONS = 120;
const SEEDS = (process.env.WRAPPING_SEEDS ?? "1,2,3,4").split(",");

let tried = 0;
const refused: string[] = [];

function tryIt({ problem }: Right, { format, completion, what }: Trial): void {
  const found = problem(format, completion);
  tried++;
  if (found !== undefined) refused.push(`${format}: ${what}: ${JSON.stringify(completion.slice(-300))}: ${found}`);
}

describe.each(environments.map((environment) => [environment.id, environment] as const))("%s", (id, environment) => {
  const rights = rightAnswers(environment);

  test.each(environment.answerFormats)("%s: no wrapping, label, marking or spelling is refused", (format) => {
    const before = refused.length;
    for (const right of rights) for (const trial of single(environment, right, format)) tryIt(right, trial);
    expect(refused.slice(before)).toEqual([]);
  });

  test.each(environment.answerFormats)("%s: nor several at once", (format) => {
    const before = refused.length;
    for (const seed of SEEDS) {
      const rng = rngFor("wrappings", id, format, seed);
      for (let i = 0; i < COMPOSITIONS; i++) {
        const right = rng.pick(rights);
        tryIt(right, composed(environment, right, format, rng));
      }
    }
    expect(refused.slice(before)).toEqual([]);
  });

  test("what an environment writes itself is left as it is", () => {
    if (environment.verbatim === true) return;
    for (const { text } of rights) expect(stripAnswer(text, environment.answerNames)).toBe(text);
  });
});

afterAll(() => {
  console.log(`wrappings: ${tried} right answers tried, ${refused.length} refused`);
  expect(tried).toBeGreaterThan(10_000);
  expect(refused).toEqual([]);
});
