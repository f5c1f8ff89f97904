import { expect, test } from "vitest";
import { draw } from "../../pictures/countdown.ts";
import { parse } from "../../envs/countdown/verify.ts";
import { legendWords, lines, marked } from "./looks.ts";

const TASK = { numbers: [1, 2, 6, 8], target: 24 };

function drawText(text: string, best?: string): ReturnType<typeof draw> {
  const [answer, other] = [text, best ?? text].map((each) => parse(each));
  if (answer?.kind !== "answer" || other?.kind !== "answer") throw new Error("malformed");
  return best === undefined ? draw(TASK, answer.answer) : draw(TASK, answer.answer, other.answer);
}

function values(picture: ReturnType<typeof draw>): readonly unknown[] {
  return [...marked(picture, "gd-label"), ...marked(picture, "gd-on-light")].map(({ content }) => content);
}

test("the task alone shows its numbers and the target", () => {
  const picture = draw(TASK);
  expect(marked(picture, "gd-mid").map(({ content }) => content)).toEqual(["1", "2", "6", "8", "24"]);
  expect(picture.legend).toEqual([]);
});

test("a right answer is a tree with the value of each part", () => {
  const picture = drawText("(8 - 6 + 2) * 6 * 1");
  expect(lines(picture, "gd-link")).toBe(8);
  const right = drawText("8 / (2 / 6) * 1");
  expect(values(right)).toEqual(expect.arrayContaining(["1/3", "24", "×", "÷"]));
  expect([marked(right, "gd-wrong"), marked(right, "gd-missing"), right.notes]).toEqual([[], [], []]);
  expect(legendWords(right)).toContain("equals the target");
});

test("a wrong value is outlined, with a right answer beside it", () => {
  const picture = drawText("8 + 6 + 2 + 1", "8 / (2 / 6) * 1");
  expect(marked(picture, "gd-wrong")).toHaveLength(1);
  expect(picture.notes).toEqual(["One right answer: 8 / (2 / 6) * 1"]);
});

test("numbers too many and too few are marked", () => {
  const picture = drawText("6 + 6 + 6 + 6");
  expect(picture.notes).toEqual(["Not used: 1, 2, 8", "Used, but not given or not so often: 6, 6, 6"]);
  expect(marked(picture, "gd-missing")).toHaveLength(6);
});

test("a division by zero is marked where it happens", () => {
  const picture = drawText("1 + 8 / (2 - 2) + 6");
  expect(values(picture).filter((value) => value === "none")).toHaveLength(3);
  expect(marked(picture, "gd-wrong")).toEqual([]);
  expect(legendWords(picture)).toContain("division by zero");
});

test("a false claim is named", () => {
  expect(drawText("8 + 6 + 2 + 1 = 25").notes).toEqual(["It claims to be 25."]);
});

test("the deepest, longest expressions stay of a size that can be looked at", () => {
  const chain = Array.from({ length: 64 }, () => "999999999").join(" * ");
  const picture = drawText(chain);
  expect(picture.height).toBeLessThan(3000);
  for (const value of values(picture)) expect(`${value as string}`.length).toBeLessThan(10);
});
