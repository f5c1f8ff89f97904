import { expect, test } from "vitest";
import { readMath } from "../../../envs/math/value.ts";

/** Returns the text that `math` reads as the answer, which may be a sentence; undefined if `math` refuses it. */
function read(text: string): string | undefined {
  const parsed = readMath(text);
  return parsed.kind === "answer" ? parsed.answer.text : undefined;
}

test.each([
  ...[
    "It is not \\boxed{12}",
    "\\boxed{12} is wrong",
    "\\boxed{12}? No, 7",
    "wrong: \\boxed{12}",
    "n'est pas \\boxed{12}",
  ],
  ...[
    "\\cancel{\\boxed{12}} 7",
    "\\boxed{12} is not the answer",
    "\\boxed{12}不正确",
    "≠ \\boxed{12}",
    "\\boxed{12} ist falsch",
  ],
  ...["12 (wrong)", "12 и", "12と", "Is the answer: 12", "wrong\nanswer: 12", "12이\\,아닙니다", "An answer is 12"],
  ...[
    "The opposite of the answer is 12",
    "I don't think the answer is 12",
    "I used to think the answer is 12",
    "I can not say the answer is 12",
    "If the answer is 12",
    "Why the answer is 12",
    "The second best answer is 12",
  ],
])("%j takes its answer back, or may", (text) => {
  expect(read(text)).toBeUndefined();
});

test.each([
  ...["We get 12, so the answer is 12.", "x = 12 hence the answer is 12", "It follows that the answer is 12"],
  ...["I think the answer is 12", "Simplifying gives the answer: 12", "We can say that the answer is 12"],
  ...["Sure! The answer is 12", "Thus we get the final answer: 12", "Step 3: Answer: 12"],
  ...["The total is 12.\n\n**Final Answer**: 12", "All in all.\n\n**Answer**\n12", "Which means the answer is 12"],
  ...[
    "The answer is \\boxed{12}.",
    "\\boxed{12} (not 13)",
    "Thus \\boxed{12}. No other works",
    "\\boxed{12} is the answer",
  ],
])("%j is 12", (text) => {
  expect(read(text)).toBe("12");
});
