/** Texts that have broken parsers: each of about so many UTF-16 units. */

const UNITS = [
  "<answer>",
  "</answer>",
  "<answer></answer>",
  "<answer>[0]</answer>",
  "<think>",
  "</think>",
  "<think><answer>",
  "Answer:",
  "Answer: 1\n",
  "\nAnswer:",
  "\n",
  " ",
  "\\boxed{",
  "\\boxed{}",
  "{",
  "}",
  "\\",
  "(",
  "((",
  ")",
  "[",
  "[[",
  "]",
  ",",
  "-",
  "1",
  "9",
  "0,",
  "1+",
  "1 + ",
  "(1+1)*",
  "1/0+",
  "é",
  "𝟙",
  "\ud800",
  "\u0000",
  "\u202e",
  "0x",
  "1e9",
  "__import__('os')",
  "process.exit(1);",
] as const;

/** Every unit repeated, alone and, a quarter as long, inside each format's marks. */
export function* hostileTexts(length: number): Generator<string> {
  for (const unit of UNITS) {
    yield unit.repeat(Math.floor(length / unit.length));
    const inner = unit.repeat(Math.floor(length / 4 / unit.length));
    yield `</think><answer>${inner}</answer>`;
    yield `</think>Answer: ${inner}`;
    yield `\\boxed{${inner}}`;
  }
}
