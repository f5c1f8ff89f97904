import { describe, expect, test } from "vitest";
import type { Expression } from "../../../../envs/math/arithmetic/expression.ts";
import { texOf, textOf } from "../../../../envs/math/arithmetic/expression.ts";
import type { ArithmeticInstance } from "../../../../envs/math/arithmetic/generate.ts";
import { generator } from "../../../../envs/math/arithmetic/generate.ts";
import { arithmetic } from "../../../../envs/math/arithmetic/index.ts";
import { workOut } from "../../../../envs/math/arithmetic/solve.ts";
import { rngFor } from "../../../../envs/lib/rng.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { invariantOf } from "../../../../envs/splits.ts";
import { shown, valueOf } from "../reference.ts";

const { levels } = generator;

function drawn(level: (typeof levels)[number], count: number): readonly ArithmeticInstance[] {
  return Array.from({ length: count }, (_, i) => {
    const instance = generator.generate(level.parameters, rngFor("arithmetic", level.name, i));
    if (instance === undefined) throw new Error(`attempt ${i} gives no instance`);
    return instance;
  });
}

function answerTo(instance: ArithmeticInstance): string {
  return arithmetic.solver!.format(arithmetic.solver!.solve(instance).answer);
}

function verdict(instance: ArithmeticInstance, text: string): string {
  const parsed = arithmetic.parse(text, instance);
  if (parsed.kind === "malformed") return parsed.kind;
  const facts = arithmetic.verify(instance, parsed.answer);
  return facts.kind === "graded" && facts.solved ? "right" : "wrong";
}

const whole = (value: number): Expression => ({ kind: "integer", value });

describe.each(levels)("$name", (level) => {
  const instances = drawn(level, 300);

  test("the value is that of the expression as it is written, worked out apart", () => {
    for (const instance of instances) {
      expect(answerTo(instance), textOf(instance.expression)).toBe(shown(valueOf(textOf(instance.expression))));
    }
  });

  test("there are many different tasks, none of which gives its value away", () => {
    expect(new Set(instances.map((instance) => invariantOf(arithmetic, instance))).size).toBeGreaterThan(295);
    for (const instance of instances) {
      const value = answerTo(instance);
      expect(["-2", "-1", "0", "1", "2"]).not.toContain(value);
      expect(textOf(instance.expression).split(/[^\d./-]+/)).not.toContain(value);
    }
  });

  test("the work is within the level's range", () => {
    const { work_min, work_max } = level.parameters as { readonly work_min: number; readonly work_max: number };
    for (const { expression } of instances) {
      const work = workOut(expression, Infinity)?.work ?? -1;
      expect([work >= work_min, work <= work_max]).toEqual([true, true]);
    }
  });
});

test("each level takes more work than the one before", () => {
  const ranges = levels.map(({ parameters }) => [parameters["work_min"], parameters["work_max"]] as [number, number]);
  for (const [i, [least]] of ranges.entries()) if (i > 0) expect(least).toBeGreaterThan(ranges[i - 1]![1]);
});

describe("what is written", () => {
  const sum: Expression = { kind: "sum", left: whole(3), right: { kind: "fraction", num: 4, den: 5 } };
  test.each<readonly [Expression, string, string]>([
    [
      { kind: "product", left: sum, right: whole(-2) },
      "(3 + 4/5) * (-2)",
      String.raw`\left(3 + \frac{4}{5}\right) \cdot (-2)`,
    ],
    [{ kind: "quotient", left: whole(6), right: sum }, "6 / (3 + 4/5)", String.raw`\frac{6}{3 + \frac{4}{5}}`],
    [{ kind: "difference", left: whole(6), right: sum }, "6 - (3 + 4/5)", String.raw`6 - \left(3 + \frac{4}{5}\right)`],
    [{ kind: "power", base: whole(-4), exponent: 3 }, "(-4)^3", "(-4)^{3}"],
    [
      { kind: "percentage", percent: 15, of: sum },
      "(15% of (3 + 4/5))",
      String.raw`\left(15\%\text{ of }\left(3 + \frac{4}{5}\right)\right)`,
    ],
    [
      { kind: "remainder", of: { kind: "power", base: whole(7), exponent: 45 }, modulus: 23 },
      "(7^45 mod 23)",
      String.raw`\left(7^{45}\bmod 23\right)`,
    ],
    [{ kind: "decimal", units: 105, places: 2 }, "1.05", "1.05"],
    [
      { kind: "gcd", left: whole(24), right: whole(36) },
      "gcd(24, 36)",
      String.raw`\operatorname{gcd}\left(24,\ 36\right)`,
    ],
  ])("%# is %s", (expression, text, tex) => {
    expect([textOf(expression), texOf(expression)]).toEqual([text, tex]);
  });
});

