/** Equations, sets and families with known truth. Each kind gives the reason. */
import type { Rng } from "../../../../envs/lib/rng.ts";
import type { Maker } from "./pairs.ts";

const sum = (first: string, rest: number): string =>
  rest === 0 ? first : `${first}${rest < 0 ? "-" : "+"}${Math.abs(rest)}`;
const nonzero = (rng: Rng, most: number): number => rng.int(1, most) * rng.pick([1, -1]);

/**
 * Makes y = ax + b in forms with equal points: times a number or an expression above 0, with its sides swapped, or a
 * power. Only multiples are compared.
 */
const sameLine: Maker = (rng) => {
  const [a, b, k] = [nonzero(rng, 9), rng.int(-9, 9), nonzero(rng, 6)];
  const [line, gap] = [sum(`${a}x`, b), `y-(${sum(`${a}x`, b)})`];
  const multiples = [`${k}y = ${sum(`${k * a}x`, k * b)}`, `${sum(`${a}x`, b)}-y=0`, `x=\\frac{${sum("y", -b)}}{${a}}`];
  const answer = rng.pick([
    ...multiples,
    `(${gap})(x^2+${Math.abs(k)})=0`,
    `(${gap})(x^2+y^2+${Math.abs(k)})=0`,
    `(${gap})(x^2-${2 * k}x+${k * k + 1})=0`,
    `(${gap})^2=0`,
  ]);
  return { gold: `y=${line}`, answer, isEqual: true, isCompared: multiples.includes(answer), how: "line" };
};

/** Each has a point that the line has not: on x = c, on x² = y², at x = 0, or on another line. */
const otherLine: Maker = (rng) => {
  const [a, b, c] = [nonzero(rng, 9), rng.int(-9, 9), rng.int(-9, 9)];
  const gap = `y-(${sum(`${a}x`, b)})`;
  const answer = rng.pick([
    `(${gap})(${sum("x", -c)})=0`,
    `(${gap})(x^2-y^2)=0`,
    `(${gap})(${sum("y", c - 1000)})=0`,
    `x y = ${sum(`${a}x^2`, 0)}${b < 0 ? "-" : "+"}${Math.abs(b)}x`,
    `(${gap})(${sum("x", -1_000_000)})=0`,
    `(y-(${sum(`${a}x`, b)}))(x^2-2)=0`,
    `y=${sum(`${a}x`, b + 1)}`,
    `y=${sum(`${a + 1 || 2}x`, b)}`,
    `y^2=(${sum(`${a}x`, b)})^2`,
    `|y|=|${sum(`${a}x`, b)}|`,
  ]);
  return { gold: `y=${sum(`${a}x`, b)}`, answer, isEqual: false, isCompared: true, how: "line" };
};

const interval = (
  rng: Rng,
  low: number,
  high: number,
): { readonly text: string; readonly ends: readonly [boolean, boolean] } => {
  const ends = [rng.int(0, 1) === 1, rng.int(0, 1) === 1] as const;
  return { text: `${ends[0] ? "[" : "("}${low},${high}${ends[1] ? "]" : ")"}`, ends };
};

/** Open or closed stretches by relations that are other where they begin and end. */
const sameStretch: Maker = (rng) => {
  const low = rng.int(-20, 20);
  const high = low + 2 * rng.int(1, 10);
  const [middle, reach] = [(low + high) / 2, (high - low) / 2];
  const isClosed = rng.int(0, 1) === 1;
  const less = isClosed ? "\\le" : "<";
  const gold = isClosed ? `[${low},${high}]` : `(${low},${high})`;
  const answer = rng.pick([
    `|${sum("x", -middle)}| ${less} ${reach}`,
    `(${sum("x", -low)})(${sum("x", -high)}) ${less} 0`,
    `x^2-(${low + high})x+(${low * high}) ${less} 0`,
    `\\{x \\mid |${sum("2x", -2 * middle)}| ${less} ${2 * reach}\\}`,
    `\\{x\\in\\mathbb{R} \\mid ${low} ${less} x ${less} ${high}\\}`,
  ]);
  return { gold, answer, isEqual: true, isCompared: answer.includes("mathbb"), how: "stretch" };
};

