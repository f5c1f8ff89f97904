/** Wrong answers that are of another kind than the expected one, or that are read as if operators were letters. */
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
      problem: "What is $(x_1,x_2)$?",
      gold: "x_2 = -1, x_1 = -8",
      right: ["(x_1, x_2) = (-8, -1)", "(-8,-1)", "(x_2, x_1) = (-1, -8)"],
      wrong: ["(x_1, x_2) = (-1, -8)", "(-1,-8)"],
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

describe("congruences and definitions of functions are kinds of their own", () => {
  testAll([
    {
      problem: "Which integers $n$ have the property?",
      gold: r`n \equiv 1 \pmod 3`,
      right: [r`n \equiv 1 \pmod{3}`, r`n \equiv 4 \pmod 3`, r`n = 3k + 1, k \in \mathbb{Z}`, r`1 \pmod 3`],
      wrong: ["1", "n = 1", "4", r`n \equiv 2 \pmod 3`, r`\{1\}`],
    },
    {
      problem: "Find the number.",
      gold: "1",
      right: ["1", r`2^{10} \equiv 1 \pmod 3`],
      wrong: [r`n \equiv 1 \pmod 3`, r`x \equiv 1 \pmod 7`],
    },
    {
      problem: "Which integers $x$ have the property?",
      gold: r`x \equiv 1, 4 \pmod 5`,
      right: [r`x \equiv \pm 1 \pmod 5`],
      wrong: ["1, 4", r`\{1,4\}`, "1 or 4"],
    },
    {
      problem: "Find all functions.",
      gold: "f(x) = 2x",
      right: ["2x", "y = 2x", "f(x) = 2x", "f(t) = 2t", "f = 2x"],
      wrong: ["k = 2x", "m = 2x", "g(x) = 2x", "x = 2x", "c = 2x"],
    },
    { problem: "Find it.", gold: "f(x) = 3", right: ["f(t) = 3"], wrong: ["g(t) = 3"] },
    { problem: "Find it.", gold: "h(x) = 3", right: ["h(x) = 3"], wrong: ["k = 3", "c = 3"] },
    { problem: "Find it.", gold: "PA = 3", right: ["3", "PA = 3"], wrong: ["PB = 3"] },
    { problem: "Find $F$.", gold: "5x^2 + 8xy", right: ["F(x, y) = 5x^2 + 8xy"], wrong: ["F(y, x) = 5x^2 + 8xy"] },
    { problem: "Find $a_n$.", gold: "10n + 12", right: ["a_n = 10n + 12"], wrong: ["a_{n+1} = 10n + 12"] },
    { problem: "Find all functions.", gold: "f(x) = 1", right: ["1", "y = 1"], wrong: ["k = 1", "x = 1", "c = 1"] },
    { problem: "Find all polynomials.", gold: "P(x) = x^2", right: ["x^2", "y = x^2"], wrong: ["k = x^2", "a = x^2"] },
    { problem: "Find the slope.", gold: "k = 2x", right: ["k = 2x", "2x"], wrong: ["f(x) = 2x", "P(x) = 2x"] },
  ]);
});

describe("operators are no letters", () => {
  const problem = "Write it down.";
  testAll([
    {
      problem,
      gold: r`\frac{dP}{dt}`,
      right: ["dP/dt", r`\dfrac{\mathrm{d}P}{\mathrm{d}t}`, r`\frac{d}{dt}P`],
      wrong: ["P/t", r`\frac{P}{t}`, r`\frac{dt}{dP}`, r`\frac{dP}{dx}`, "P"],
    },
    { problem, gold: r`\frac{P}{t}`, right: ["P/t"], wrong: [r`\frac{dP}{dt}`, "dP/dt", r`\frac{\Delta P}{\Delta t}`] },
    {
      problem,
      gold: r`\frac{d}{dx}x^3`,
      right: ["3x^2", r`3x \cdot x`, r`\frac{d}{dx}\left(x^3\right)`, "d/dx x^3"],
      wrong: ["x^2", r`\frac{x^3}{x}`, "3x^3", r`\frac{d}{dx}x^2`],
    },
    {
      problem,
      gold: r`\frac{d^2y}{dx^2}`,
      right: ["d^2y/dx^2", r`\frac{d^2}{dx^2}y`],
      wrong: [r`\frac{y}{x^2}`, r`\frac{dy}{dx}`, r`\frac{dy}{x}`],
    },
    {
      problem,
      gold: r`\frac{dy}{dx} = 2x`,
      right: ["2x", "y' = 2x", r`\frac{dy}{dx}=x+x`],
      wrong: [r`\frac{y}{x} = 2x`, "y = 2x^2", "k = 2x", "y = 2x"],
    },
    { problem, gold: "dy = 2x dx", right: ["dy = 2x dx", "2x dx"], wrong: ["y = 2x^2", "2x", "2x dy"] },
    { problem, gold: "5t^4", right: [r`\frac{d}{dt}(t^5) = 5t^4`], wrong: [r`\frac{d}{dt}(t^5) = 4t^5`] },
    {
      problem,
      gold: r`\frac{\partial w}{\partial s} = 12\frac{\partial^2 w}{\partial y^2}`,
      right: ["∂w/∂s = 12 ∂²w/∂y²"],
      wrong: ["∂w/∂s = 12 ∂w/∂y", r`\frac{w}{s} = 12\frac{w}{y^2}`],
    },
    {
      problem,
      gold: r`\frac{\partial f}{\partial x}`,
      right: ["∂f/∂x", r`\frac{\partial}{\partial x} f`],
      wrong: [r`\frac{f}{x}`, r`\frac{df}{dx}`, r`\frac{\partial f}{\partial y}`],
    },
    {
      problem,
      gold: r`\frac{\Delta y}{\Delta x}`,
      right: ["Δy/Δx", r`\dfrac{\Delta y}{\Delta x}`],
      wrong: [r`\frac{y}{x}`, r`\frac{\Delta x}{\Delta y}`],
    },
    { problem, gold: r`\Delta x`, right: ["Δx"], wrong: ["x", r`\Delta`, r`\Delta y`] },
    { problem, gold: r`\nabla f`, right: [r`\nabla f`], wrong: ["f", r`\nabla g`, r`\nabla^2 f`] },
    { problem, gold: r`\frac{\nabla f}{2}`, right: [r`\frac12 \nabla f`], wrong: [r`\frac{f}{2}`] },
    { problem, gold: r`\nabla \cdot F`, right: [r`\nabla \cdot F`], wrong: [r`\nabla \times F`, r`\nabla F`, "F"] },
    { problem, gold: "a + (n-1)d", right: ["a + nd - d"], wrong: ["a + n - 1"] },
    {
      problem,
      gold: r`\overline{\overline{z}}`,
      right: [r`\overline{\overline{z}}`, "z", r`\overline{\overline{\overline{\overline{z}}}}`],
      wrong: [r`\overline{z}`, r`\bar z`, r`\overline{\overline{\overline{z}}}`],
    },
    { problem, gold: r`\overline{3a}`, right: [r`\overline{\overline{\overline{3a}}}`], wrong: ["3a"] },
    { problem, gold: r`\bar{x}`, right: [r`\overline{x}`], wrong: [r`\bar{\bar{x}}`, r`\overline{\bar x}`] },
    {
      problem,
      gold: r`\overline{z+\overline{w}}`,
      right: [],
      wrong: [r`\overline{z+w}`, r`\overline{\overline{z}+w}`],
    },
  ]);
});

