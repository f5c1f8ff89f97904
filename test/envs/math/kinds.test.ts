/** A point, an interval, a set of values and a system of named values are four kinds; the problem's text names its unknowns. */
import { describe, expect, test } from "vitest";
import { math } from "../../../envs/math/index.ts";

const r = String.raw;

/** The correctness of an answer to a problem, through the environment. */
function judged(problem: string, gold: string, answer: string): "right" | "wrong" {
  const instance = { problem, answer: gold, level: "all", facts: {} };
  const parsed = math.parse(answer, instance);
  if (parsed.kind === "malformed") return "wrong";
  const facts = math.verify(instance, parsed.answer);
  if (facts.kind !== "graded") throw new Error(`${gold} and ${answer} are not graded`);
  return facts.solved ? "right" : "wrong";
}

interface Case {
  readonly problem: string;
  readonly gold: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

function testAll(cases: readonly Case[]): void {
  const rows = cases.flatMap(({ problem, gold, right, wrong }) => [
    ...right.map((answer) => [gold, answer, "right", problem] as const),
    ...wrong.map((answer) => [gold, answer, "wrong", problem] as const),
  ]);
  test.each(rows)("%s and %s: %s (%s)", (gold, answer, verdict, problem) => {
    expect(judged(problem, gold, answer)).toBe(verdict);
    expect(judged(problem, gold, `So we get $\\boxed{${answer}}$.`)).toBe(verdict);
  });
}

describe("the answer's names say which value is which", () => {
  testAll([
    {
      problem: "Solve the system in x and y: $x + y = 6$, $y - x = 2$.",
      gold: "(2,4)",
      right: [
        ...["y = 4, x = 2", "x = 2, y = 4", "x = 2 and y = 4", "(x,y) = (2,4)", "(y,x) = (4,2)", "(2,4)", "2, 4"],
        ...[r`\begin{cases}y=4\\x=2\end{cases}`, r`\left(2,4\right)`, r`\langle 2,4\rangle`, "x=2\ny=4", "y=4; x=2"],
      ],
      wrong: ["y = 2, x = 4", "x = 4, y = 2", "(x,y) = (4,2)", "(y,x) = (2,4)", "4, 2", "x = 2, x = 4", r`\{2,4\}`],
    },
    {
      problem: "Find all ordered pairs $(m,n)$ of integers with $m - n = 3$ and $mn = 10$.",
      gold: "(5,2),(-2,-5)",
      right: ["m=5, n=2 or m=-2, n=-5", "n=2, m=5; n=-5, m=-2", "(m,n) = (5,2), (-2,-5)", "(-2,-5), (5,2)"],
      wrong: ["m=2, n=5 or m=-5, n=-2", "n=5, m=2; n=-2, m=-5", "(n,m) = (5,2), (-2,-5)"],
    },
    {
      problem: "Find the ordered pair $(p,n)$ of a prime and a number.",
      gold: "(7,3)",
      right: ["p=7, n=3", "n = 3 and p = 7", "(p,n)=(7,3)", "(n,p)=(3,7)"],
      wrong: ["n=7, p=3", "p=3, n=7", "(n,p)=(7,3)"],
    },
    {
      problem: r`Convert to polar coordinates. Enter your answer in the form $(r,\theta)$, where $r > 0$.`,
      gold: r`\left(2,\frac{\pi}{3}\right)`,
      right: [r`\theta = \frac{\pi}{3}, r = 2`, r`r = 2, \theta = \pi/3`, r`(r,\theta) = (2, \frac{\pi}{3})`],
      wrong: [r`r = \frac{\pi}{3}, \theta = 2`, r`\theta = 2, r = \frac{\pi}{3}`],
    },
    {
      problem: r`Find the spherical coordinates $(\rho,\theta,\phi)$ of the point.`,
      gold: "(1,2,3)",
      right: [r`\rho = 1, \theta = 2, \phi = 3`, r`\phi=3, \theta=2, \rho=1`],
      wrong: [r`\rho = 1, \phi = 2, \theta = 3`, r`\phi=1, \rho=2, \theta=3`],
    },
    {
      problem: "Let $b$ and $a$ be integers with $2b + a = 7$. Find them.",
      gold: "(1,5)",
      right: ["b = 1, a = 5", "a = 5, b = 1"],
      wrong: ["a = 1, b = 5"],
    },
    {
      problem: "Solve for $x$, $y$, and $z$.",
      gold: "(1,2,3)",
      right: ["z=3, x=1, y=2", "(x,y,z) = (1,2,3)", "(z,y,x)=(3,2,1)"],
      wrong: ["z=1, x=2, y=3", "x=3, y=2, z=1", "(z,y,x)=(1,2,3)", r`\{1,2,3\}`],
    },
    {
      problem: "Solve for $x_1, x_2$.",
      gold: "(4,1)",
      right: ["x_1 = 4, x_2 = 1", "x_2 = 1, x_1 = 4"],
      wrong: ["x_1 = 1, x_2 = 4", "x = 4, x = 1"],
    },
    {
      problem: "Solve the system.",
      gold: "(2,4)",
      right: ["y = 4, x = 2", "b = 4, a = 2"],
      wrong: ["y = 2, x = 4", "b = 2, a = 4"],
    },
    {
      problem: "Find the pair $(a,b)$.",
      gold: "(2,4)",
      right: ["b = 4, a = 2"],
      wrong: ["x = 2, y = 4", "x = 4, y = 2"],
    },
  ]);
});

describe("kinds are not confused", () => {
  testAll([
    {
      problem: r`Find the domain of $f(x) = \ln(7-x) + \ln(x-4)$.`,
      gold: "(4,7)",
      right: ["(4,7)", "4 < x < 7", "x > 4 and x < 7", r`x \in (4,7)`, "]4,7[", r`\{x \mid 4 < x < 7\}`],
      wrong: [
        ...["4, 7", "x = 4, x = 7", "x = 4 or x = 7", r`\{4,7\}`, "[4,7]", "(4,7]", "x = 4, y = 7", "4 and 7"],
        ...["(x,y) = (4,7)", r`\begin{pmatrix}4\\7\end{pmatrix}`],
      ],
    },
    {
      problem: "Find the point where the lines meet.",
      gold: "(4,7)",
      right: ["(4,7)", "4, 7", "x = 4, y = 7", r`\begin{pmatrix}4\\7\end{pmatrix}`, r`P(4,7)`],
      wrong: ["4 < x < 7", "x = 4, x = 7", r`\{4,7\}`, "[4,7]", "[4,7)", r`x \in (4,7)`, "4 or 7"],
    },
    {
      problem: "What is the answer?",
      gold: "(4,7)",
      right: ["(4,7)", r`\left(4,7\right)`, "x = 4, y = 7"],
      wrong: ["4, 7", "4 < x < 7", "x = 4, x = 7", r`\{4,7\}`],
    },
    {
      problem: "On which interval is it increasing?",
      gold: "[-1,2)",
      right: [r`-1 \le x < 2`, "[-1,2)"],
      wrong: ["-1, 2", "x=-1, x=2", "(-1,2)", "[-1,2]", r`\{-1,2\}`, "x = -1, y = 2"],
    },
    {
      problem: "Solve the system.",
      gold: "x = 2, y = 3",
      right: ["(2,3)", "y = 3, x = 2", "(x,y) = (2,3)", r`\begin{cases}x=2\\y=3\end{cases}`, "x=2 and y=3"],
      wrong: [
        "x = 2 or x = 3",
        "x = 2, x = 3",
        r`\{2,3\}`,
        "[2,3]",
        "(2,3]",
        "[2,3)",
        "(3,2)",
        "x=3, y=2",
        "2 < x < 3",
      ],
    },
    {
      problem: "Solve the system.",
      gold: "(x,y) = (2,3)",
      right: ["(2,3)", "x=2, y=3", "y=3, x=2", "(x,y)=(2,3)"],
      wrong: ["(2,3]", "[2,3]", r`\{2,3\}`, "x=2 or x=3", "(3,2)", "(y,x)=(2,3)"],
    },
    {
      problem: "Find the roots.",
      gold: r`\{2,3\}`,
      right: ["2, 3", "x=2 or x=3", "x = 3, x = 2", "3 and 2", r`x \in \{2,3\}`, "x_1 = 2, x_2 = 3"],
      wrong: ["x=2, y=3", "(2,3)", "[2,3]", "2 < x < 3", "(x,y)=(2,3)"],
    },
    {
      problem: "Find the roots of the equation.",
      gold: "2, 3",
      right: ["3, 2", "x=2 or x=3", r`\{2,3\}`],
      wrong: ["(2,3)", "x=2, y=3", "[2,3]"],
    },
    {
      problem: "Find $x$ and $y$.",
      gold: "2, 3",
      right: ["(2,3)", "x=2, y=3", "y=3, x=2"],
      wrong: ["x=3, y=2", "[2,3]", "(3,2)"],
    },
  ]);
});
