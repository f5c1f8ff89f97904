/** Draws of the values that the templates of templates.txt name. */
import type { Rng } from "../../../envs/lib/rng.ts";
import { signed, type Values } from "./write.ts";

const raw = String.raw;
export const gcd = (a: number, b: number): number => (b === 0 ? Math.abs(a) : gcd(b, a % b));

/** Distinct whole numbers in [min, max] without 0, by names that blanks separate. */
export function ints(rng: Rng, names: string, min: number, max: number): Record<string, number> {
  const all = Array.from({ length: max - min + 1 }, (_, i) => min + i).filter((value) => value !== 0);
  const drawn = rng.shuffle(all);
  return Object.fromEntries(names.split(" ").map((name, i) => [name, drawn[i] as number]));
}

/** Returns the drawn numbers in ascending order. */
export function ascending(rng: Rng, names: string, min: number, max: number): Record<string, number> {
  const drawn = ints(rng, names, min, max);
  const sorted = Object.values(drawn).sort((a, b) => a - b);
  return Object.fromEntries(Object.keys(drawn).map((name, i) => [name, sorted[i] as number]));
}

/** One of the choices, which "|" separates, its words by the names. */
export function words(rng: Rng, names: string, choices: string): Record<string, string> {
  const chosen = rng.pick(choices.split("|")).split(",");
  return Object.fromEntries(names.split(" ").map((name, i) => [name, chosen[i] ?? ""]));
}

/** A fraction in lowest terms, in LaTeX. */
export function frac(p: number, q: number): string {
  const [n, d] = [p / gcd(p, q), q / gcd(p, q)];
  return d === 1 ? `${n}` : `${n < 0 ? "-" : ""}\\frac{${Math.abs(n)}}{${d}}`;
}

/** Linear equations in two or three unknowns that only these values solve. */
function equations(rng: Rng, solution: Values): string {
  const { a = 1, b = 2 } = ints(rng, "a b", 1, 5);
  const names = Object.keys(solution);
  const rows = names.length === 2 ? [[a, b], [b, -a]] : [[1, 1, 1], [a, -b, 0], [0, a, b]]; // prettier-ignore
  const equation = (row: readonly number[]): string => {
    const left = names.map((name, i) => (row[i] === 0 ? "" : `${signed(row[i] ?? 0)}${name}`)).join("");
    const right = names.reduce((total, name, i) => total + (row[i] ?? 0) * Number(solution[name]), 0);
    return `$${left.replace(/^\+/, "").replace(/(?<![\d_])1(?=[a-z\\])/gi, "")}=${right}$`;
  };
  return rows.map(equation).join(", ");
}

export const PAIRS = raw`x,y|a,b|p,q|m,n|u,v|s,t|c,d|A,B|\alpha,\beta|x_1,x_2`;
const ASKS = [
  "Solve the system ‹system›. Give the answer as an ordered pair $(‹u›,‹v›)$.",
  "Find the ordered pair $(‹u›,‹v›)$ such that ‹system›.",
  "What is $(‹u›,‹v›)$ if ‹system›?",
];
/** Questions that name no tuple, so that its order is that of the text. */
export const LOOSE_ASKS = [
  ...ASKS,
  "Solve for $‹u›$ and $‹v›$: ‹system›.",
  "Determine the values of $‹u›$ and $‹v›$ if ‹system›.",
];

/** A point; its gold is a tuple, or named values. */
export function point(rng: Rng, gold: "tuple" | "named", names = PAIRS, ask = rng.pick(ASKS)): Values {
  const { u = "", v = "" } = words(rng, "u v", names);
  const { x = 0, y = 0 } = ints(rng, "x y", -9, 9);
  const [tuple, named] = ["(‹x›, ‹y›)", "‹u› = ‹x›, ‹v› = ‹y›¦‹v› = ‹y›, ‹u› = ‹x›"];
  const solution = u < v || names === "m,b" ? { [u]: x, [v]: y } : { [v]: y, [u]: x };
  const [golds, also, list] = gold === "tuple" ? [tuple, named, ""] : [named, tuple, "[‹x›, ‹y›]"];
  return {
    u,
    v,
    x,
    y,
    ask,
    golds,
    also,
    list,
    system: equations(rng, solution),
    min: Math.min(x, y),
    max: Math.max(x, y),
  };
}

