import { describe, expect, test } from "vitest";
import { fromInteger } from "../../../../envs/lib/rational.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { generator } from "../../../../envs/math/linear/generate.ts";
import { linear } from "../../../../envs/math/linear/index.ts";
import { solveLinear } from "../../../../envs/math/linear/solve.ts";
import type { LinearInstance, Relation, Term } from "../../../../envs/math/linear/statement.ts";
import { isInequality, texsOf, textsOf } from "../../../../envs/math/linear/statement.ts";
import { invariantOf } from "../../../../envs/splits.ts";
import { type Fraction, fraction, fractionOf, minus, plus, valueOf } from "../reference.ts";

const { levels } = generator;

function drawn(level: (typeof levels)[number], count: number): readonly LinearInstance[] {
  return Array.from({ length: count }, (_, i) => {
    const instance = generator.generate(level.parameters, rngFor("linear", level.name, i));
    if (instance === undefined) throw new Error(`attempt ${i} gives no instance`);
    return instance;
  });
}

function answerTo(instance: LinearInstance): string {
  return linear.solver!.format(linear.solver!.solve(instance).answer);
}

/** Returns whether the written statement is true for these values. */
function holds(text: string, values: Readonly<Record<string, Fraction>>): boolean {
  const [, left = "", relation = "", right = ""] = /^(.*?) (<=|>=|<|>|=) (.*)$/.exec(text) ?? [];
  const { num } = minus(valueOf(left, values), valueOf(right, values));
  if (relation === "=") return num === 0n;
  if (num === 0n) return relation.endsWith("=");
  return relation.startsWith("<") === num < 0n;
}

/** Expects that the conditions hold or fail, at the answer's bound and just beside it, as the answer says. */
function expectSolves(instance: LinearInstance, answer: string): void {
  const given = answer.split(", ").map((part) => part.split(" ") as [string, Relation, string]);
  const values = Object.fromEntries(given.map(([name, , value]) => [name, fractionOf(value)]));
  if (!isInequality(instance)) {
    for (const text of textsOf(instance)) expect(holds(text, values), `${text}: ${answer}`).toBe(true);
    return;
  }
  const [[name, relation, value]] = given as [[string, Relation, string]];
  const [text = ""] = textsOf(instance);
  const at = (moved: Fraction): boolean => holds(text, { [name]: plus(fractionOf(value), moved) });
  const [below, above] = [at(fraction(-1n, 1000n)), at(fraction(1n, 1000n))];
  expect([below, at(fraction(0n)), above], `${text}: ${answer}`).toEqual([
    ...[relation.startsWith("<"), relation.endsWith("="), relation.startsWith(">")],
  ]);
}

describe.each(levels)("$name", (level) => {
  const instances = drawn(level, 300);

  test("the solution solves what is written, worked out apart", () => {
    for (const instance of instances) expectSolves(instance, answerTo(instance));
  });

  test("there are many different tasks, none of which is trivial", () => {
    expect(new Set(instances.map((instance) => invariantOf(linear, instance))).size).toBeGreaterThan(295);
    for (const instance of instances) {
      expect(answerTo(instance)).not.toMatch(/^[a-z] \S+ -?[012]$/);
      for (const text of textsOf(instance)) {
        const used = instance.names.filter((name) => text.includes(name));
        expect(used.length).toBeGreaterThanOrEqual(Math.min(2, instance.names.length));
      }
    }
  });

  test("the work is within the level's range", () => {
    const { work_min, work_max } = level.parameters as { readonly work_min: number; readonly work_max: number };
    for (const instance of instances) {
      const work = solveLinear(instance)?.work ?? -1;
      expect([work >= work_min, work <= work_max]).toEqual([true, true]);
    }
  });
});

test("each level takes more work than the one before", () => {
  const ranges = levels.map(({ parameters }) => [parameters["work_min"], parameters["work_max"]] as [number, number]);
  for (const [i, [least]] of ranges.entries()) if (i > 0) expect(least).toBeGreaterThan(ranges[i - 1]![1]);
});

