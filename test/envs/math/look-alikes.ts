/** Pairs of answers that look alike and are not equal, and pairs that look different and are: made from seeds. */
import type { Rng } from "../../../envs/lib/rng.ts";
import { areEqual, changed, differ, evaluate, randomTree, rewritten, type Tree, written } from "./trees.ts";

export interface Pair {
  readonly gold: string;
  readonly answer: string;
  /** Description of how the pair was made. */
  readonly how: string;
}

type Maker = (rng: Rng) => Pair | undefined;

const VARIABLES = ["x", "y", "n"] as const;

// Near misses.

const expression: Maker = (rng) => {
  const variables = VARIABLES.slice(0, rng.int(0, 3));
  const tree = randomTree(rng, rng.int(1, 3), variables);
  const other = changed(tree, rng);
  if (differ(tree, other) !== true) return undefined;
  return { gold: written(tree, rng), answer: written(other, rng), how: "expression" };
};

/** A constant in its lowest terms, as a fraction or as a decimal with an end. */
const constant: Maker = (rng) => {
  const tree = randomTree(rng, 2, []);
  const value = evaluate(tree, {});
  if (value === undefined) return undefined;
  const other = rng.pick([
    [value[0] + value[1], value[1]],
    [-value[0], value[1]],
    [value[1], value[0]],
    [value[0], value[1] + 1n],
  ] as const);
  if (other[1] === 0n || areEqual(value, other)) return undefined;
  return { gold: written(tree, rng), answer: `\\frac{${other[0]}}{${other[1]}}`, how: "constant" };
};

/** Digits that are changed, left out, added or moved by a place. */
const decimal: Maker = (rng) => {
  const gold = `${rng.int(1, 999)}.${rng.int(1, 9)}${rng.int(10, 99)}`;
  const answer = rng.pick([
    gold.slice(0, -1),
    `${gold}${rng.int(1, 9)}`,
    gold.replace(/(\d)\.(\d)/, ".$1$2"),
    gold.replace(/\d(?=\.)/, (digit) => `${(Number(digit) + 1) % 10}`),
    `-${gold}`,
  ]);
  return Number(gold) === Number(answer) ? undefined : { gold, answer, how: "decimal" };
};

/** Makes sums a + b√c, which differ in their squares or by more than a double's error. */
const surd: Maker = (rng) => {
  const [a, b, c] = [rng.int(1, 12), rng.int(1, 12), rng.int(2, 30)];
  const [d, e, f] = rng.pick([
    [a + 1, b, c],
    [a, b + 1, c],
    [a, b, c + 1],
    [b, a, c],
    [a, -b, c],
    [-a, b, c],
  ] as const);
  const value = (p: number, q: number, r: number): number => p + q * Math.sqrt(r);
  if (Math.abs(value(a, b, c) - value(d, e, f)) < 1e-6) return undefined;
  const text = (p: number, q: number, r: number): string => `${p}${q < 0 ? "-" : "+"}${Math.abs(q)}\\sqrt{${r}}`;
  return { gold: text(a, b, c), answer: text(d, e, f), how: "surd" };
};

const interval: Maker = (rng) => {
  const [low, width] = [rng.int(-20, 20), rng.int(1, 20)];
  const brackets = [rng.pick(["(", "["]), rng.pick([")", "]"])] as const;
  const flip: Readonly<Record<string, string>> = { "(": "[", "[": "(", ")": "]", "]": ")" };
  const text = (open: string, a: number, b: number, close: string): string => `${open}${a},${b}${close}`;
  const [open, close] = brackets;
  const answer = rng.pick([
    text(flip[open] as string, low, low + width, close),
    text(open, low, low + width, flip[close] as string),
    text(open, low - 1, low + width, close),
    text(open, low, low + width + 1, close),
    `${low} ${open === "(" ? "\\le" : "<"} x ${close === ")" ? "<" : "\\le"} ${low + width}`,
    `x ${open === "(" ? ">" : "\\ge"} ${low}`,
  ]);
  return { gold: text(open, low, low + width, close), answer, how: "interval" };
};

const inequality: Maker = (rng) => {
  const [bound, sign] = [rng.int(-20, 20), rng.pick(["<", ">", "\\le", "\\ge"])];
  const others = ["<", ">", "\\le", "\\ge"].filter((each) => each !== sign);
  const answer = rng.pick([
    `x ${rng.pick(others)} ${bound}`,
    `x ${sign} ${bound + 1}`,
    `${bound} ${sign} x`,
    `x = ${bound}`,
  ]);
  return { gold: `x ${sign} ${bound}`, answer, how: "inequality" };
};

/** Entries that differ, so that another order is another tuple. */
function distinct(rng: Rng, count: number): number[] {
  return rng.shuffle(Array.from({ length: 30 }, (_, i) => i - 12)).slice(0, count);
}

const tuple: Maker = (rng) => {
  const entries = distinct(rng, rng.int(2, 4));
  const other = rng.pick([
    entries.toReversed(),
    entries.with(0, 99),
    entries.slice(1),
    [...entries, 50],
    entries.map((entry) => -entry - 40),
  ]);
  if (other.length === 1) return undefined;
  return { gold: `(${entries.join(", ")})`, answer: `(${other.join(", ")})`, how: "tuple" };
};

const list: Maker = (rng) => {
  const entries = distinct(rng, rng.int(2, 4));
  const other = rng.pick([entries.with(0, 99), entries.slice(1), [...entries, 50]]);
  const text = (items: readonly number[]): string =>
    rng.int(0, 1) === 0 ? `\\{${items.join(", ")}\\}` : items.join(", ");
  return { gold: text(entries), answer: text(other), how: "list" };
};