export function triple(rng: Rng, gold: "tuple" | "named"): Values {
  const names = words(rng, "u v w", "x,y,z|a,b,c|p,q,r|u,v,w");
  const values = ints(rng, "x y z", -9, 9);
  const [tuple, named] = ["(‹x›, ‹y›, ‹z›)", "‹u› = ‹x›, ‹v› = ‹y›, ‹w› = ‹z›¦‹w› = ‹z›, ‹u› = ‹x›, ‹v› = ‹y›"];
  const [golds, also] = gold === "tuple" ? [tuple, named] : [named, tuple];
  const solution = Object.fromEntries(Object.values(names).map((name, i) => [name, Object.values(values)[i] ?? 0]));
  return { ...names, ...values, golds, also, system: equations(rng, solution) };
}

/** An interval with its brackets, in a problem that asks for one. */
export function interval(
  rng: Rng,
  brackets: string,
  ask: string,
  names = "x|t|m",
  range = ascending(rng, "a b", -12, 12),
): Values {
  const [l = "", r = ""] = brackets;
  const [isLeft, isRight] = [l === "[", r === "]"];
  const others = ["()", "(]", "[)", "[]"]
    .filter((each) => each !== brackets)
    .map(([p, q]) => `${p ?? ""}‹a›, ‹b›${q ?? ""}`);
  const [la, lx, ga] = isLeft ? [raw`\le`, "<", raw`\ge`] : ["<", raw`\le`, ">"];
  const [lb, gb] = isRight ? [raw`\le`, raw`\ge`] : ["<", ">"];
  return { ...range, ...words(rng, "x", names), ask, l, r, la, lb, lx, ga, gb, others: others.join("¦") };
}

export function ray(rng: Rng): Values {
  const [isUp, isClosed] = [rng.int(0, 1) === 1, rng.int(0, 1) === 1];
  const sign = (up: boolean, closed: boolean) => (up ? (closed ? raw`\ge` : ">") : closed ? raw`\le` : "<");
  const from = (up: boolean, closed: boolean, end = "‹a›") =>
    up ? raw`${closed ? "[" : "("}${end}, \infty)` : raw`(-\infty, ${end}${closed ? "]" : ")"}`;
  const signs = { is: sign(isUp, isClosed), flip: sign(!isUp, isClosed), other: sign(isUp, !isClosed) };
  const rays = { ray: from(isUp, isClosed), ends: from(isUp, !isClosed), back: from(!isUp, isClosed) };
  return { ...ints(rng, "a b", -15, 15), ...signs, ...rays, moved: from(isUp, isClosed, "‹b›") };
}

export function roots(rng: Rng, count: 2 | 3): Values {
  const drawn = ascending(rng, count === 2 ? "a b" : "a b c", -12, 12);
  const all = Object.values(drawn);
  const [mixed, off] = [rng.shuffle(all), all.map((root, i) => (i === 0 ? root - 1 : root))];
  const named = mixed.map((root) => `x = ${root}`);
  const joined = {
    named: named.join(", "),
    textOr: named.join(raw` \text{ or } `),
    plainOr: named.join(" or "),
    lines: named.join(" ⏎ "),
  };
  const bare = {
    all: all.join(", "),
    mixed: mixed.join(", "),
    semi: mixed.join("; "),
    and: mixed.join(" and "),
    off: off.join(", "),
  };
  const indexed = mixed.map((root, i) => `x_${i + 1} = ${root}`).join(", ");
  const poly = all.map((root) => `(x${signed(-root)})`).join("");
  return { ...drawn, ...joined, ...bare, indexed, poly, offOr: off.map((root) => `x = ${root}`).join(" or ") };
}

export const LETTERS = "P,t|y,x|N,t|V,h|Q,s";

export function rate(rng: Rng, order: 1 | 2): Values {
  const derivative = (d: string, n: string) => raw`\frac{${d}${n}‹P›}{${d}‹t›${n}}`;
  const [two, nth, other] = order === 1 ? ["", "", "^2"] : ["^2", "second ", ""];
  const shown = { D: derivative("d", two), upright: derivative(raw`\mathrm{d}`, two), otherD: derivative("d", other) };
  return { ...words(rng, "P t", LETTERS), c: rng.int(2, 12), two, nth, ...shown, flat: `d${two}‹P›/d‹t›${two}` };
}

