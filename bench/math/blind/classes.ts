/** Classes of generated pairs: each names its template in templates.txt, and draws the values. */
import {
  ascending,
  differentiated,
  duration,
  frac,
  gcd,
  interval,
  ints,
  LETTERS,
  LOOSE_ASKS,
  money,
  overline,
  PAIRS,
  point,
  product,
  QUOTIENTS,
  rate,
  ray,
  repeating,
  residue,
  roots,
  sum,
  time,
  triple,
  words,
} from "./draws.ts";
import { type Draw, signed } from "./write.ts";

const raw = String.raw;
const HEDGES = "about|around|roughly|approximately|maybe|probably|perhaps|nearly|almost";
const BOUNDS = "at least|at most|more than|less than|close to|not|over|under|just over";
const NUMERALS = ["two", "three", "four", "five", "six", "seven", "eight", "nine"];

/** Inequalities whose solution is the interval between two ends. */
const [strict, loose] = ["<", raw`\le`].map((sign) => [
  `Solve $(‹x›‹+-a›)(‹x›‹+-b›) ${sign} 0$ for real $‹x›$. Use interval notation.`,
  `For which real $‹x›$ is $|2‹x›‹+-a-b›| ${sign} ‹b-a›$?`,
  sign === "<"
    ? raw`Find the domain of $f(‹x›)=\ln((‹x›‹+-a›)(‹b›-‹x›))$.`
    : raw`Find the domain of $f(‹x›)=\sqrt{(‹x›‹+-a›)(‹b›-‹x›)}$.`,
]) as [string[], string[]];

