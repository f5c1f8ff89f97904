/**
 * Defines the rules that transform a sequence: their wording in the prompt, and their implementation. README.md has an
 * example of each.
 */
import { splitWords } from "../lib/words.ts";

export type Digits = readonly number[];

export interface Rule {
  /** Second part of the environment's id, after "sequence/". */
  readonly name: string;
  /** Short description of the transformation. */
  readonly description: string;
  /** Returns the wording in the prompt, for digits from 0 to symbols − 1. */
  statement(symbols: number): string;
  /** Returns the transformed sequence, which has the same length. */
  apply(sequence: Digits, symbols: number): Digits;
}

/**
 * Tables of the rule `map`, one for each number of symbols: digit i becomes the digit at position i. No digit maps to
 * itself, and no two map to the same digit.
 */
const TABLES = splitWords("10 120 2031 30412 350214 4062513 57361042 648271503 7391860425");

/** Returns the table of the rule `map`: the image of each digit. */
export function tableOf(symbols: number): Digits {
  const table = TABLES.find(({ length }) => length === symbols);
  if (table === undefined) throw new Error(`bug: the rule 'map' has no table for ${symbols} symbols`);
  return Array.from(table, Number);
}

const map: Rule = {
  name: "map",
  description: "replace each digit by the one that a table gives",
  statement(symbols) {
    const pairs = tableOf(symbols).map((to, from) => `${from} becomes ${to}`);
    return `Replace each digit by another one: ${pairs.join(", ")}.`;
  },
  apply(sequence, symbols) {
    const table = tableOf(symbols);
    return sequence.map((digit) => table[digit] ?? digit);
  },
};

const runningSum: Rule = {
  name: "running-sum",
  description: "replace each digit by the sum of all up to it, modulo the number of symbols",
  statement: (symbols) =>
    `Replace each digit by the sum of all digits from the first up to it, itself included, modulo ${symbols}.`,
  apply(sequence, symbols) {
    let sum = 0;
    return sequence.map((digit) => (sum = (sum + digit) % symbols));
  },
};

const difference: Rule = {
  name: "difference",
  description: "replace each digit by its difference from the one before, modulo the number of symbols",
  statement: (symbols) =>
    `Keep the first digit. Replace each other one by itself less the digit before it, modulo ${symbols}: a number from 0 to ${symbols - 1}.`,
  apply: (sequence, symbols) => sequence.map((digit, i) => (digit - (sequence[i - 1] ?? 0) + symbols) % symbols),
};

const sort: Rule = {
  name: "sort",
  description: "put the digits in order",
  statement: () => "Put the digits in order, the smallest first. Keep each as often as it comes.",
  apply: (sequence) => sequence.toSorted((a, b) => a - b),
};

const reverse: Rule = {
  name: "reverse",
  description: "write the digits from the last to the first",
  statement: () => "Write the digits in reverse order, from the last to the first.",
  apply: (sequence) => sequence.toReversed(),
};

export const rules: readonly Rule[] = [map, runningSum, difference, sort, reverse];
