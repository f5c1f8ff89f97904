/** How people and models write a right answer: what they put around it, how they mark it, how they spell it. */
import type { AnswerFormat } from "../../../envs/prompt.ts";

/** A named way to write a text again. Undefined: this text cannot be written so. */
export interface Way {
  readonly name: string;
  readonly write: (text: string) => string | undefined;
}

const around = (open: string, close = open): Way => ({
  name: `${open}…${close}`,
  write: (text) => open + text + close,
});

/** What stands around the whole of an answer, inside its marks. */
export const WRAPPINGS: readonly Way[] = [
  around(""),
  ...["  ", "\n\n", "\r\n", "\t", "\u00a0", "\u2003", "\u202f", "\u3000", "\u200b", "\u2060", "\ufeff", "\u2028"].map(
    (space) => ({ ...around(space), name: `white space ${JSON.stringify(space)}` }),
  ),
  around("\\,"),
  around("\\ "),
  around("\\quad ", ""),
  around("```\n", "\n```"),
  around("```"),
  around("```python\n", "\n```"),
  around("```json\r\n", "\r\n```"),
  around("````text\n", "\n````"),
  around("~~~\n", "\n~~~"),
  around("`"),
  around("``"),
  around("**"),
  around("__"),
  around("*"),
  around("***"),
  around("$"),
  around("$$"),
  around("$$\n", "\n$$"),
  around("\\(", "\\)"),
  around("\\[ ", " \\]"),
  around("\\boxed{", "}"),
  around("\\boxed {", "}"),
  around("\\text{", "}"),
  around("\\text {", " }"),
  around("\\mathrm{", "}"),
  around("\\mathbf{", "}"),
  around("\\textbf{", "}"),
  around("$\\boxed{", "}$"),
  around("\\boxed{\\text{", "}}"),
  around("<answer>", "</answer>"),
  around('"'),
  around("'"),
  around("“", "”"),
  around("‘", "’"),
  // Two periods would say that something was left out.
  { name: "closing period", write: (text) => (hasPeriod(text) ? undefined : `${text}.`) },
  { name: "ideographic full stop", write: (text) => (hasPeriod(text) ? undefined : `${text}。`) },
];

function hasPeriod(text: string): boolean {
  return /[.。][\s\u200b\u2060]*$/.test(text);
}

/** What introduces an answer, inside its marks. */
export const LABELS: readonly Way[] = [
  "Answer: ",
  "answer:",
  "Final Answer: ",
  "Final answer:\n",
  "The answer is ",
  "The answer is: ",
  "The final answer is: ",
  "The answer: ",
  "**Answer**: ",
  "**Answer:** ",
  "**Final Answer**:\n\n",
  "**The answer is:** ",
  "*Answer:* ",
  "__Answer__: ",
  "### Answer: ",
  "## **Answer:**\n",
  "\\text{Answer: }",
  "\\textbf{Final answer}: ",
  "\\text{The answer is }",
  "Answer：",
].map((label) => around(label, ""));

/** Completions that keep to a format and give this answer, beside the plain one. */
export const MARKINGS: Readonly<Record<AnswerFormat, readonly Way[]>> = {
  think_answer: tagged("<think>hm</think>").concat([
    { name: "<think> mentioned", write: (text) => `<think>as in <think>, then</think><answer>${text}</answer>` },
    { name: "</think> mentioned", write: (text) => `<think>the </think> tag</think>\n<answer>${text}</answer>` },
    {
      name: "an answer thought of",
      write: (text) => `<think><answer>9</answer> or <think>?</think><answer>${text}</answer>`,
    },
  ]),
  answer_tag: tagged("hm\n"),
  answer_line: [
    ...["Answer: ", "answer: ", "ANSWER:", "Final Answer: ", "Final answer: ", "  Answer:\n\n", "### Answer: "],
    ...[
      "**Answer**: ",
      "**Answer:** ",
      "**Final Answer:**\n",
      "## **Final answer**: ",
      "__Answer__: ",
      "Answer：\u00a0",
    ],
    ...["Answer:\nAnswer: ", "Answer: 9\nNo.\nAnswer: "],
  ]
    .map((mark) => around(`hm\n${mark}`, ""))
    .concat([around("**Answer: ", "**"), around("*Final answer: ", "*\n\n")]),
  boxed: [
    around("\\boxed{", "}"),
    around("\\boxed {", "}"),
    around("so $\\boxed{", "}$."),
    around("\\[\\boxed{\n", "\n}\\]"),
    around("**\\boxed{", "}**"),
    around("\\boxed{9}, no, \\boxed{", "}"),
    around("\\boxed{\\boxed{", "}}"),
    around("\\boxed{", "} (in \\boxed{})"),
    around("\\boxed{", "} (in \\boxed{…})"),
  ],
};