const otherStretch: Maker = (rng) => {
  const low = rng.int(-20, 20);
  const high = low + 2 * rng.int(1, 10);
  const [middle, reach] = [(low + high) / 2, (high - low) / 2];
  const { text, ends } = interval(rng, low, high);
  const [from, to] = [ends[0] ? "\\le" : "<", ends[1] ? "\\le" : "<"];
  // The wrong answer has a closed end for an open one, another kind of number, or another end: a number lies in only
  // one of the two.
  const other = ends[0] ? "<" : "\\le";
  const answer = rng.pick([
    `|${sum("x", -middle)}| ${other} ${reach}`,
    `|${sum("x", -middle)}| ${from} ${reach + 1}`,
    `(${sum("x", -low)})(${sum("x", -high)}) ${other} 0`,
    `(${sum("x", -low)})(${sum("x", -high)}) ${from === "<" ? ">" : "\\ge"} 0`,
    `(${sum("x", -low)})^2(${sum("x", -high)}) ${from} 0`,
    `\\{x\\in\\mathbb{Z} \\mid ${low} ${from} x ${to} ${high}\\}`,
    `\\{x\\in\\mathbb{Q} \\mid ${low} ${from} x ${to} ${high}\\}`,
    `x ${from === "<" ? ">" : "\\ge"} ${low}`,
  ]);
  return { gold: text, answer, isEqual: false, isCompared: true, how: "stretch" };
};

/** Makes x > a by powers that grow with x. The square does not grow everywhere. */
const ray: Maker = (rng) => {
  const a = rng.int(1, 9);
  const isEqual = rng.int(0, 1) === 0;
  const equal = [
    `x^3>${a ** 3}`,
    `x^5>${a ** 5}`,
    `x^3+x>${a ** 3 + a}`,
    `2x-${a}>x`,
    `(x-${a})(x^2+1)>0`,
    `(x-${a})^3>0`,
  ];
  const others = [`x^2>${a * a}`, `x^3\\ge${a ** 3}`, `|x|>${a}`, `(x-${a})(x-${a + 1000})^2>0`, `x^3>${a ** 3 + 1}`];
  const answer = rng.pick(isEqual ? equal : others);
  return { gold: `x>${a}`, answer, isEqual, isCompared: answer.startsWith("2x"), how: "ray" };
};

/** Makes a set of whole numbers, written one by one and by its bounds. */
const wholes: Maker = (rng) => {
  const low = rng.int(-9, 9);
  const high = low + rng.int(1, 6);
  const listed = Array.from({ length: high - low + 1 }, (_, i) => low + i);
  const gold = `\\{${listed.join(",")}\\}`;
  const isEqual = rng.int(0, 1) === 0;
  const equal = [
    `\\{n\\in\\mathbb{Z} \\mid ${low - 1}<n<${high + 1}\\}`,
    `\\{x\\in\\mathbb{Z} : ${low}\\le x\\le ${high}\\}`,
    `[${low},${high}]\\cap\\mathbb{Z}`,
    `\\{x \\mid ${low - 1}<x\\le ${high}, x\\in\\mathbb{Z}\\}`,
  ];
  const others = [
    `\\{n\\in\\mathbb{Z} \\mid ${low}<n<${high + 1}\\}`,
    `\\{x\\in\\mathbb{Z} : ${low}\\le x\\le ${high + 1}\\}`,
    `[${low},${high}]`,
    `\\{x\\in\\mathbb{Q} \\mid ${low}\\le x\\le ${high}\\}`,
    `\\{x\\in\\mathbb{R} \\mid ${low - 1}<x<${high + 1}\\}`,
  ];
  return { gold, answer: rng.pick(isEqual ? equal : others), isEqual, isCompared: false, how: "wholes" };
};

/** Solutions with constants of integration, by other names; another rate is another family. */
const family: Maker = (rng) => {
  const a = rng.int(2, 9);
  const isEqual = rng.int(0, 1) === 0;
  const [gold, equal, others] = rng.pick([
    [`Ce^{${a}x}`, [`Ae^{${a}x}`, `Ke^{${a}x}`], [`Ae^{${a + 1}x}`, `Ce^{-${a}x}`, `e^{${a}x}+C`, `Ce^{${a}x}+A`]],
    [`y=Cx^{${a}}`, [`y=Ax^{${a}}`, `y=C_1x^{${a}}`], [`y=Ax^{${a + 1}}`, `y=x^{${a}}+C`, `y=C|x|^{${a}}x`]],
    [
      `C_1\\cos ${a}x+C_2\\sin ${a}x`,
      [`A\\cos ${a}x+B\\sin ${a}x`, `C_1\\sin ${a}x+C_2\\cos ${a}x`],
      [`A\\cos ${a}x+A\\sin ${a}x`, `A\\cos ${a + 1}x+B\\sin ${a}x`, `A\\cos ${a}x`],
    ],
  ] as const);
  return { gold, answer: rng.pick(isEqual ? equal : others), isEqual, isCompared: true, how: "family" };
};

export const RELATIONS: readonly Maker[] = [sameLine, otherLine, sameStretch, otherStretch, ray, wholes, family];
