/**
 * Tests the question to a teacher, and the lists of JSON that are read from its replies whatever text surrounds them.
 */
import { describe, expect, test } from "vitest";
import { countdown } from "../../../envs/countdown/index.ts";
import { teacher } from "../../../envs/countdown/teacher.ts";
import { rngFor } from "../../../envs/lib/rng.ts";

const task = { nums: [50, 3, 8, 4], target: 70 };
const list = JSON.stringify([task]);

test("the prompt names the level, and differs from request to request", () => {
  for (const level of countdown.levels) {
    const [one, again, other] = [1, 1, 2].map((seed) => teacher.prompt(level, 16, rngFor("test", seed))[0]?.content);
    expect(one).toContain(level.description);
    expect(one).toContain("16 Countdown tasks");
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  }
});

describe("a reply", () => {
  test.each([
    ["alone", list],
    ["in a code fence", `Here you are:\n\`\`\`json\n${list}\n\`\`\``],
    ["after thoughts with lists in them", `<think>[1, 2] or [3]?</think>\n${list}`],
    ["in an object", JSON.stringify({ tasks: [task] })],
  ])("%s", (_name, text) => {
    expect(teacher.read(text)).toEqual({ kind: "answer", answer: [task] });
  });

  test.each([
    ["empty", ""],
    ["words", "I would rather not."],
    ["cut off", list.slice(0, -4)],
    ["code", "[process.exit(1)]"],
    ["reversed", "] ["],
    ["too long", `[${"1,".repeat(40_000)}1]`],
    ["deep", "[".repeat(50_000) + "]".repeat(10)],
  ])("that is %s is malformed", (_name, text) => {
    expect(teacher.read(text).kind).toBe("malformed");
  });
});
