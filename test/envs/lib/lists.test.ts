import fc from "fast-check";
import { expect, test } from "vitest";
import { parseIntList } from "../../../envs/lib/parse-lists.ts";

test("reads what it writes, whatever the white space", () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -999_999_999, max: 999_999_999 }), { maxLength: 50 }),
      space,
      (list, gap) => {
        const text = `${gap}[${gap}${list.join(`${gap},${gap}`)}${gap}]${gap}`;
        expect(parseIntList(text)).toEqual({ kind: "answer", answer: list });
      },
    ),
  );
});

test.each([
  ["[007, -0]", [7, 0]],
  ["[-3]", [-3]],
  ["[]", []],
  ["[0, 1,]", [0, 1]],
  ["(0, 1)", [0, 1]],
  ["0, 1", [0, 1]],
  ["0，１，２", [0, 1, 2]],
  ["[\"0\", '1', “2”]", [0, 1, 2]],
  ["[０, １２, －３]", [0, 12, -3]],
  ["(1,)", [1]],
  ["()", []],
  ["{0, 1}", [0, 1]],
  ["{1}", [1]],
  ["\\{0, 1\\}", [0, 1]],
  ["\\left[0, 1\\right]", [0, 1]],
  ["\\left\\{ 0,\\;1 \\right\\}", [0, 1]],
  ["[0,\\,1,\\ 2,\\quad3]", [0, 1, 2, 3]],
  ["［0，1］", [0, 1]],
  ["[\u20090,\u200b1\ufeff,\u30002\u2028]\u00a0", [0, 1, 2]],
])("reads %s", (text, answer) => {
  expect(parseIntList(text)).toEqual({ kind: "answer", answer });
});

test.each([
  ["", "expected '[', found the end"],
  ["0", "expected '[', found '0' at character 1"],
  ["0,", "expected '[', found '0' at character 1"],
  ["0, 1]", "expected '[', found '0' at character 1"],
  ["0 1", "expected '[', found '0' at character 1"],
  ["0 -> 1", "expected '[', found '0' at character 1"],
  ['["0, "1"]', "expected a whole number or ']', found '\"' at character 2"],
  ["['0\", 1]", "expected a whole number or ']', found ''' at character 2"],
  ["[0, 1", "expected ',' or ']', found the end"],
  ["[0 1]", "expected ',' or ']', found '1' at character 4"],
  ["[0, 1,,]", "expected a whole number, found ',' at character 7"],
  ["(1)", "expected ',' after the one number in parentheses, found ')' at character 3"],
  ["[0, 1)", "expected ',' or ']', found ')' at character 6"],
  ["(0, 1]", "expected ',' or ')', found ']' at character 6"],
  ["[0\u200b1]", "expected ',' or ']', found '1' at character 4"],
  ["\\[0, 1\\]", "expected '[', found '\\' at character 1"],
  ["[,]", "expected a whole number or ']', found ',' at character 2"],
  ["[0, 1] or so", "expected nothing after the list, found 'o' at character 8"],
  ["[0][1]", "expected nothing after the list, found '[' at character 4"],
  ["[1.5]", "expected ',' or ']', found '.' at character 3"],
  ["[1e3]", "expected ',' or ']', found 'e' at character 3"],
  ["[+1]", "expected a whole number or ']', found '+' at character 2"],
  ["[- 1]", "expected a whole number or ']', found '-' at character 2"],
  ["[--1]", "expected a whole number or ']', found '-' at character 2"],
  ["[[0]]", "expected a whole number or ']', found '[' at character 2"],
  ["[0 -> 1]", "expected ',' or ']', found '-' at character 4"],
  ["[١]", "expected a whole number or ']', found '١' at character 2"],
  ["[𝟙]", "expected a whole number or ']', found '𝟙' at character 2"],
  ["[1234567890]", "a number of more than 9 digits"],
  [`[${"0,".repeat(1000)}0]`, "a list of more than 1000 numbers"],
])("refuses %s", (text, reason) => {
  expect(parseIntList(text)).toEqual({ kind: "malformed", reason: `not a list of whole numbers: ${reason}` });
});