const equation: Maker = (rng) => {
  const [a, b, c] = [rng.int(1, 9), rng.int(1, 9), rng.int(1, 20)];
  const answer = rng.pick([`${a}x-${b}y=${c}`, `${a}x+${b}y=${c + 1}`, `${a + 1}x+${b}y=${c}`, `${a}x^2+${b}y=${c}`]);
  return { gold: `${a}x+${b}y=${c}`, answer, how: "equation" };
};

const matrix: Maker = (rng) => {
  const [a, b, c, d] = distinct(rng, 4) as [number, number, number, number];
  const text = (cells: readonly number[]): string =>
    `\\begin{pmatrix}${cells[0]}&${cells[1]}\\\\${cells[2]}&${cells[3]}\\end{pmatrix}`;
  return {
    gold: text([a, b, c, d]),
    answer: text(
      rng.pick([
        [a, c, b, d],
        [b, a, c, d],
        [a, b, c, d + 1],
        [-a - 40, b, c, d],
      ]),
    ),
    how: "matrix",
  };
};

const large: Maker = (rng) => {
  const [base, exponent] = [rng.int(2, 9), rng.int(50, 900)];
  const answer = rng.pick([
    `${base}^{${exponent}}+1`,
    `${base}^{${exponent + 1}}`,
    `-${base}^{${exponent}}`,
    `${base}^{${exponent}}-10^{-9}`,
  ]);
  return { gold: `${base}^{${exponent}}`, answer, how: "large" };
};

const trigonometric: Maker = (rng) => {
  const [fn, degrees] = [rng.pick(["sin", "cos", "tan"] as const), rng.int(1, 80)];
  const value = (angle: number): number => Math[fn]((angle * Math.PI) / 180);
  const other = rng.pick([degrees + 1, degrees + 90, 2 * degrees]);
  if (Math.abs(value(degrees) - value(other)) < 1e-9) return undefined;
  return { gold: `\\${fn} ${degrees}^\\circ`, answer: `\\${fn} ${other}^\\circ`, how: "trigonometric" };
};

const named: Maker = (rng) => {
  const [a, b] = distinct(rng, 2) as [number, number];
  const gold = `p = ${a}, q = ${b}`;
  return {
    gold,
    answer: rng.pick([`p = ${b}, q = ${a}`, `(p, q) = (${b}, ${a})`, `q = ${a}, p = ${b}`, `(${b}, ${a})`]),
    how: "named",
  };
};

const MISSES: readonly Maker[] = [
  ...[expression, expression, expression, constant, decimal, surd, interval, inequality, tuple, list],
  ...[equation, matrix, large, trigonometric, named],
];

function made(makers: readonly Maker[], count: number, rng: Rng): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let turn = 0; pairs.length < count; turn++) {
    const pair = makers[turn % makers.length]?.(rng);
    if (pair !== undefined && pair.gold !== pair.answer) pairs.push(pair);
  }
  return pairs;
}

/** Pairs that are not equal, by turns of each kind. */
export function nearMisses(count: number, rng: Rng): readonly Pair[] {
  return made(MISSES, count, rng);
}

// Equal pairs.

const equalExpression: Maker = (rng) => {
  const tree = randomTree(rng, rng.int(1, 3), VARIABLES.slice(0, rng.int(0, 3)));
  const other: Tree = rewritten(tree, rng);
  // Somewhere it must be defined.
  if (differ(tree, other) !== false) return undefined;
  return { gold: written(tree, rng), answer: written(other, rng), how: "expression" };
};

const equalInterval: Maker = (rng) => {
  const [low, width] = [rng.int(-20, 20), rng.int(1, 20)];
  const [open, close] = [rng.pick(["(", "["]), rng.pick([")", "]"])];
  const relation = `${low} ${open === "(" ? "<" : "\\leq"} x ${close === ")" ? "<" : "\\leq"} ${low + width}`;
  const flipped = `${low + width} ${close === ")" ? ">" : "\\ge"} x ${open === "(" ? ">" : "\\ge"} ${low}`;
  return {
    gold: `${open}${low}, ${low + width}${close}`,
    answer: rng.pick([relation, flipped, `x \\in \\left${open}${low},${low + width}\\right${close}`]),
    how: "interval",
  };
};

const equalList: Maker = (rng) => {
  const entries = distinct(rng, rng.int(2, 4));
  const other = rng.shuffle(entries);
  const answer = rng.pick([
    `\\{${other.join(", ")}\\}`,
    other.join(", "),
    other.map((entry) => `x = ${entry}`).join(" \\text{ or } "),
    other.join("; "),
  ]);
  return { gold: entries.join(", "), answer, how: "list" };
};

const equalEquation: Maker = (rng) => {
  const [a, b, c, k] = [rng.int(1, 9), rng.int(1, 9), rng.int(1, 20), rng.int(2, 5)];
  const answer = rng.pick([
    `${k * a}x + ${k * b}y = ${k * c}`,
    `${c} = ${b}y + ${a}x`,
    `${a}x + ${b}y - ${c} = 0`,
    `y = \\frac{${c} - ${a}x}{${b}}`,
  ]);
  return { gold: `${a}x + ${b}y = ${c}`, answer, how: "equation" };
};

export function equalPairs(count: number, rng: Rng): readonly Pair[] {
  return made([equalExpression, equalExpression, equalExpression, equalInterval, equalList, equalEquation], count, rng);
}
