/** Tests the properties that every environment's pictures have, whatever the answer. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wrapAnswer } from "../../envs/answers/wording.ts";
import { drawCompletion, drawTask } from "../../pictures/draw.ts";
import { stripAnswer } from "../../envs/answers/strip.ts";
import type { Environment, Parameters, SyncEnvironment } from "../../envs/environment.ts";
import { framed } from "../../pictures/lib/frame.ts";
import { drawingOf } from "../../pictures/drawings.ts";
import { capitals } from "../support/environments/capitals/index.ts";
import type { Shape } from "../../envs/picture.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { resolveParameters } from "../../envs/parameters.ts";
import { environments } from "../../envs/registry.ts";
import { share } from "../support/share.ts";
import { cases, issue } from "../envs/every.ts";
import { hostileTexts } from "../envs/hostile.ts";
import { mutated } from "../envs/mutated.ts";
import { expectWellFormed } from "./looks.ts";

/** Checks the size at the papers' levels, so that a report of a thousand pictures can still be opened. */
const BYTES_MAX = 60_000;
/** Largest picture, in bytes, for any parameters and any answer that can be read. */
const BYTES_MAX_EVER = 1_000_000;

function drawn(environment: Environment, instance: unknown, answer?: string): string {
  return drawTask(environment, instance, answer) ?? "no picture";
}

/** The solver's answer; of a math problem the one that its row has. */
function rightAnswer({ solver }: Environment, instance: unknown): string {
  if (solver !== undefined) return solver.format(solver.solve(instance).answer);
  return (instance as { readonly answer: string }).answer;
}

function headlineOf(environment: SyncEnvironment, instance: unknown): string {
  if (environment.goal === "satisfy") return "✓ right";
  return `✓ feasible and optimal: ${environment.solver?.solve(instance).value}`;
}

const drawing = cases.filter(({ environment }) => drawingOf(environment) !== undefined);

describe.each(drawing)("$title", (each) => {
  const { environment, level } = each;
  const { instance } = issue(each, 11n, level.evaluationOnly ? "eval" : "train");
  const best = rightAnswer(environment, instance);

  test("the instance and its best answer are drawn, the same each time", () => {
    const plain = drawn(environment, instance);
    const solved = drawn(environment, instance, best);
    for (const svg of [plain, solved]) {
      expectWellFormed(svg);
      expect(svg.length).toBeLessThan(BYTES_MAX);
    }
    expect(solved).toContain(headlineOf(environment, instance));
    expect([drawTask(environment, instance), drawTask(environment, instance, best)]).toEqual([plain, solved]);
    expect(drawCompletion(environment, instance, "boxed", wrapAnswer(best, "boxed"))).toBe(solved);
  });

  test("answers near the best are drawn, with what the verifier says of them", () => {
    const property = fc.property(mutated(best), (text) => {
      const svg = drawn(environment, instance, text);
      expectWellFormed(svg);
      expect(svg.length).toBeLessThan(BYTES_MAX);
      const parsed = environment.parse(stripAnswer(text), instance);
      const facts = parsed.kind === "answer" ? environment.verify(instance, parsed.answer) : parsed;
      if (facts.kind === "graded") expect(svg).toContain(facts.solved ? "✓ right" : "✗ ");
      else expect(svg).toContain(facts.kind === "feasible" ? "✓" : `✗ ${facts.kind}: `);
    });
    fc.assert(property, { seed: 7, numRuns: share(12) });
  });
});

/** Each environment draws one in this many of the hostile texts, the next one others: all use one code to escape. */
const TURNS = 12;

/**
 * Draws each environment at its first and smallest level, because the rest of a picture does not change the effect of a
 * text.
 */
const drawers = [...new Map(drawing.toReversed().map((each) => [each.environment, each])).values()];