/** Each class with the name of its template, a line each where that is enough. */
// prettier-ignore
export const classes: Readonly<Record<string, readonly [template: string, draw: Draw]>> = {
  "point: two unknowns in order": ["point", (rng) => point(rng, "tuple", PAIRS, rng.pick(LOOSE_ASKS))],
  "point: order of the text reversed": ["point", (rng) => point(rng, "tuple", "y,x|b,a|q,p|n,m|v,u|t,s|d,c")],
  "point: slope and intercept": ["point", (rng) => point(rng, "tuple", "m,b", "A line $y=mx+b$ has ‹system›. Find $(m,b)$.")],
  "point: where lines meet": ["point", (rng) => point(rng, "tuple", "x,y", "At which point do the lines ‹system› intersect?")],
  "system: two named values": ["point", (rng) => point(rng, "named", PAIRS, rng.pick(LOOSE_ASKS))],
  "point: three unknowns": ["triple", (rng) => triple(rng, "tuple")],
  "system: three named values": ["triple", (rng) => triple(rng, "named")],
  "point: fractions": ["fractions", (rng) => {
    const { p = 1, r = 1 } = ints(rng, "p r", -9, 9);
    const [x, y] = [frac(p, 4), frac(r, 5)];
    return x === y ? undefined : { p, r, x, y, x4: p / 4, y5: r / 5 };
  }],
  "point, not an interval": ["midpoint", (rng) => ascending(rng, "a b", -12, 12)],
  "interval: open": ["interval", (rng) => interval(rng, "()", rng.pick(strict))],
  "interval: open, halves": ["interval", (rng) => {
    const { a = 0, b = 0 } = ascending(rng, "a b", -25, 25);
    return interval(rng, "()", rng.pick(strict), "x", { a: a / 2, b: b / 2 });
  }],
  "interval: closed, whole ends": ["interval", (rng) => interval(rng, "[]", rng.pick(loose), "x|t|k")],
  "interval: domain, closed left": ["interval", (rng) => interval(rng, "[)", raw`Find the domain of $f(x)=\sqrt{\frac{x‹+-a›}{‹b›-x}}$.`, "x")],
  "interval: domain, closed right": ["interval", (rng) => interval(rng, "(]", raw`Find the domain of $f(x)=\sqrt{\frac{‹b›-x}{x‹+-a›}}$.`, "x")],
  "interval: range": ["interval", (rng) => {
    const [k, c] = [rng.int(2, 9), rng.int(-9, 9)];
    return interval(rng, "[]", raw`Find the range of the function $y=${k}\sin x${signed(c)}$.`, "y", { a: c - k, b: c + k });
  }],
  "interval: ray": ["ray", ray],
  "interval: union of two rays": ["union", (rng) => {
    const signs = "(,),<,>,[,],\\le,\\ge|[,],\\le,\\ge,(,),<,>";
    return { ...ascending(rng, "a b", -12, 12), ...words(rng, "l r lt gt nl nr nlt ngt", signs) };
  }],
  "set: two roots": ["roots", (rng) => roots(rng, 2)],
  "set: three roots": ["roots", (rng) => roots(rng, 3)],
  "set: plus and minus": ["square", (rng) => ints(rng, "n", 2, 60)],
  "set: pairs, joined in many ways": ["pairs", (rng) => ({ ...ints(rng, "x y z w", -9, 9), p: "(‹x›, ‹y›)", q: "(‹z›, ‹w›)" })],
  "set: all but one number": ["punctured", (rng) => ({ ...ints(rng, "a", -20, 20), c: rng.int(1, 9) })],
  "set: empty": ["empty", (rng) => ints(rng, "n", 2, 60)],
  "operator: first derivative in an equation": ["rate", (rng) => rate(rng, 1)],
  "operator: second derivative in an equation": ["rate", (rng) => rate(rng, 2)],
  "operator: d as a symbol": ["symbol", (rng) => ({ ...words(rng, "P t", LETTERS), d: "d", s: "d", words: "the derivative" })],
  "operator: ∂ as a symbol": ["symbol", (rng) => ({ ...words(rng, "P t", LETTERS), d: raw`\partial `, s: "∂", words: "the partial derivative" })],
  "operator: Δ as a symbol": ["symbol", (rng) => ({ ...words(rng, "P t", LETTERS), d: raw`\Delta `, s: "Δ", words: "the quotient of the changes" })],
  "operator: a quotient is no derivative": ["quotient", (rng) => ({ ...words(rng, "P t", LETTERS), c: rng.int(2, 30) })],
  "operator: partial differential equation": ["partial", (rng) => {
    const derivative = (n: string, by: string) => raw`\frac{\partial${n} ‹u›}{\partial ‹${by}›${n}}`;
    const all = { ut: derivative("", "t"), ux: derivative("", "x"), utt: derivative("^2", "t"), uxx: derivative("^2", "x") };
    return { ...words(rng, "u t x", "u,t,x|T,t,x|w,s,y"), ...all, c: rng.int(2, 12) };
  }],
  "operator: Δ in an equation": ["delta", (rng) => ({ ...words(rng, "E m T", "E,m,T|Q,n,V|U,q,s"), c: rng.int(2, 12) })],
  "operator: ∇": ["nabla", (rng) => ({ ...words(rng, "f g", "f,g|u,v|h,p"), c: rng.int(2, 12) })],
  "operator: a derivative with its value": ["differentiated", (rng) => differentiated(rng, false)],
  "operator: d/dx applied to a power": ["differentiated", (rng) => differentiated(rng, true)],
  "operator: d as a letter": ["letters", (rng) => ({ c: rng.pick([3, 5, 7, 9, 11, 13, 15]) })],
  "operator: Δ as a letter": ["discriminant", (rng) => {
    const { a = 1, b = 1 } = ints(rng, "a b", -9, 9);
    return { a, b, value: (2 * a + 1) ** 2 - 4 * b };
  }],
  "operator: a differential": ["differential", (rng) => ints(rng, "c", 1, 30)],
  "congruence: gold as a congruence": ["residue", (rng) => residue(rng, "congruence")],
  "congruence: gold as a family": ["residue", (rng) => residue(rng, "family")],
  "congruence: two residues": ["residues", (rng) => {
    const m = rng.int(5, 15);
    const { r = 1, s = 2 } = ints(rng, "r s", 1, m - 1);
    return (r + s) % m === 0 || 2 * r === m || 2 * s === m ? undefined : { m, r, s };
  }],
  "family: periodic solutions": ["periodic", (rng) => {
    const { p = "", q = "" } = words(rng, "p q", ",4|,3|,6|3,4|2,3|5,6");
    return { t: raw`\frac{${p}\pi}{${q}}`, k: rng.pick(["k", "n", "m"]) };
  }],
  "function: linear": ["function", (rng) => ({ ...ints(rng, "a b", 2, 9), ...words(rng, "f s", "f,t|g,u|h,t") })],
  "function: constant": ["constant", (rng) => ({ ...ints(rng, "a b", 2, 60), f: rng.pick(["f", "g", "h"]) })],
  "function: inverse": ["inverse", (rng) => ints(rng, "a b", 2, 9)],
  "function: two arguments": ["surface", (rng) => ({ ...ints(rng, "a b", 2, 9), f: rng.pick(["F", "f", "G"]) })],
  "overline: one is left": ["overline", (rng) => overline(rng, true)],
  "overline: none is left": ["overline", (rng) => overline(rng, false)],
  "base: a number written in it": ["base", (rng) => {
    const b = rng.pick([2, 3, 4, 5, 6, 7, 8, 9, 16]);
    const n = rng.int(b * b, 60 * b);
    const [digits, other] = [n, n + 1].map((value) => value.toString(b).toUpperCase()) as [string, string];
    return { n, b, digits, other, short: b < 10 ? "‹digits›_‹b›" : "", word: NUMERALS[b - 2] ?? "sixteen" };
  }],
  "base: decimal gold": ["decimal", (rng) => {
    const n = rng.int(10, 300);
    const b = Math.max(...`${n}`.split("").map(Number)) + rng.pick([1, 2, 3, 9]);
    return b === 10 || b === 8 ? undefined : { n, b };
  }],
  "hedge around a number": ["hedge", (rng) => ({ ...ints(rng, "n", 3, 400), ...words(rng, "item", "apples|coins|pages"), ...words(rng, "about", HEDGES), ...words(rng, "bound", BOUNDS) })],
  "duration: two units": ["duration", duration],
  "ratio that looks like a time": ["ratio", (rng) => {
    const [p, q, k] = [rng.int(2, 23), rng.int(11, 59), rng.int(2, 6)];
    return gcd(p, q) > 1 ? undefined : { p, q, k };
  }],
  "ratio of three": ["ratio of three", (rng) => {
    const { a = 1, b = 1, c = 1 } = ints(rng, "a b c", 2, 30);
    return gcd(gcd(a, b), c) > 1 ? undefined : { a, b, c };
  }],
  "time of day": ["time", time],
  "time of the 24-hour clock": ["clock", (rng) => ({ h: rng.int(14, 22), m: rng.int(25, 58) })],
  "unit: a quotient": ["quotient unit", (rng) => ({ ...words(rng, "a b p words short e q", QUOTIENTS), v: rng.pick([rng.int(2, 120), `${rng.int(1, 30)}.${rng.int(1, 9)}`]) })],
  "unit: a product": ["product unit", product],
  "money: signs, codes and words": ["money", money],
  "decimal: repeating, period of two or more": ["repeating", repeating],
  "feet and inches": ["feet", (rng) => {
    const [f, i] = [rng.int(3, 19), rng.int(2, 10)];
    return f === i ? undefined : { f, i };
  }],
  "mixed number with a unit": ["mixed", (rng) => {
    const [w, q] = [rng.int(2, 30), rng.int(2, 9)];
    const p = rng.int(1, q - 1);
    const units = "min,minutes,h|h,hours,min|mi,miles,km|cm,centimeters,m|kg,kilograms,g|ft,feet,in";
    return gcd(p, q) > 1 ? undefined : { w, p, q, point: [3, 6, 7, 9].includes(q) ? "" : `${w + p / q} ‹words›`, ...words(rng, "unit words other", units) };
  }],
  "sequence: general term": ["term", (rng) => ints(rng, "a b", 2, 12)],
  "sequence: geometric": ["geometric", (rng) => ints(rng, "a b", 2, 12)],
  "sequence: recurrence": ["recurrence", (rng) => ints(rng, "a b", 2, 12)],
  "superscript before subscript": ["scripts", (rng) => ({ ...ints(rng, "i j", 1, 5), ...words(rng, "x", "x|y|a|r"), n: rng.int(2, 4), m: rng.int(2, 4), c: rng.int(2, 9) })],
  "sum: upper bound first": ["sum", (rng) => sum(rng, false)],
  "product: upper bound first": ["sum", (rng) => sum(rng, true)],
  "series: upper bound first": ["series", (rng) => ints(rng, "c", 2, 9)],
  "integral: upper bound first": ["integral", (rng) => ({ a: rng.pick([0, 0, 1, 2]), b: rng.int(3, 6), n: rng.int(2, 4), x: rng.pick(["x", "t", "u"]) })],
};
