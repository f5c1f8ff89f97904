/** Rows of a data pool, with the columns of the public 3-to-4 set: {"nums": [44, 19, 35], "target": 98}. */
import type { Parsed, RowReader } from "../environment.ts";
import { type CountdownInstance, LIMITS } from "./instance.ts";
import { tierOf } from "./tiers.ts";

export const rows: RowReader<CountdownInstance> = {
  read,
  levelOf: tierOf,
  defaultPool: { name: "countdown", file: new URL("pool.jsonl", import.meta.url) },
};

function read(row: unknown): Parsed<CountdownInstance> {
  if (typeof row !== "object" || row === null) return malformed("a row is an object with nums and target");
  const { nums, target } = row as { readonly nums?: unknown; readonly target?: unknown };
  const { numbersMin, numbersMax, numberMax, targetMax } = LIMITS;
  if (!Array.isArray(nums) || nums.length < numbersMin || nums.length > numbersMax) {
    return malformed(`nums must be a list of ${numbersMin} to ${numbersMax} numbers`);
  }
  const numbers: readonly unknown[] = nums;
  if (!numbers.every((each) => isWhole(each, numberMax))) {
    return malformed(`nums must be whole numbers from 1 to ${numberMax}`);
  }
  if (!isWhole(target, targetMax)) return malformed(`target must be a whole number from 1 to ${targetMax}`);
  return { kind: "answer", answer: { numbers, target } };
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max;
}

function malformed(reason: string): Parsed<CountdownInstance> {
  return { kind: "malformed", reason };
}
