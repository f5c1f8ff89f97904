/** Spellings in which people and models write the answers of environments. */
import { evaluate } from "../../../envs/countdown/expression.ts";
import { parse } from "../../../envs/countdown/verify.ts";
import { showRational } from "../../../envs/lib/rational.ts";
import { NAMED } from "./labels.ts";
import { around, toLabel, type Way } from "./wrappings.ts";

const instead = (name: string, from: string | RegExp, to: string): Way => ({
  name,
  write: (text) => text.replaceAll(from, to),
});

/** White space of any kind where there was some. */
export const SPACES: readonly Way[] = [
  instead("line breaks", " ", "\n"),
  instead("Windows line breaks", " ", "\r\n"),
  instead("line separators", " ", "\u2028"),
  instead("no-break spaces", " ", "\u00a0"),
  instead("thin spaces", " ", "\u2009"),
  instead("ideographic spaces", " ", "\u3000"),
  instead("zero-width spaces", " ", "\u200b"),
  instead("byte order marks", " ", "\ufeff"),
  instead("LaTeX thin spaces", " ", "\\,"),
  instead("LaTeX spaces", " ", "\\ "),
  instead("LaTeX quads", " ", "\\quad "),
];

const LIST: readonly Way[] = [
  ...SPACES,
  instead("no spaces", " ", ""),
  { name: "trailing comma", write: (text) => (/\d\]$/.test(text) ? text.replace(/\]$/, ",]") : undefined) },
  { name: "trailing comma and space", write: (text) => (/\d\]$/.test(text) ? text.replace(/\]$/, ", ]") : undefined) },
  { name: "\\left[ \\right]", write: (text) => text.replace(/^\[/, "\\left[").replace(/\]$/, "\\right]") },
  instead("ideographic commas", ", ", "、"),
  { name: "full-width comma", write: (text) => text.replaceAll(",", "，") },
  { name: "full-width brackets", write: (text) => text.replaceAll("[", "［").replaceAll("]", "］") },
  { name: "full-width digits", write: (text) => text.replaceAll(/[0-9]/g, wide) },
  instead("double quotes", /(?<![\d:])\d+(?![\d:])/g, '"$&"'),
  instead("single quotes", /(?<![\d:])\d+(?![\d:])/g, "'$&'"),
];

/** Lists without brackets. A list of one number is left out, because it could be a result instead. */
const BARE: readonly Way[] = [
  { name: "no brackets", write: (text) => (text.includes(",") ? text.slice(1, -1) : undefined) },
  {
    name: "no brackets, quotes",
    write: (text) => (text.includes(",") ? text.slice(1, -1).replaceAll(/\d+/g, '"$&"') : undefined),
  },
  {
    name: "no brackets, no spaces",
    write: (text) => (text.includes(",") ? text.slice(1, -1).replaceAll(" ", "") : undefined),
  },
];

/** Between the stops of a route. */
const ARROWS: readonly Way[] = [
  " -> ",
  "->",
  " --> ",
  " → ",
  "→",
  " ⇒ ",
  " => ",
  " \\to ",
  "\\rightarrow ",
  " ➡️ ",
  " $\\to$ ",
  " $\\rightarrow$ ",
  " – ",
  " - ",
  "-",
].flatMap((arrow) => [
  { name: `${arrow} and no brackets`, write: (text: string) => text.slice(1, -1).replaceAll(", ", arrow) },
  { name: `${arrow} in brackets`, write: (text: string) => text.replaceAll(", ", arrow) },
]);

function wide(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + 0xfee0);
}

const outer = (open: string, close: string): Way => ({
  name: `${open}…${close} for the outer brackets`,
  write: (text) => open + text.slice(1, -1) + close,
});

/** A list of one number in parentheses is a number. */
const parenthesized: Way = {
  name: "parentheses",
  write: (text) => (text.includes(",") ? `(${text.slice(1, -1)})` : undefined),
};

/** A text that is compared as a whole: its case, too, unless another option differs in nothing else. */
const TEXT: readonly Way[] = [
  // LaTeX's spaces are part of a text; and "```Vitamin", a line break and "C```" is a block in the language Vitamin.
  ...SPACES.filter(({ name }) => !name.startsWith("LaTeX") && !name.endsWith("line breaks")),
  { name: "two spaces", write: (text) => text.replaceAll(" ", "  ") },
  { name: "en dashes", write: (text) => text.replaceAll("-", "–") },
  { name: "curly quotes", write: (text) => text.replaceAll("'", "’") },
  {
    name: "full-width",
    write: (text) => text.replaceAll(/[!-~]/g, wide),
  },
];

/** Returns a spelling that appends an equation with the expression's claimed value. */
const claimed = (claim: string): Way => ({
  name: claim,
  write(text) {
    const parsed = parse(text);
    const value = parsed.kind === "answer" ? evaluate(parsed.answer.expression) : undefined;
    return value && text + claim.replace("VALUE", showRational(value));
  },
});