describe("a base counts", () => {
  testAll([
    { problem: "Find the number.", gold: "77", right: ["77"], wrong: ["77_8", "77_9", "63"] },
    { problem: "Find the number.", gold: "63", right: ["77_8"], wrong: ["77", "63_8"] },
    { problem: "Find the number.", gold: "1101", right: ["1101"], wrong: ["1101_2", "13"] },
    { problem: "Write 63 in base 8.", gold: "77", right: ["77_8", "77", r`77_{8}`], wrong: ["77_9", "63_8"] },
    { problem: "Write 13 in binary.", gold: "1101", right: ["1101_2", r`1101_{\text{two}}`], wrong: ["1101_3"] },
    { problem: "Express $204_5$ in base six.", gold: "130", right: ["130_6"], wrong: ["130_7"] },
    {
      problem: "Write it in base 8.",
      gold: "77_8",
      right: ["77", "77_8", "77 (base 8)"],
      wrong: ["77_9", r`77 \text{ (base 9)}`],
    },
  ]);
});

describe("a hedge is no answer", () => {
  const about = ["about 5", "approximately 5", "roughly 5", "around 5", r`\text{about } 5`, r`\text{approximately }5`];
  const others = [r`\approx 5`, "≈ 5", "~5", r`\sim 5`, "approx. 5", "nearly 5", "almost 5", "5 or so", "perhaps 5"];
  const bounds = ["at most 5", "at least 5", "up to 5", "less than 5", "no more than 5", "5 or more", "probably 5"];
  const behind = ["5 approximately", "5 roughly", "5 approx.", "5 perhaps", "(about 5)", r`x \approx 5`, "5ish"];
  testAll([
    {
      problem: "How many apples has Tom?",
      gold: "5",
      right: ["5", "exactly 5", "5 apples", "5.0"],
      wrong: [...about, ...others, ...bounds, ...behind, "The number is about 5", "**about 5**"],
    },
    { problem: "Find x.", gold: r`\frac34`, right: ["0.75"], wrong: ["about 0.75", r`\approx 0.75`, r`about \frac34`] },
    { problem: "Find x.", gold: "x = 5", right: ["5", "x = 5"], wrong: ["about 5", r`x \approx 5`] },
    { problem: "Solve.", gold: "x = 5, y = 3", right: ["x = 5, y = 3"], wrong: [r`x \approx 5, y \approx 3`] },
    {
      problem: "Approximate the root to the nearest integer.",
      gold: "5",
      right: ["5", "about 5", r`\approx 5`, "approximately 5"],
      wrong: ["about 6", r`\approx 4`, "at most 5"],
    },
    { problem: "Find it.", gold: "3.14", right: ["3.14", r`\approx 3.14`, "about 3.14"], wrong: [r`\approx 3.15`] },
    { problem: "Find it.", gold: r`\approx 5`, right: ["about 5", r`\approx 5`, "5"], wrong: ["about 6"] },
    { problem: "Find it.", gold: "about 5", right: ["about 5", "roughly 5", "5"], wrong: ["6"] },
    { problem: "Find it.", gold: r`4\pi`, right: [r`4\pi \approx 12.57`], wrong: [r`\approx 12.57`, "about 12.57"] },
  ]);
});
