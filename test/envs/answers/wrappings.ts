/** Wrappings, markings and labels with which people and models write a right answer. */
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { LABEL_LINES, LABEL_TEXTS, labelled } from "./labels.ts";

/** A named way to write a text again. Undefined: this text cannot be written so. */
export interface Way {
  readonly name: string;
  readonly write: (text: string) => string | undefined;
}

export const around = (open: string, close = open): Way => ({
  name: `${open}…${close}`,
  write: (text) => open + text + close,
});

function halves(marks: string): Way {
  const [open = "", close = ""] = marks.split("|");
  return around(open, close);
}

/** Wrappings that surround a whole answer inside its marks. */
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
  around("«", "»"),
  around("„", "“"),
  around("「", "」"),
  ...["<b>|</b>", "<strong>|</strong>", "<p>|</p>", "<code>|</code>", "<div>|</div>", "<EM>|</EM>"].map(halves),
  ...["‹|›", "‚|‘", "”|”", "＂|＂", "``|''", "【|】", "《|》", "\\bm{|}", "\\underline{|}", "\\displaystyle{|}"].map(
    halves,
  ),
  ...["\\begin{equation}|\\end{equation}", "\\begin{align*}\n|\n\\end{align*}"].map(halves),
  ...["<|im_end|>", "<|endoftext|>", "</s>", "<｜end▁of▁sentence｜>", "<end_of_turn>"].map((token) =>
    around("", token),
  ),
  around('{"answer": ', "}"),
  around('```json\n{\n  "final_answer": ', "\n}\n```"),
  around("{'answer': ", "}"),
  around('{"答案"：', "}"),
  {
    name: "a text in JSON",
    // "\\neq" in JSON could be LaTeX and stays unchanged. Of nested tags, the inner ones count.
    write: (text) => (/[\b\f]|[\n\r\t][a-z]|<answer>/.test(text) ? undefined : `{"answer": ${JSON.stringify(text)}}`),
  },
  // Two periods would say that something was left out.
  { name: "closing period", write: (text) => (hasPeriod(text) ? undefined : `${text}.`) },
  { name: "trailing comma", write: (text) => (hasPeriod(text) ? undefined : `${text},`) },
  { name: "semicolon", write: (text) => (hasPeriod(text) ? undefined : `${text};`) },
  { name: "ideographic full stop", write: (text) => (hasPeriod(text) ? undefined : `${text}。`) },
];

function hasPeriod(text: string): boolean {
  return /(?<!\\)[.。,;](?:[\s\u200b\u2060]|\\[ ,])*$/.test(text);
}

/** Labels that introduce an answer inside its marks. */
export const LABELS: readonly Way[] = [...LABEL_TEXTS, ...LABEL_LINES].map(toLabel);

export function toLabel(label: string): Way {
  // A full stop of the label's own would be one too many.
  return { name: label, write: (text) => (label.includes("…") && hasPeriod(text) ? undefined : labelled(label, text)) };
}

/** Completions that keep to a format and give this answer, beside the plain one. */
export const MARKINGS: Readonly<Record<AnswerFormat, readonly Way[]>> = {
  think_answer: tagged("<think>hm</think>").concat([
    { name: "<think> mentioned", write: (text) => `<think>as in <think>, then</think><answer>${text}</answer>` },
    { name: "</think> mentioned", write: (text) => `<think>the </think> tag</think>\n<answer>${text}</answer>` },
    {
      name: "an answer thought of",
      write: (text) => `<think><answer>9</answer> or <think>?</think><answer>${text}</answer>`,
    },
    around("<THINK>hm</THINK><answer>", "</answer>"),
    around("<Think type='slow'>hm <ANSWER>9</ANSWER>\n< / think>\n<answer>", "</answer>"),
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

/**
 * Completions whose marks are not whole: the answer counts where it is right, no other one is marked, and the trainer does
 * not say that the completion was cut. The component `format` stays 0.
 */
export const DOUBTFUL: Readonly<Record<AnswerFormat, readonly Way[]>> = {
  think_answer: unclosed("<think>hm <answer>9</answer></think>"),
  answer_tag: unclosed("hm\n"),
  answer_line: [
    ...[...LABEL_TEXTS, ...LABEL_LINES]
      .filter((label) => !label.startsWith("\\"))
      .map((label): Way => ({ name: `a line of ${label}`, write: (text) => toLabel(`hm\n${label}`).write(text) })),
    halves("```\nhm\nAnswer: |\n```"),
    halves('hm\n{"answer": |}'),
    halves('hm\n```json\n{"answer": |}\n```'),
  ],
  boxed: [around("hm \\boxed{", ""), around("\\[\n\\boxed {\n", "\n")],
};

function unclosed(before: string): readonly Way[] {
  return [
    ...[around(`${before}<answer>`, ""), around(`${before}<answer>\n`, "\n"), around(`${before}<ANSWER >`, "</ans")],
    around(`${before}(in <answer></answer> tags) <answer>`, "</answer"),
  ];
}

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
    around(`${before}<ANSWER>`, "</ANSWER>"),
    around(`${before}<Answer>\n`, "\n</answer>"),
    around(`${before}< answer >`, "</ answer >"),
    around(`${before}<answer\n>`, "< / ANSWER >"),
    around(`${before}<answer type="final" lang='en'>`, "</answer>"),
    around(`${before}<ANSWER>9</ANSWER> no, <answer>`, "</Answer >"),
  ];
}