/** Spellings of answers, by environment id; an environment that is not named has those of lists. */
export const SPELLINGS: Readonly<Record<string, readonly Way[]>> = {
  countdown: [
    ...SPACES,
    instead("no spaces", " ", ""),
    { name: "redundant parentheses", write: (text) => `(${text})` },
    { name: "square brackets", write: (text) => `[${text.replaceAll("(", "[").replaceAll(")", "]")}]` },
    instead("×", "*", "×"),
    instead("·", "*", "·"),
    instead("⋅", "*", "⋅"),
    ...["x", "X", " x ", "∙", "•", "✕", "✖", "✖️", "\\*"].map((times) => instead(times, "*", times)),
    claimed(" = VALUE.0"),
    claimed("=VALUE.00"),
    claimed(" = VALUE"),
    instead("\\times", "*", "\\times "),
    instead("\\cdot", "*", "\\cdot "),
    instead("÷", "/", "÷"),
    instead("\\div", "/", "\\div "),
    instead("minus sign", "-", "−"),
    instead("en dash", "-", "–"),
    instead("full-width minus", "-", "－"),
    {
      name: "full-width",
      write: (text) => text.replaceAll(/[!-~]/g, wide),
    },
    { name: "full-width parentheses", write: (text) => `（${text.replaceAll("(", "（").replaceAll(")", "）")}）` },
    { name: "\\left( \\right)", write: (text) => `\\left(${text}\\right)` },
  ],
  code: [],
  writing: [],
  // Spellings of values are in test/envs/math.
  math: [],
  "math/arithmetic": [],
  "math/linear": [],
  qa: [
    ...TEXT,
    { name: "an exclamation", write: (text) => (/[a-z]{2}$/i.test(text) ? `${text}!` : undefined) },
    { name: "exclamations of Spanish", write: (text) => (/[a-z]{2}$/i.test(text) ? `¡${text}!` : undefined) },
    { name: "an exclamation of French", write: (text) => (/[a-z]{2}$/i.test(text) ? `${text} !` : undefined) },
    around("それは", "です。"),
    ...["It is ", "It's ", "it is ", "Es ", "C'est ", "Es ist ", "Это ", "它是", "是", "それは", "É "].map((lead) =>
      around(lead, ""),
    ),
  ],
  "qa/letter": [
    { name: "parentheses", write: (text) => `(${text})` },
    { name: "half of them", write: (text) => `${text})` },
    { name: "lower case", write: (text) => text.toLowerCase() },
    { name: "named", write: (text) => `option ${text}` },
    { name: "full-width", write: (text) => wide(text) },
    { name: "square brackets", write: (text) => `[${text}]` },
    ...[
      "The correct option is ",
      "The correct choice is: ",
      "Correct option: ",
      "Choice: ",
      "I choose ",
      "letter ",
    ].map((lead) => around(lead, "")),
    ...["La opción correcta es la ", "opción ", "La bonne réponse est la ", "вариант ", "alternativa ", "letra "].map(
      (lead) => around(lead, ""),
    ),
    ...["选", "故选：", "选项", "答案选", "選択肢", "보기 "].map((lead) => around(lead, "")),
    around('{"choice": "', '"}'),
    { name: "correct", write: (text) => `${text} is correct` },
    { name: "it is", write: (text) => `It is ${text}.` },
    { name: "an exclamation", write: (text) => `${text}!` },
  ],
  "np/bisection": [
    ...LIST.filter(({ name }) => !name.startsWith("trailing")),
    { name: "without the outer brackets", write: (text) => text.slice(1, -1) },
    outer("(", ")"),
    outer("{", "}"),
    outer("\\{", "\\}"),
    instead("sets", /\[([\d, ]+)\]/g, "{$1}"),
    instead("LaTeX sets", /\[([\d, ]+)\]/g, "\\{$1\\}"),
    instead("tuples", /\[(\d+,[\d, ]+)\]/g, "($1)"),
    instead("trailing commas", "]", ",]"),
  ],
  "np/meetings": [
    ...LIST.filter(({ name }) => !name.startsWith("trailing")),
    { name: "without the outer brackets", write: (text) => (text === "[]" ? undefined : text.slice(1, -1)) },
    outer("(", ")"),
    outer("{", "}"),
    outer("\\{", "\\}"),
    { name: "lists for tuples", write: (text) => text.replaceAll("(", "[").replaceAll(")", "]") },
    instead("times in quotes", /\d\d:\d\d/g, '"$&"'),
    instead("times in \\text{}", /\d\d:\d\d/g, "\\text{$&}"),
    instead("full-width colons", ":", "："),
    { name: "trailing comma", write: (text) => (text === "[]" ? undefined : text.replace(/\]$/, ",]")) },
  ],
  "tools/ledger": [
    { name: "commas between groups of three", write: (text) => text.replaceAll(/\B(?=(?:\d{3})+$)/g, ",") },
    { name: "zeros after a point", write: (text) => `${text}.00` },
    { name: "full-width", write: (text) => text.replaceAll(/\d/g, wide) },
  ],
};

export function spellingsOf(environment: string): readonly Way[] {
  const own = SPELLINGS[environment] ?? [
    ...LIST,
    ...BARE,
    ...(isRoute(environment) ? ARROWS : []),
    parenthesized,
    outer("{", "}"),
    outer("\\{", "\\}"),
    outer("\\left\\{", "\\right\\}"),
  ];
  return [...own, ...(NAMED[environment] ?? []).map(toLabel)];
}

export function isRoute(environment: string): boolean {
  return ["np/tsp", "np/hamiltonian", "games/maze"].includes(environment);
}
