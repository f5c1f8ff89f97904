import { expect, test } from "vitest";
import { spread, withRow } from "../../scripts/evidence.ts";

test("a spread is the middle and both ends", () => {
  expect(spread([3, 1, 2], 1)).toBe("2.0 (1.0 to 3.0)");
});

const table = "text\n\n| claim | figure |\n| --- | --- |\n| a | 1 |\n| ab | 2 |\n";

test.each([
  [
    "takes the place of the row of the same claim, not of one that begins alike",
    "a",
    table.replace("| a | 1 |", "NEW"),
  ],
  ["is the last where its claim is new", "b", `${table}NEW\n`],
])("a row %s", (_what, claim, expected) => {
  expect(withRow(table, claim, "NEW")).toBe(expected);
});
