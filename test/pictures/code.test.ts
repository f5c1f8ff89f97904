/** Tests that a program and its tests stay within the picture, whatever a model writes. */
import { expect, test } from "vitest";
import { draw } from "../../pictures/code.ts";
import type { CodeInstance } from "../../envs/code/instance.ts";
import { widthOf } from "./looks.ts";

const task: CodeInstance = {
  prompt: "Echo.",
  starter: "",
  prefix: "",
  tests: [{ kind: "script", stdin: "雨".repeat(200), stdout: "雨".repeat(200) }],
  unread: [],
  references: [],
  level: "easy",
};

test("long lines, deep ones and wide letters are cut before the picture's edge", () => {
  const program = [
    `${" ".repeat(60)}${"x".repeat(100)}`,
    `${"\t".repeat(40)}return`,
    `# ${"雨".repeat(100)}`,
    `${" ".repeat(12)}# ${"🌧".repeat(100)}`,
  ].join("\n");
  const { shapes, width } = draw(task, program);
  const texts = shapes.filter(({ tag }) => tag === "text");
  for (const { attributes, content } of texts) {
    expect(`${content as string}`.isWellFormed()).toBe(true);
    // The margin around a picture is wider than this.
    expect(Number(attributes["x"]) + widthOf(content as string, 12)).toBeLessThanOrEqual(width + 15);
  }
  const [own] = shapes.filter(({ content }) => content === "tests");
  expect(own).toBeDefined();
  // The tests do not run into the program.
  const left = texts.filter(({ attributes }) => Number(attributes["x"]) < 480);
  for (const { attributes, content } of left)
    expect(Number(attributes["x"]) + widthOf(content as string, 12)).toBeLessThan(480 + 24);
});
