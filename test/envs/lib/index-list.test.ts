import { expect, test } from "vitest";
import { formatIntList, indexProblem, parseIntList } from "../../../envs/lib/parse-lists.ts";

test.each([[[]], [[0]], [[3, 0, 2]]])("%j is read as it was written", (list) => {
  expect(parseIntList(formatIntList(list))).toEqual({ kind: "answer", answer: list });
});

test.each([
  [[], undefined],
  [[3, 1, 0], undefined],
  [[0, 4, 4], "item 4 does not exist: items are 0 to 3"],
  [[0, -1], "item -1 does not exist: items are 0 to 3"],
  [[0, 3, 0, 9], "item 0 is listed twice"],
])("of four, %j: %s", (list, problem) => {
  expect(indexProblem(list, 4, "item", "items")).toBe(problem);
});