test.each<readonly [string, Expression]>([
  [
    "divides by zero",
    { kind: "quotient", left: whole(3), right: { kind: "difference", left: whole(4), right: whole(4) } },
  ],
  [
    "multiplies by one",
    { kind: "product", left: whole(3), right: { kind: "difference", left: whole(5), right: whole(4) } },
  ],
  ["comes to zero", { kind: "difference", left: whole(4), right: whole(4) }],
  ["takes the remainder of a fraction", { kind: "remainder", of: { kind: "fraction", num: 1, den: 2 }, modulus: 5 }],
  ["takes the remainder of a smaller number", { kind: "remainder", of: whole(3), modulus: 5 }],
  ["asks for the divisor of a multiple", { kind: "gcd", left: whole(6), right: whole(12) }],
  ["has too many digits", { kind: "power", base: whole(99), exponent: 4 }],
])("no task %s", (_, expression) => {
  expect(workOut(expression, 6)).toBeUndefined();
});

describe("an answer", () => {
  /** 15% of 50 + 3^2 * 4 is 87/2. */
  const instance: ArithmeticInstance = {
    expression: {
      kind: "sum",
      left: { kind: "percentage", percent: 15, of: whole(50) },
      right: { kind: "product", left: { kind: "power", base: whole(3), exponent: 2 }, right: whole(4) },
    },
  };

  test.each([
    ...[
      "87/2",
      "43.5",
      "43.50",
      "+87/2",
      "\\frac{87}{2}",
      "\\dfrac{87}{2}",
      "43 1/2",
      "43\\frac{1}{2}",
      "= 87/2",
      "174/4",
    ],
    ...["(15% of 50) + 3^2 * 4 = 87/2", "87 / 2", "(87/2)", "\\frac{ 87 }{ 2 }", "８７/２", "--87/2"],
    ...[
      "87/2 = p",
      "p = \\boxed{87/2}",
      "p = 174/4 = 87/2",
      "The value is $\\frac{87}{2}$.",
      "\\boxed{p = 87/2}",
      "p\\approx\\boxed{87/2}",
    ],
    ...[
      "$(15\\% \\text{ of } 50) + 3^2 * 4$ = \\boxed{43.5}",
      "\\left(\\frac{87}{2}\\right)",
      "(15% of 50)+3^2*4=87/2",
      "43{,}5",
      "43,5",
    ],
  ])("%s is right", (text) => {
    expect(verdict(instance, text)).toBe("right");
  });

  test.each(["-87/2", "43", "87", "87/3", "43.49", "43.5000001", "1/2", "872", "2/87", "-43.5", "1e3"])(
    "%s is wrong",
    (text) => {
      expect(verdict(instance, text)).toBe("wrong");
    },
  );

  test.each([
    ...[
      "(15% of 50) + 3^2 * 4",
      "7.5 + 36",
      "87/2/1",
      "87*0.5",
      "",
      "=",
      "87/2 or 44",
      "87/2, 87/2",
      "43½½",
      "x",
      "4350%",
    ],
    ...[
      "3 = 87/2",
      "8\\boxed{7/2}",
      "8 7/2 + 0",
      ...[
        "8&7/2",
        "8\\left7/2",
        "8~7/2~",
        "8\\quad 7/2",
        "8\\\\7/2",
        "p = 87/2 = 44",
        "p > 87/2",
        "43 = 87/2",
        "\\boxed{43}\\boxed{87/2}",
      ],
      "sqrt(7569)/2",
      "87//2",
      "9".repeat(3000),
      "\\text{87/2}x",
      "435 · 10^{-1}",
    ],
  ])("%s is malformed", (text) => {
    expect(verdict(instance, text)).toBe("malformed");
  });
});

test("parameters that do not go together are refused", () => {
  const refused = resolveParameters(arithmetic, { fractions: 0.6, decimals: 0.6 });
  expect(refused).toMatchObject({
    kind: "invalid",
    message: "fractions and decimals are shares and must add up to at most 1: 0.6 + 0.6 > 1",
  });
  expect(resolveParameters(arithmetic as never, { powers: 0.6, divisors: 0.6 }).kind).toBe("invalid");
});

test("what occurs is explained in the prompt, and nothing else", () => {
  const prompt = (expression: Expression): string => arithmetic.render({ expression }, "boxed")[0]?.content ?? "";
  const remainder: Expression = { kind: "remainder", of: whole(17), modulus: 5 };
  expect(prompt({ kind: "sum", left: remainder, right: whole(4) })).toContain("(a mod m) is the remainder");
  expect(prompt({ kind: "sum", left: whole(9), right: whole(4) })).not.toMatch(/mod|gcd|lcm|%/);
});