export function differentiated(rng: Rng, isApplied: boolean): Values {
  const applied = raw`\frac{d}{d‹x›} ‹x›^{‹n›}¦\frac{d}{d‹x›}\left(‹x›^{‹n›}\right)¦\frac{\mathrm{d}}{\mathrm{d}‹x›} ‹x›^{‹n›}`;
  const value = raw`‹n›‹x›^{‹n-1›}`;
  const told = raw`f'(‹x›) = ${value}¦\frac{d}{d‹x›}\left(‹x›^{‹n›}\right) = ${value}¦\frac{df}{d‹x›} = ${value}¦‹n› \cdot ‹x›^{‹n-1›}`;
  return { n: rng.int(3, 9), x: rng.pick(["x", "t", "s"]), right: isApplied ? applied : told };
}

/** Residues that are not their own negatives, so that a wrong sign is wrong. */
export function residue(rng: Rng, gold: "congruence" | "family"): Values | undefined {
  const m = rng.int(3, 15);
  const [r, a] = [rng.int(1, m - 1), rng.int(2, 11)];
  if (gcd(a, m) > 1 || 2 * r === m) return undefined;
  const [congruence, family] = [
    raw`‹n› \equiv ‹r› \pmod{‹m›}`,
    raw`‹m›‹k› + ‹r›, ‹k› \in \mathbb{Z}¦‹m›‹k› + ‹r›, ‹k› \text{ an integer}`,
  ];
  const [golds, also] = gold === "congruence" ? [congruence, family] : [family, congruence];
  return { m, r, a, ar: (a * r) % m, n: rng.pick(["n", "x", "m"]), k: rng.pick(["k", "t", "j"]), golds, also };
}

export function overline(rng: Rng, isOdd: boolean): Values {
  const { z = "", w = "" } = words(rng, "z w", "z,w|w,u|a,b");
  const line = (text: string, count: number): string => (count === 0 ? text : raw`\overline{${line(text, count - 1)}}`);
  const [plain = "", bare = "", apart = "", half = ""] = rng.pick([
    [z, z, raw`\bar{${z}}`, `-${z}`],
    [`${z}+${w}`, `${w} + ${z}`, raw`\overline{${z}} + \overline{${w}}`, raw`\overline{${z}} + ${w}`],
    [`3${z}`, raw`3 \cdot ${z}`, raw`3\overline{${z}}`, `4${z}`],
    [`${z}${w}`, raw`${w}${z}`, raw`\overline{${z}} \cdot \overline{${w}}`, raw`${z}\overline{${w}}`],
  ]);
  const even = `${line(plain, 2)}¦${bare}¦${line(plain, 4)}`;
  const odd = raw`${line(plain, 1)}¦${line(plain, 3)}¦${apart}¦\overline{ ${plain} }`;
  const [right, others] = isOdd ? [odd, `${even}¦${plain}`] : [even, odd];
  return { z, w, half, right, others, gold: line(plain, isOdd ? 1 : 0), asked: line(plain, isOdd ? 5 : 6) };
}

const TIMES =
  "hours,h,hr,minutes,min,min,60|minutes,min,min,seconds,s,sec,60|days,days,days,hours,h,hr,24|weeks,weeks,weeks,days,days,days,7|years,years,years,months,months,months,12";

export function duration(rng: Rng): Values | undefined {
  const units = words(rng, "big b b2 small s s2 ratio", TIMES);
  const ratio = Number(units["ratio"]);
  const [h, m] = [rng.int(2, 30), rng.int(2, ratio - 2)];
  if (h === m) return undefined;
  return { ...units, h, m, total: h * ratio + m, part: frac(m, ratio), improper: frac(h * ratio + m, ratio) };
}

export function time(rng: Rng): Values | undefined {
  const [h, m] = [rng.int(2, 10), rng.int(11, 58)];
  const noon = rng.pick([["a.m.", "AM", "PM", "", `${h + 12}:${m}`], ["p.m.", "PM", "AM", `${h + 12}:${m}`, ""]] as const); // prettier-ignore
  return h === m
    ? undefined
    : { h, m, half: noon[0], HALF: noon[1], OTHER: noon[2], late: noon[3], wrongLate: noon[4] };
}

