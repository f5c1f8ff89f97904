/**
 * Numbers that stand for words such as "train" in encoded task ids. They must never change, because old ids stay in
 * use.
 */
import type { Thinking } from "../../envs/answers/locate.ts";
import type { Split } from "../../envs/environment.ts";
import type { Verdict } from "../../envs/score.ts";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { ReplyDetail } from "../../envs/turns/turns.ts";

interface Numbered<Word extends string, Given extends number> {
  readonly toWire: Readonly<Record<Word, Given>>;
  /** Returns the word for a number. Undefined for 0, which means unset, and for unknown numbers. */
  fromWire(wire: number): Word | undefined;
}

export function numbered<Word extends string, Given extends number>(
  toWire: Readonly<Record<Word, Given>>,
): Numbered<Word, Given> {
  const words = new Map<number, Word>(Object.entries(toWire).map(([word, wire]) => [wire as number, word as Word]));
  return { toWire, fromWire: (wire) => words.get(wire) };
}

/** Returns the words and numbers of an enum of the contract. The words are the names of its values in lower case. */
export function enumerated<Given extends number, Name extends string>(values: {
  readonly [Each in Name | "UNSPECIFIED"]: Given;
}): Numbered<Lowercase<Exclude<Name, "UNSPECIFIED">>, Given> {
  const named = Object.entries<Given | string>(values).filter(([, value]) => typeof value === "number" && value > 0);
  return numbered(Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value])) as never);
}

export const splitNumbers = numbered<Split, number>({ train: 1, eval: 2, bench: 3 });

export const formatNumbers = numbered<AnswerFormat, number>({
  think_answer: 1,
  answer_line: 2,
  answer_tag: 3,
  boxed: 4,
});

export const verdictNumbers = numbered<Verdict, number>({ malformed: 1, infeasible: 2, feasible: 3, graded: 4 });

export const detailNumbers = numbered<Exclude<ReplyDetail, "distance">, number>({ verdict: 1, reason: 2 });

export const thinkingNumbers = numbered<Thinking, number>({ required: 1, prefilled: 2, stripped: 3 });