const unknown = (index: number, coefficient: number): Term => ({
  kind: "unknown",
  index,
  coefficient: fromInteger(coefficient),
});
const constant = (value: number): Term => ({ kind: "constant", value: fromInteger(value) });

/** 2x + y = 5, x − y = 4: x = 3, y = −1. */
const SYSTEM: LinearInstance = {
  names: ["x", "y"],
  statements: [
    { left: [unknown(0, 2), unknown(1, 1)], relation: "=", right: [constant(5)] },
    { left: [unknown(0, 1), unknown(1, -1)], relation: "=", right: [constant(4)] },
  ],
};
/** 5 − 2(a + 1) < 9: a > −3. */
const INEQUALITY: LinearInstance = {
  names: ["a"],
  statements: [
    {
      left: [constant(5), { kind: "group", factor: fromInteger(-2), terms: [unknown(0, 1), constant(1)] }],
      relation: "<",
      right: [constant(9)],
    },
  ],
};
/** 2x + 5 = 8x: x = 5/6. */
const EQUATION: LinearInstance = {
  names: ["x"],
  statements: [{ left: [unknown(0, 2), constant(5)], relation: "=", right: [unknown(0, 8)] }],
};

test("what is written", () => {
  expect(textsOf(SYSTEM)).toEqual(["2x + y = 5", "x - y = 4"]);
  expect(textsOf(INEQUALITY)).toEqual(["5 - 2(a + 1) < 9"]);
  const half = { num: -1, den: 2 };
  const statement = { left: [{ ...unknown(0, 1), coefficient: half }], relation: "<=", right: [] } as const;
  const instance = { names: ["p"], statements: [statement] } as LinearInstance;
  expect([textsOf(instance), texsOf(instance)]).toEqual([["-(1/2)p <= 0"], [String.raw`-\frac{1}{2}p \le 0`]]);
});

test("equations without a solution, or with more than one, are told", () => {
  const [first] = SYSTEM.statements;
  for (const right of [5, 6]) {
    const statements = [first!, { ...first!, right: [constant(right)] }];
    expect(solveLinear({ ...SYSTEM, statements })).toBeUndefined();
  }
  expect(solveLinear({ ...SYSTEM, statements: [first!] })).toBeUndefined();
});

function verdict(instance: LinearInstance, text: string): string {
  const parsed = linear.parse(text, instance);
  if (parsed.kind === "malformed") return parsed.kind;
  const facts = linear.verify(instance, parsed.answer);
  return facts.kind === "graded" && facts.solved ? "right" : "wrong";
}

