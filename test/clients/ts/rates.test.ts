/** Pass rates of rows as files have them. */
import { expect, test } from "vitest";
import { readRates } from "../../../clients/ts/src/public.ts";

const report = (rows: unknown): string => JSON.stringify({ report: {}, rows });
const rated = (pool: string, row: number, rate: number) => ({ pool, row, samples: 4, pass_rate: rate });

test("CSV is read by its columns' names, in any order and among others", () => {
  expect(readRates("row,pass_rate\n3,0.25\n\n0,1\n")).toEqual(new Map([[3, 0.25], [0, 1]])); // prettier-ignore
  expect(readRates("pass_rate, note ,row\r\n0.5,x,7\r\n")).toEqual(new Map([[7, 0.5]]));
});

test("a report has the rows of its suite, of one pool or of the one that is named", () => {
  expect(readRates(report([rated("a", 3, 0.5), rated("a", 4, 0)]))).toEqual(new Map([[3, 0.5], [4, 0]])); // prettier-ignore
  const two = report([rated("a", 3, 0.5), rated("b", 3, 1)]);
  expect(readRates(two, "b")).toEqual(new Map([[3, 1]]));
  expect(() => readRates(two)).toThrow("rates: the report has rows of several pools: name one of a, b");
  expect(() => readRates(two, "c")).toThrow(
    "rates: the report has no rows of pool 'c': evaluate a suite that has such rows",
  );
});

test.each([
  ["row,rate\n1,1", "rates: line 1: wants the columns row,pass_rate; got row,rate"],
  ["row,pass_rate\n0,1\n1,1.5", "rates: line 3: wants a row from 0 and a rate in [0, 1]; got 1,1.5"],
  ["row,pass_rate\n-1,0.5", "rates: line 2: wants a row from 0"],
  ["row,pass_rate\n1,", "rates: line 2: wants a row from 0"],
  ["row,pass_rate\n1,0.5\n1,0.6", "rates: line 3: row 1 has a rate already"],
  ['row,note,pass_rate\n1,"f(1,0,5)",0.5', "line 2: it has 5 fields, and the first line names 3 columns"],
  ["{", "rates: the report is not JSON"],
  [report(undefined), "rates: the report has no rows of any pool"],
  [report("x"), "rates: rows must be a list of objects"],
  [report([rated("a", 0.5, 1)]), "rates: rows[0]: wants a row from 0 and a pass_rate in [0, 1]"],
])("says what is wrong with %j", (text, message) => {
  expect(() => readRates(text)).toThrow(message);
});