export const QUOTIENTS =
  "mi,h,,miles per hour,mph,1,^2|km,h,,kilometers per hour,km/h,1,^2|m,s,,meters per second,m/s,1,^2|m,s,^2,meters per second squared,m/s²,2,|ft,s,,feet per second,ft/s,1,^2|ft,s,^2,feet per second squared,ft/s²,2,|g,cm,^3,grams per cubic centimeter,g/cm³,3,^2|kg,m,^3,kilograms per cubic meter,kg/m³,3,^2|km,s,,kilometers per second,km/s,1,^2|L,min,,liters per minute,L/min,1,^2|N,m,^2,newtons per square meter,N/m²,2,|mol,L,,moles per liter,mol/L,1,^2|mi,gal,,miles per gallon,mpg,1,^2|m,min,,meters per minute,m/min,1,^2";

export function product(rng: Rng): Values {
  const { a = "", b = "", c = "" } = words(rng, "a b c", "kg,m,s|N,m|kW,h|N,s");
  const top = raw`\text{${a}}\cdot\text{${b}}`;
  const [per, stacked] = c === "" ? ["", top] : [`/${c}`, raw`\frac{${top}}{\text{${c}}}`];
  const [dotted, thin] = c === "" ? ["", ""] : [raw` \cdot ${c}^{-1}`, raw`\,${c}^{-1}`];
  return { a, b, per, stacked, dotted, thin, v: rng.int(2, 300), unit: `${a}·${b}${per}` };
}

export function money(rng: Rng): Values {
  const all = ["\\$,USD,dollars,cents", "€,EUR,euros,cents", "£,GBP,pounds,pence", "₹,INR,rupees,paise"];
  const [one = "", two = ""] = rng.shuffle(all);
  const [a, b] = [rng.pick([rng.int(2, 999), rng.int(1000, 9999)]), rng.int(10, 98)];
  const grouped = (comma: string) => `${a}.${b}`.replace(/(\d)(?=\d{3}\.)/, `$1${comma}`);
  const shown = { v: `${a}.${b}`, grouped: grouped(","), escaped: grouped("{,}") };
  return { a, b, ...shown, ...words(rng, "sign code words small", one), ...words(rng, "sign2 code2 words2", two) };
}

export function repeating(rng: Rng): Values | undefined {
  const period = rng.pick([2, 2, 3, 3, 6]);
  const d = `${rng.int(1, 10 ** period - 2)}`.padStart(period, "0");
  // A period that is a shorter one repeated would make some wrong answers right.
  if ([1, 2, 3].some((part) => part < period && d === d.slice(0, part).repeat(period / part))) return undefined;
  const lead = rng.pick(["", "", `${rng.int(0, 9)}`]);
  const whole = rng.pick([0, 0, rng.int(1, 12)]);
  const q = 10 ** lead.length * (10 ** period - 1);
  const p = Number(`${whole}${lead}${d}`) - Number(`${whole}${lead}`);
  const [first, last, but] = [d.charAt(0), d.slice(-1), d.slice(0, -1)];
  const values = { value: frac(p, q), off: frac(p + 1, q), flat: `${p / gcd(p, q)}/${q / gcd(p, q)}` };
  return {
    p,
    q,
    d,
    head: `${whole}.${lead}`,
    first,
    last,
    but,
    ...values,
    turned: `${d.slice(1)}${first}`,
    other: `${but}${(Number(last) + 1) % 10}`,
  };
}

export function sum(rng: Rng, isProduct: boolean): Values {
  const { c = 1 } = ints(rng, "c", 1, 9);
  const [a, b, k] = [rng.int(1, 3), rng.int(4, isProduct ? 6 : 20), rng.pick(["k", "n", "j"])];
  const values = Array.from({ length: b - a + 1 }, (_, i) => (isProduct ? a + i + c : (a + i) ** 2 + c));
  const [op, power, word] = isProduct ? [raw`\prod`, "", "product"] : [raw`\sum`, "^2", "sum"];
  const value = values.reduce((one, other) => (isProduct ? one * other : one + other));
  return { a, b, k, op, words: word, term: `(${k}${power}+${c})`, iterm: `(i${power}+${c})`, value };
}
