/** Tests the values of the page's charts: at a position, in the table and in the CSV file. */
import { expect, test } from "vitest";
import { csvOf, fileName, nearest, readingOf, readingWords, rowsOf } from "../../page/src/ui/figures.ts";
import type { Curve } from "../../page/src/ui/marks.ts";

function curve(name: string, ...spots: readonly (readonly [number, number | undefined])[]): Curve {
  return {
    name,
    spots: spots.map(([x, y]) => ({ x, y })),
    words: (value) => `${value} points`,
    pen: { ink: "var(--best)" },
  };
}

const curves = [curve("one", [0, 0.1], [8, undefined], [16, 0.3]), curve("two", [16, 0.5], [4, 0.25])];

test("rows are in the order of the axis, and leave out what no curve has", () => {
  expect(rowsOf(curves)).toEqual([
    { x: 0, values: [0.1, undefined] },
    { x: 4, values: [undefined, 0.25] },
    { x: 16, values: [0.3, 0.5] },
  ]);
  expect(rowsOf([curve("none", [0, Number.NaN])])).toEqual([]);
});

test("the nearest row is found between, before and behind the rows", () => {
  const rows = rowsOf(curves);
  expect([-9, 1.9, 2.1, 10.1, 99].map((x) => nearest(rows, x))).toEqual([0, 0, 1, 2, 2]);
  expect(nearest([], 1)).toBe(0);
});

test("a reading has the greatest value first, and says how many more there are", () => {
  const figures = { name: "a chart", axis: "rollouts", curves };
  const [, , last] = rowsOf(curves);
  expect(last && readingWords(readingOf(figures, last))).toBe("16 rollouts: two 0.5 points, one 0.3 points");
  const many = Array.from({ length: 15 }, (_, at) => curve(`arm-${at}`, [2048, at]));
  const reading = readingOf({ ...figures, curves: many }, { x: 2048, values: many.map((_, at) => at) });
  expect(reading).toMatchObject({ at: "2,048 rollouts", more: 3 });
  expect(reading.values.map(({ curve: { name } }) => name).slice(0, 2)).toEqual(["arm-14", "arm-13"]);
  expect(readingWords(reading)).toMatch(/arm-3 3 points, and 3 more$/);
});

test("CSV has all digits, empty fields for missing values, and quotes names that need it", () => {
  const named = [curve('a "b", c', [1 / 3, 0.1 + 0.2]), curve("d", [2, 5])];
  expect(csvOf({ name: "a chart", axis: "rollouts", curves: named })).toBe(
    'rollouts,"a ""b"", c",d\r\n0.3333333333333333,0.30000000000000004,\r\n2,,5\r\n',
  );
});

test("a file's name has no character that a file system refuses", () => {
  expect(fileName("my/run: Mean reward", "csv")).toBe("my-run-mean-reward.csv");
});
