/** Each picture has words for those who do not see it. */
import { expect, test } from "vitest";
import { saidBy } from "../../page/src/tasks/said.ts";

test.each([
  ["<svg><title>A graph</title><desc>5 &lt; 6</desc></svg>", "A graph 5 < 6"],
  ["<svg><title>A graph</title></svg>", "A graph"],
  ["<svg><title> </title><desc></desc></svg>", "a task"],
  ["<svg></svg>", "a task"],
])("%s says %s", (svg, said) => {
  expect(saidBy(svg, "a task")).toBe(said);
});