describe("of a system", () => {
  test.each([
    ...[
      "x = 3, y = -1",
      "y = -1, x = 3",
      "x=3,y=-1",
      "x = 3 and y = -1",
      "x = 3, and y = -1",
      "x = 3; y = -1",
      "x = 3\ny = -1",
    ],
    ...[
      "(x, y) = (3, -1)",
      "(3, -1)",
      "( 3 , −1 )",
      "x = 6/2, y = -1.0",
      "x = 3,\\ y = -1",
      "x = 3 \\text{ and } y = -1",
    ],
    ...[
      "\\left(3, -1\\right)",
      ...["$x = 3$, $y = -1$", "$x = 3$ and $y = -1$", "$x = 3$ $y = -1$", "$y = -1$\n$x = 3$", "3 = x, -1 = y"],
      ...[
        "x = \\boxed{3}, y = \\boxed{-1}",
        "y = \\boxed{-1}, x = \\boxed{3}",
        "\\boxed{x = 3, y = -1}",
        "(x, y) = \\boxed{(3, -1)}",
      ],
      ...[
        "The solution is x = 3, y = -1",
        "\\begin{pmatrix}3\\\\-1\\end{pmatrix}",
        "x = 3\\qquad y = -1",
        "**x = 3, y = -1**",
      ],
      "\\begin{cases} x = 3 \\\\ y = -1 \\end{cases}",
      "x = 3 \\quad y = -1",
      "x = \\frac{6}{2}, y = -1",
    ],
  ])("%s is right", (text) => {
    expect(verdict(SYSTEM, text)).toBe("right");
  });

  test.each([
    "y = \\boxed{3}, x = \\boxed{-1}",
    "x = 3\\\\ y = 1",
    "x = -1, y = 3",
    "(-1, 3)",
    "x = 3, y = 1",
    "x = 1 1/2, y = -1",
    "x = 3, y = -1/2",
  ])("%s is wrong", (text) => {
    expect(verdict(SYSTEM, text)).toBe("wrong");
  });

  test.each([
    ...[
      "2x + y = 5, x - y = 4",
      "x = 3",
      "3, -1",
      "3",
      "x = 3, y = -1, x = 3",
      "x = 3, x = 3, y = -1",
      "x = 3, y = 2 - x",
      ...[
        "x = 3&1, y = -1",
        "x = \\left3\\right1, y = -1",
        "x = 3 y = -1",
        "\\boxed{3}, \\boxed{-1}",
        "x = 3 \\approx 4, y = -1",
      ],
    ],
    ...[
      "x = y + 4, y = -1",
      "",
      "x = 3, y =",
      "(3, -1, 0)",
      "{x: 3, y: -1}",
      "x = 3 or y = -1",
      "x > 3, y = -1",
      "z = 3, y = -1",
    ],
  ])("%s is malformed", (text) => {
    expect(verdict(SYSTEM, text)).toBe("malformed");
  });
});

describe("of one equation", () => {
  test.each([
    "x = 5/6 = 10/12",
    "5/6 = x",
    "x = \\boxed{5/6}",
    "The solution is $x = \\frac56$.",
    "x = 5/6",
    "5/6",
    "\\frac56",
    "x=\\frac{5}{6}",
    "10/12",
    "x = (5/6)",
  ])("%s is right", (text) => {
    expect(verdict(EQUATION, text)).toBe("right");
  });
  test.each(["x = 0.8333", "x = -5/6", "6/5", "x = 56"])("%s is wrong", (text) => {
    expect(verdict(EQUATION, text)).toBe("wrong");
  });
  test.each(["2x + 5 = 8x", "x = 5/6x", "x = 5/6 = 11/12", "y = 5/6", "6x = 5", "x > 5/6"])(
    "%s is malformed",
    (text) => {
      expect(verdict(EQUATION, text)).toBe("malformed");
    },
  );
});

describe("of an inequality", () => {
  test.each([
    ...[
      "a > -3",
      "-3 < a",
      "a>-3",
      "a > -6/2",
      "(-3, \\infty)",
      "a \\in (-3, \\infty)",
      "(-3, ∞)",
      "a \\gt -3",
      "(-3, +\\infty)",
      ...[
        "a > \\boxed{-3}",
        "\\boxed{a > -3}",
        "The solution is $a > -3$.",
        "\\{a \\mid a > -3\\}",
        "-3 \\lt a",
        "$(-3, \\infty)$",
      ],
    ],
  ])("%s is right", (text) => {
    expect(verdict(INEQUALITY, text)).toBe("right");
  });
  test.each([
    "a < \\boxed{-3}",
    "a < -3",
    "a >= -3",
    "a \\ge -3",
    "a > 3",
    "[-3, \\infty)",
    "(-\\infty, -3)",
    "-3 > a",
  ])("%s is wrong", (text) => {
    expect(verdict(INEQUALITY, text)).toBe("wrong");
  });
  test.each([
    "a = -3",
    "-3",
    "\\boxed{-3}",
    "a > -3&1",
    "a > 3 > -3",
    "5 - 2(a + 1) < 9",
    "-2a < 6",
    "a > -3 or a < 5",
    "-3 < a < 5",
    "(-3, 5)",
    "b > -3",
    "",
  ])("%s is malformed", (text) => {
    expect(verdict(INEQUALITY, text)).toBe("malformed");
  });
});
