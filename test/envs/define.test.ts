/** Tests the defaults that defineEnvironment adds, and the author's mistakes for which it throws. */
import { describe, expect, test } from "vitest";
import { defineEnvironment, defineGenerator } from "../../envs/define.ts";
import type { SyncDefinition } from "../../envs/environment.ts";
import { defineParameters, minMax, ranges, resolveParameters } from "../../envs/parameters.ts";

interface Sum {
  readonly a: number;
  readonly b: number;
}

const bare: SyncDefinition<Sum, number> = {
  id: "test/sum",
  version: 1,
  description: "Add two numbers.",
  render: ({ a, b }) => [{ role: "user", content: `${a} + ${b}` }],
  parse: (text) => ({ kind: "answer", answer: Number(text) }),
  verify: ({ a, b }, answer) =>
    answer === a + b ? { kind: "feasible" } : { kind: "infeasible", violation: "it is another number" },
};

const rows = { read: () => ({ kind: "answer", answer: { a: 1, b: 2 } }) as const };
const solver = {
  solve: ({ a, b }: Sum) => ({ answer: a + b, value: 1, bound: 1, proven: true, nodes: 0 }),
  format: (answer: number) => `${answer}`,
};
const parameters = defineParameters({
  ...minMax("term", ["Smallest term.", "Largest term."], [1, 9], { min: 0, max: 99, integer: true }),
});
const generator = defineGenerator({
  parameters,
  levels: [{ name: "easy", description: "", parameters: ranges({ term: [1, 9] }) }],
  generate: ({ term_min, term_max }, rng) => ({ a: rng.int(term_min, term_max), b: rng.int(term_min, term_max) }),
});

describe("an environment of its core alone", () => {
  const environment = defineEnvironment(bare);

  test("has every default", () => {
    expect(environment).toMatchObject({ goal: "satisfy", levels: [], rewardSchemes: ["graded"] });
    expect(environment.answerFormats).toEqual(["think_answer", "answer_line", "answer_tag", "boxed"]);
    expect(environment.canonical({ a: 1, b: 2 })).toBe('{"a":1,"b":2}');
    expect(environment.metadata({ a: 1, b: 2 })).toEqual({});
  });

  test("has no capability", () => {
    for (const name of ["generator", "solver", "rows", "inline", "trivial", "draw", "shape"])
      expect(environment).not.toHaveProperty(name);
    const message = "test/sum has no generator, and so takes no parameters";
    expect(resolveParameters(environment, {})).toEqual({ kind: "invalid", field: "parameters", message });
  });

  test("keeps what its author says", () => {
    const own = { answerFormats: ["boxed"], rewardSchemes: ["binary"], canonical: () => "same" } as const;
    const said = defineEnvironment({ ...bare, ...own });
    expect([said.answerFormats, said.rewardSchemes]).toEqual([["boxed"], ["binary"]]);
    expect(said.canonical({ a: 1, b: 2 })).toBe("same");
  });
});

test.each([
  ["neither solver nor trivial answer", {}, ["binary"]],
  ["a solver", { solver }, ["quality", "binary", "optimal_only"]],
  ["a trivial answer", { trivial: (): number => 0 }, ["binary", "coarse"]],
  ["both", { solver, trivial: (): number => 0 }, ["quality", "binary", "optimal_only", "coarse", "normalized"]],
] as const)("something to maximise with %s is priced by what can be measured", (_, more, schemes) => {
  expect(defineEnvironment({ ...bare, goal: "maximize", ...more }).rewardSchemes).toEqual(schemes);
});

describe("components of what is graded", () => {
  const component = (name: string) => ({ name, description: "", weight: 1 });
  const graded =
    (primary: string, ...names: readonly string[]) =>
    () =>
      defineEnvironment({ ...bare, grading: { primary, components: names.map(component) } });

  test("are weighed, and one of them is the primary", () => {
    expect(graded("a", "a", "b")().rewardSchemes).toEqual(["weighted", "graded"]);
    expect(graded("c", "a", "b")).toThrow("test/sum: there is no component 'c'");
  });

  test.each(["a", "format", "format_strict", "tags"])("%s comes once", (name) => {
    expect(graded("a", "a", name)).toThrow(`test/sum: two components have the name '${name}'`);
  });
});

describe("levels", () => {
  test("are the generator's, and rows say which they belong to", () => {
    const environment = defineEnvironment({ ...bare, generator, rows: { ...rows, levelOf: () => "easy" } });
    expect(environment.levels).toBe(generator.levels);
    expect(environment.rows?.levelOf({ a: 1, b: 2 })).toBe("easy");
  });

  test("of rows alone are one, or those that they have", () => {
    const one = defineEnvironment({ ...bare, rows });
    expect(one.levels).toEqual([{ name: "all", description: "every row", parameters: {} }]);
    expect(one.rows?.levelOf({ a: 1, b: 2 })).toBe("all");
    const levels = [
      { name: "small", description: "below 10" },
      { name: "large", description: "the rest" },
    ];
    const two = defineEnvironment({
      ...bare,
      rows: { ...rows, levels, levelOf: ({ a }) => (a < 10 ? "small" : "large") },
    });
    expect(two.levels.map(({ name }) => name)).toEqual(["small", "large"]);
    expect(two.rows?.levelOf({ a: 10, b: 0 })).toBe("large");
    expect(() => defineEnvironment({ ...bare, rows: { ...rows, levels } })).toThrow(
      "rows must define levelOf, because there are 2",
    );
    expect(() => defineEnvironment({ ...bare, generator, rows: { ...rows, levels } })).toThrow("remove rows.levels");
  });
});

describe("parameters", () => {
  test("with a default out of range are refused", () => {
    const size = { description: "", min: 1, max: 9, defaultValue: 10, integer: true };
    expect(() => defineParameters({ size })).toThrow("size must be from 1 to 9; got 10");
  });

  test("are known to the type checker by their names", () => {
    // Each of these lines does not compile without the comment above it.
    const partial = { name: "", description: "", parameters: { term_min: 1 } };
    // @ts-expect-error a level lacks term_max
    defineGenerator({ parameters, levels: [partial], generate: () => 1 });
    // @ts-expect-error there is no parameter of this name
    const generate = defineGenerator({ parameters, levels: [], generate: ({ term }) => Number(term) });
    expect(generate.parameters.map(({ name }) => name)).toEqual(["term_min", "term_max"]);
  });
});
