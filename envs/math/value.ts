/** Reads what an answer says, and compares two of them: the interface of everything in this folder. */
import type { Parsed } from "../environment.ts";

/** An answer, read. */
export interface MathAnswer {
  /** As it was written, what surrounds it taken away. */
  readonly text: string;
}

/** Whether two answers say the same. Undecided: it cannot be told, which is nobody's mistake. */
export type Comparison =
  | { readonly kind: "equal" }
  | { readonly kind: "different"; readonly reason: string }
  | { readonly kind: "undecided"; readonly reason: string };

/** Reads the text of an answer. Never throws; bounded in steps, digits and depth whatever the text. */
export function readMath(text: string): Parsed<MathAnswer> {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "malformed", reason: "it is empty" };
  return { kind: "answer", answer: { text: trimmed } };
}

/** Whether an answer says what the gold answer says. Never throws; bounded. */
export function compareMath(gold: MathAnswer, answer: MathAnswer): Comparison {
  if (gold.text === answer.text) return { kind: "equal" };
  return { kind: "undecided", reason: "nothing but equal texts is compared yet" };
}

/** What an answer was read as, in one line, at most some 200 characters. */
export function showMath(answer: MathAnswer): string {
  return answer.text.length <= 200 ? answer.text : `${answer.text.slice(0, 200)}…`;
}