describe.each(drawers.map((each, i) => ({ ...each, i, id: each.environment.id })))("$id", (each) => {
  const { environment, i } = each;
  const { instance } = issue(each, 5n, "train");

  test("hostile completions are drawn as malformed or infeasible", () => {
    for (const [at, text] of [...hostileTexts(5000)].entries()) {
      if (at % TURNS !== (Math.floor(at / TURNS) + i) % TURNS) continue;
      // A completion without the marks has no answer and always gives one picture, so its text is drawn as an answer
      // instead.
      const svg = text.includes("<answer>")
        ? (drawCompletion(environment, instance, "answer_tag", text) ?? "no picture")
        : drawn(environment, instance, text.slice(0, 300));
      expectWellFormed(svg);
      expect(svg.length).toBeLessThan(BYTES_MAX);
    }
  });

  test("a completion without an answer says what it lacks", () => {
    const svg = drawCompletion(environment, instance, "answer_tag", "I do not know.");
    expect(svg).toContain("✗ malformed: no closed &lt;answer&gt; block");
  });
});

/** The largest that the parameters allow, and as dense. */
const LARGEST: Readonly<Record<string, Parameters>> = {
  "np/bisection": { vertices_min: 52, vertices_max: 52, density: 0.7, noise: 1 },
  "np/clique": { vertices_min: 128, vertices_max: 128, density: 1 },
  "np/coloring": { vertices_min: 70, vertices_max: 70, colors_min: 50, colors_max: 50, density: 1 },
  "np/hamiltonian": { vertices_min: 60, vertices_max: 60, density: 1 },
  "np/independent-set": { vertices_min: 128, vertices_max: 128, density_min: 1, density_max: 1 },
  "np/knapsack": { items_min: 500, items_max: 500 },
  "np/meetings": {
    meetings_min: 11,
    meetings_max: 11,
    attendees_min: 14,
    attendees_max: 14,
    rooms_min: 10,
    rooms_max: 10,
    size_max: 8,
  },
  "np/set-cover": { elements_min: 70, elements_max: 70, subsets_min: 70, subsets_max: 70, subset_size_factor: 1 },
  "np/subset-sum": { numbers_min: 500, numbers_max: 500, value_max: 100_000 },
  "np/tsp": { cities_min: 200, cities_max: 200, distance_min: 0, distance_max: 1 },
};

/** Answers of a thousand entries, all that a parser lets through. */
function longAnswers(id: string): readonly string[] {
  const list = (entry: (i: number) => string): string =>
    `[${Array.from({ length: 1000 }, (_, i) => entry(i)).join(", ")}]`;
  const numbers = [list((i) => `${i % 137}`), list(() => "0"), list((i) => `${i}`), list(() => "-1")];
  if (id === "np/bisection") return numbers.map((one) => `[${one}, ${one}]`);
  if (id !== "np/meetings") return numbers;
  const clock = (i: number): string => `${`${i % 24}`.padStart(2, "0")}:00`;
  return [
    list((i) => `(${i % 40}, ${i % 20}, ${clock(i)})`),
    list(() => "(0, 0, 23:59)"),
    list((i) => `(${i}, -1, 00:00)`),
  ];
}

test.each(Object.keys(LARGEST))("the largest %s, with long answers, makes no large picture", (id) => {
  const environment = environments.find((each) => each.id === id) as Environment;
  const parameters = resolveParameters(environment, { ...environment.levels.at(-1)?.parameters, ...LARGEST[id] });
  if (parameters.kind !== "ok") throw new Error(parameters.message);
  const instance = environment.generator?.generate(parameters.parameters, rngFor("largest", id));
  if (instance === undefined) throw new Error("no instance");
  for (const text of longAnswers(id)) {
    const parsed = environment.parse(text, instance);
    if (parsed.kind !== "answer") throw new Error(parsed.reason);
    const svg = framed(drawingOf(environment)!(instance, parsed.answer, parsed.answer), []);
    expectWellFormed(svg);
    expect(svg.length).toBeLessThan(BYTES_MAX_EVER);
  }
});

test("an environment from elsewhere is drawn by the picture that it brings", () => {
  const question = { question: "What is the capital of France?", answer: "Paris" };
  const shape: Shape = { tag: "circle", attributes: { r: 3.04 }, content: [] };
  const draw = () => ({ width: 9, height: 9, shapes: [shape], legend: [], notes: ["a capital"] });
  expect(drawTask(capitals, question)).toBeUndefined();
  const svg = drawTask({ ...capitals, draw }, question);
  expect(svg).toContain('<circle r="3"/>');
  expect(svg).toContain("a capital");
});
