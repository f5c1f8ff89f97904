/** Tests which replies count as a judge's verdict. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readVerdict, REASON_MAX } from "../../../envs/lib/judge-reply.ts";

const winnerOf = (reply: string): string => {
  const read = readVerdict(reply);
  return read.kind === "answer" ? read.answer.winner : read.reason;
};

const DIFFER = "the reply holds two verdicts that differ";
const NONE = "the reply does not end with a JSON object that names a winner";
const OPEN = "the judge's thoughts are never closed, and a verdict within them does not count";
const UNKNOWN = 'the winner must be "A", "B" or "tie"';

test.each<readonly [string, string, string]>([
  ["reasons, then the verdict", 'A is warm. B is not.\n{"reason": "warmth", "winner": "A"}', "A"],
  ["the verdict alone", '{"winner": "tie"}', "tie"],
  ["in a fence", 'So:\n```json\n{"winner": "B"}\n```\n', "B"],
  ["in bold", '**{"winner": "B"}**', "B"],
  ["over several lines", '{\n  "reason": "x",\n  "winner": "B"\n}', "B"],
  ["with braces in the reason", '{"reason": "it writes {x} and }", "winner": "A"}', "A"],
  ["after thoughts, whatever they hold", '<think>{"winner": "A"}? no</think>\nB it is. {"winner": "B"}', "B"],
  ["said twice, the same", '{"winner": "A"} Once more: {"winner": "A"}', "A"],
  ["two that differ", '{"winner": "A"} On second thoughts: {"winner": "B"}', DIFFER],
  ["two that differ, in one object", '{"winner": "A", "winner": "B"}', DIFFER],
  ["one that is quoted, and another", 'A says {"winner" : "A"}, which is a trick. {"winner": "B"}', DIFFER],
  ["another winner", '{"winner": "C"}', UNKNOWN],
  ["a lower case winner", '{"winner": "a"}', "A"],
  ["another lower case winner", '{"winner": "b"}', "B"],
  ["a tie in another case", '{"reason": "x", "winner": "Tie"}', "tie"],
  ["a tie in capitals", '{"winner": "TIE"}', "tie"],
  ["a tie with its article", '{"winner": "a tie"}', "tie"],
  ["a bold winner", '{"winner": "**Tie**"}', "tie"],
  ["a winner with a label", '{"winner": "Answer: tie"}', "tie"],
  ["a winner with a period", '{"winner": "B."}', "B"],
  ["a text's name", '{"winner": "text A"}', "A"],
  ["the same winner, in two ways", '{"winner": "a"} Once more: {"winner": "A"}', "A"],
  ["two that differ in more than case", '{"winner": "a"} or {"winner": "B"}', DIFFER],
  ["a last line", "Text A is warm.\nA", "A"],
  ["a last line in lower case", "Both are stiff.\n\nb\n", "B"],
  ["a tie alone", "Tie", "tie"],
  ["a tie in bold", "Neither is better.\n**Tie**", "tie"],
  ["a labelled line", "Neither is better.\nAnswer: tie", "tie"],
  ["a labelled line in bold", "It is close.\n**Final verdict:** Text B.", "B"],
  ["two lines that differ", "Verdict: A\nOn second thoughts:\nVerdict: B", NONE],
  ["a line, and an object that differs", '{"winner": "A"} is what text A says.\nB', DIFFER],
  ["a letter that begins a word", "Answer: Art", NONE],
  ["both letters", "Answer: A and B", NONE],
  ["a winner that is no winner", '{"winner": "not A"}', UNKNOWN],
  ["a winner that is doubted", '{"winner": "A?"}', UNKNOWN],
  ["a number", '{"winner": 1}', UNKNOWN],
  ["a list of winners", '{"winner": ["A"]}', UNKNOWN],
  ["words after it", '{"winner": "A"} I hope that this helps.', NONE],
  ["no object", "The winner is A.", NONE],
  ["MT-Bench's marks", "[[A]]", NONE],
  ["single quotes", "{'winner': 'A'}", NONE],
  ["an object without a winner", '{"better": "A"}', NONE],
  ["an object inside another", '{"verdict": {"winner": "A"}}', NONE],
  ["code", '{"winner": (() => "A")()}', NONE],
  ["a reply that was cut", '{"reason": "it is", "winner": "A', NONE],
  ["thoughts that were cut", '<think>{"winner": "A"} but', OPEN],
  ["thoughts that never close", '<think>B is stiff. {"winner": "A"}', OPEN],
  ["thoughts that begin again", '<think>x</think>Hm. <think>{"winner": "A"}', OPEN],
  ["thoughts in other letters", '< Think >{"winner": "A"}', OPEN],
  ["thoughts with attributes", '<thinking budget="9">\n{"winner": "A"}', OPEN],
  ["thoughts by another name", '<reasoning>{"winner": "A"}', OPEN],
  ["Mistral's thoughts", '[THINK]{"winner": "A"}', OPEN],
  ["Kimi's thoughts", '◁think▷{"winner": "A"}', OPEN],
  ["gpt-oss's thoughts", '<|channel|>analysis<|message|>{"winner": "A"}', OPEN],
  ["open thoughts and a last line", "<think>\nTie", OPEN],
  ["closed thoughts by another name", '<Thinking>{"winner": "A"}</Thinking >{"winner": "B"}', "B"],
  ["gpt-oss's reply", '<|channel|>analysis<|message|>A<|channel|>final<|message|>{"winner": "B"}', "B"],
  ["nothing", "", NONE],
])("%s", (_, reply, expected) => {
  expect(winnerOf(reply)).toBe(expected);
});

describe("the reason", () => {
  test("is the object's, or what was said before it, on one line and cut", () => {
    const reasonOf = (reply: string): string => {
      const read = readVerdict(reply);
      return read.kind === "answer" ? read.answer.reason : read.reason;
    };
    expect(reasonOf('Much.\n{"reason": "more\\n life", "winner": "A"}')).toBe("more life");
    expect(reasonOf('Much more\nlife.\n{"winner": "A"}')).toBe("Much more life.");
    const long = reasonOf(`${"word 😀 ".repeat(5000)}{"winner": "A"}`);
    expect(long.length).toBeLessThanOrEqual(REASON_MAX);
    expect(long.isWellFormed()).toBe(true);
  });
});

test("any text is read or refused, and a winner is always one of the three", () => {
  const bits = fc.constantFrom(
    '{"winner": "A"}',
    '{"winner": "B"}',
    "{",
    "}",
    '"',
    "winner",
    "\\",
    " ",
    "A",
    "</think>",
    "<think>",
    "\nTie",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(bits, { maxLength: 40 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (reply) => {
      const read = readVerdict(reply);
      if (read.kind === "answer") expect(["A", "B", "tie"]).toContain(read.answer.winner);
      else expect([DIFFER, NONE, OPEN, UNKNOWN]).toContain(read.reason);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test.each([
  "{",
  "}",
  '{"winner":',
  '"winner" :',
  "`",
  " ",
  '{"winner": "A"}',
  "\\",
  "</think>",
  "<think ",
  "<think>",
  "\nA",
])("a megabyte of %j ends", (unit) => {
  const text = unit.repeat(Math.floor(2 ** 20 / unit.length));
  for (const reply of [text, `${text}}`, `{${text}}`, `${text}{"winner": "B"}`]) readVerdict(reply);
});
