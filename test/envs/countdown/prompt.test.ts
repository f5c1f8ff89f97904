import { describe, expect, test } from "vitest";
import { formatInstruction } from "../../../envs/answers/wording.ts";
import { countdown } from "../../../envs/countdown/index.ts";

const instance = { numbers: [3, 3, 8, 8], target: 24 };

function prompt(numbers: readonly number[], target: number): string {
  return countdown
    .render({ numbers, target }, "answer_tag")
    .map(({ content }) => content)
    .join("\n");
}

describe("prompt", () => {
  test.each(countdown.answerFormats)("asks for %s", (format) => {
    const messages = countdown.render(instance, format);
    expect(messages.map(({ role }) => role)).toEqual(["user"]);
    const { content } = messages[0]!;
    expect(content).toContain("Using the numbers 3, 3, 8 and 8, write an arithmetic expression that equals 24.");
    expect(content.endsWith(formatInstruction(format))).toBe(true);
  });

  test("its example is right, and never the task itself", () => {
    const [, expression] = /that equals 70 is (.*)/.exec(prompt([3, 3, 8, 8], 24))!;
    const example = { numbers: [50, 3, 8, 4], target: 70 };
    const parsed = countdown.parse(expression!, example);
    if (parsed.kind === "malformed") throw new Error(parsed.reason);
    expect(countdown.verify(example, parsed.answer).kind).toBe("feasible");

    const other = prompt([8, 50, 4, 3], 70);
    expect(other).not.toContain(expression);
    const [, second] = /that equals 27 is (.*)/.exec(other)!;
    expect(countdown.verify({ numbers: [6, 2, 9], target: 27 }, read(second!)).kind).toBe("feasible");
  });
});

function read(text: string) {
  const parsed = countdown.parse(text, instance);
  if (parsed.kind === "malformed") throw new Error(parsed.reason);
  return parsed.answer;
}

test("metadata has the numbers and the target, for trainers that do not read prompts", () => {
  expect(countdown.metadata(instance)).toEqual({ numbers: "3 3 8 8", target: "24" });
});

test("the order of the numbers does not make another task", () => {
  expect(countdown.canonical({ numbers: [8, 3, 8, 3], target: 24 })).toBe(countdown.canonical(instance));
  expect(countdown.canonical({ numbers: [8, 3, 8, 3], target: 25 })).not.toBe(countdown.canonical(instance));
  expect(countdown.canonical({ numbers: [83, 8, 3], target: 24 })).not.toBe(countdown.canonical(instance));
});
