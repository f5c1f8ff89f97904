/** Writing of generated pairs: templates filled with values, and the forms that models give an answer. */
import { readFileSync } from "node:fs";
import { type Rng, rngFor } from "../../../envs/lib/rng.ts";

/** Values of a template's names. A string may hold placeholders itself. */
export type Values = Readonly<Record<string, string | number>>;

/** Draws the values of one problem; the result is undefined if they make no clear case. */
export type Draw = (rng: Rng) => Values | undefined;

export type Format = "boxed" | "answer_line" | "answer_tag" | "think_answer";

/** One answer to one problem, as it is given to the verifier. */
export interface Pair {
  readonly problem: string;
  readonly gold: string;
  readonly answer: string;
  readonly format: Format;
  readonly completion: string;
}

/** The lines of each template of templates.txt by the template's name. */
const templates = new Map(
  readFileSync(new URL("templates.txt", import.meta.url), "utf8")
    .split("\n# ")
    .slice(1)
    .map((block) => [block.slice(0, block.indexOf("\n")), block.split("\n").slice(1)] as const),
);

/** The value of a name, or of a sum of products such as "2*a-1". */
function valueOf(expression: string, values: Values): string | number {
  const named = values[expression];
  if (named !== undefined) return named;
  const numberOf = (factor: string): number =>
    factor.startsWith("-") ? -numberOf(factor.slice(1)) : Number(values[factor] ?? factor);
  const products = expression
    .replaceAll("-", "+-")
    .split("+")
    .filter((term) => term !== "");
  const sum = products.reduce(
    (total, term) => total + term.split("*").reduce((product, each) => product * numberOf(each), 1),
    0,
  );
  if (!Number.isFinite(sum)) throw new Error(`a template has ‹${expression}›, which is not drawn`);
  return sum;
}

export const signed = (value: number): string => (value < 0 ? `${value}` : `+${value}`);

function filled(text: string, values: Values): string {
  if (!text.includes("‹")) return text;
  const once = text.replace(/‹([^‹›]+)›/g, (_, expression: string) =>
    expression.startsWith("+")
      ? signed(Number(valueOf(expression.slice(1), values)))
      : `${valueOf(expression, values)}`,
  );
  return filled(once, values);
}

/** The answers of a template's lines that begin with a mark. */
function answersOf(lines: readonly string[], mark: string, values: Values): readonly string[] {
  const texts = lines
    .filter((line) => line.startsWith(`${mark} `))
    .flatMap((line) => filled(line.slice(2), values).split("¦"));
  return texts.map((text) => text.trim().replaceAll("⏎", "\n")).filter((text) => text !== "");
}

const STYLES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\\frac(?=\{)/g, ["\\frac", "\\dfrac", "\\tfrac"]],
  [/\\le(?![a-z])/g, ["\\le", "\\leq", "≤", "<=", "\\leqslant"]],
  [/\\ge(?![a-z])/g, ["\\ge", "\\geq", "≥", ">="]],
  [/\\infty/g, ["\\infty", "∞"]],
  [/\\cup/g, ["\\cup", "∪"]],
  [/\\equiv/g, ["\\equiv", "≡"]],
  [/\\in(?![a-z])/g, ["\\in", "∈"]],
  [/\\mathbb\{Z\}/g, ["\\mathbb{Z}", "\\mathbb Z", "ℤ"]],
  [/(?<!\\), (?=[^0-9]|[0-9]{1,2}(?![0-9]))/g, [", ", ",", ",\\ ", ",\\,", ", \\; ", ",\\quad "]],
  [/ ?(?<![<>\\!])=(?!=) ?/g, ["=", " = "]],
];

/** One pair of brackets in the whole text, without words inside, and not that of a repeating decimal or a base. */
const BRACKETS = /^(?!.*\d[([])[^()[\]]*(?<!\.)[([](?!\w{2})[^()[\]]*[)\]][^()[\]]*$/;

/** Returns the text as another hand writes it. */
function restyled(text: string, rng: Rng): string {
  const isLatex = /\\(?!text)/.test(text) || !/[a-z]{3}/.test(text);
  let styled = text;
  for (const [pattern, ways] of STYLES) {
    const way = rng.pick(isLatex ? ways : ways.filter((each) => !/, ?\\/.test(each)));
    if (rng.float() < 0.5) styled = styled.replaceAll(pattern, way);
  }
  if (!/\\(text|begin|mathrm|left)/.test(styled) && rng.float() < 0.3 && BRACKETS.test(styled))
    styled = styled.replace(/[([]/, "\\left$&").replace(/[)\]](?=[^)\]]*$)/, "\\right$&");
  return !styled.includes("\\") && rng.float() < 0.15 ? styled.replaceAll("-", "−") : styled;
}

const FRAMES: Readonly<Record<Format, readonly string[]>> = {
  boxed: ["So the answer is \\boxed{@}.", "$$\\boxed{@}$$", "Therefore, $\\boxed{@}$.", "\\[\n\\boxed{@}\n\\]"],
  answer_line: ["Answer: @", "**Answer:** @", "Final answer: @", "Answer: $@$", "Answer: \\(@\\)", "Answer: @."],
  answer_tag: ["<answer>@</answer>", "<answer>\n@\n</answer>", "<answer>$@$</answer>"],
  think_answer: ["<think>Let me see.</think><answer>@</answer>", "<think>\nSo.\n</think>\n<answer>$@$</answer>"],
};

/** The pair of a gold and an answer, restyled and put into a completion. */
function pairOf(problem: string, gold: string, answer: string, rng: Rng): Pair {
  const written = restyled(answer, rng);
  const isText = /\n|\$/.test(written);
  const format = rng.pick<Format>(
    isText ? ["answer_tag"] : ["boxed", "boxed", "answer_line", "answer_tag", "think_answer"],
  );
  const frames = FRAMES[format].filter(
    (frame) => !(isText && frame.includes("$")) && !(written.endsWith(".") && frame.endsWith("@.")),
  );
  return {
    problem,
    gold,
    answer: written,
    format,
    completion: `We work it out.\n${rng.pick(frames).replace("@", () => written)}`,
  };
}

/** Pairs of a class, each only once: `count` equal ones and `count` unequal ones. */
export function pairsOf(name: string, template: string, draw: Draw, { count, seed }: { count: number; seed: number }) {
  const rng = rngFor("bench/math/blind", seed, name);
  const lines = templates.get(template);
  if (lines === undefined) throw new Error(`templates.txt has no template ${template}`);
  const [equal, unequal] = [new Map<string, Pair>(), new Map<string, Pair>()];
  for (let tries = 0; tries < 40 * count && (equal.size < count || unequal.size < count); tries++) {
    const values = draw(rng);
    if (values === undefined) continue;
    const [problem, golds] = [rng.pick(answersOf(lines, "?", values)), answersOf(lines, "=", values)];
    for (const [kept, answers] of [
      [equal, [...golds, ...answersOf(lines, "+", values)]],
      [unequal, answersOf(lines, "-", values)],
    ] as const) {
      const pair = pairOf(problem, rng.pick(golds), rng.pick(answers), rng);
      if (kept.size < count) kept.set(JSON.stringify(pair), pair);
    }
  }
  return { equal: [...equal.values()], unequal: [...unequal.values()] };
}