function tagged(before: string): readonly Way[] {
  return [
    around(`${before}<answer>`, "</answer>"),
    around(`${before}\n\n**<answer>\n`, "\n</answer>**\n"),
    around(`${before}<answer>9</answer> no, <answer>`, "</answer>"),
    around(`${before}<answer>`, "</answer> (in <answer></answer> tags)"),
    around(`${before}<answer>`, "</answer> (in <answer>…</answer> tags)"),
    around(`${before}<answer>`, "</answer>\n<answer>\n\u200b</answer>"),
    around(`${before}<answer><answer>`, "</answer></answer>"),
    around(`${before}Write <answer> and then: <answer>`, "</answer>."),
  ];
}

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
  { name: "full-width comma", write: (text) => text.replaceAll(",", "，") },
  { name: "full-width brackets", write: (text) => text.replaceAll("[", "［").replaceAll("]", "］") },
];

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
    write: (text) => text.replaceAll(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
  },
];

/** Other spellings of what an environment's format writes, by environment; lists where none are named. */
export const SPELLINGS: Readonly<Record<string, readonly Way[]>> = {
  countdown: [
    ...SPACES,
    instead("no spaces", " ", ""),
    { name: "redundant parentheses", write: (text) => `(${text})` },
    { name: "square brackets", write: (text) => `[${text.replaceAll("(", "[").replaceAll(")", "]")}]` },
    instead("×", "*", "×"),
    instead("·", "*", "·"),
    instead("⋅", "*", "⋅"),
    instead("\\times", "*", "\\times "),
    instead("\\cdot", "*", "\\cdot "),
    instead("÷", "/", "÷"),
    instead("\\div", "/", "\\div "),
    instead("minus sign", "-", "−"),
    instead("en dash", "-", "–"),
    instead("full-width minus", "-", "－"),
    {
      name: "full-width",
      write: (text) => text.replaceAll(/[!-~]/g, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0)),
    },
    { name: "full-width parentheses", write: (text) => `（${text.replaceAll("(", "（").replaceAll(")", "）")}）` },
    { name: "\\left( \\right)", write: (text) => `\\left(${text}\\right)` },
  ],
  // Spellings of values are in test/envs/math.
  math: [],
  "math/arithmetic": [],
  "math/linear": [],
  qa: TEXT,
  "qa/letter": [
    { name: "parentheses", write: (text) => `(${text})` },
    { name: "half of them", write: (text) => `${text})` },
    { name: "lower case", write: (text) => text.toLowerCase() },
    { name: "named", write: (text) => `option ${text}` },
    { name: "full-width", write: (text) => String.fromCharCode(text.charCodeAt(0) + 0xfee0) },
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
    { name: "trailing comma", write: (text) => (text === "[]" ? undefined : text.replace(/\]$/, ",]")) },
  ],
};

export function spellingsOf(environment: string): readonly Way[] {
  return (
    SPELLINGS[environment] ?? [
      ...LIST,
      parenthesized,
      outer("{", "}"),
      outer("\\{", "\\}"),
      outer("\\left\\{", "\\right\\}"),
    ]
  );
}
