/** What counts as a judge's verdict, and what does not. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readVerdict, REASON_MAX } from "../../../envs/lib/verdict.ts";

const winnerOf = (reply: string): string => {
  const read = readVerdict(reply);
  return read.kind === "answer" ? read.answer.winner : read.reason;
};

const DIFFER = "the reply holds two verdicts that differ";
const NONE = "the reply does not end with a JSON object that names a winner";
const UNKNOWN = 'the winner is none of "A", "B" and "tie"';

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
  ["a lower case winner", '{"winner": "a"}', UNKNOWN],
  ["words around the winner", '{"winner": "text A"}', UNKNOWN],
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
  ["thoughts that were cut", '<think>{"winner": "A"} but', NONE],
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
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(bits, { maxLength: 40 }).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (reply) => {
      const read = readVerdict(reply);
      if (read.kind === "answer") expect(["A", "B", "tie"]).toContain(read.answer.winner);
      else expect([DIFFER, NONE, UNKNOWN]).toContain(read.reason);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test.each(["{", "}", '{"winner":', '"winner" :', "`", " ", '{"winner": "A"}', "\\", "</think>"])(
  "a megabyte of %j ends",
  (unit) => {
    const text = unit.repeat(Math.floor(2 ** 20 / unit.length));
    for (const reply of [text, `${text}}`, `{${text}}`, `${text}{"winner": "B"}`]) readVerdict(reply);
  },
);
