/** What is said of a name behind an answer: "for any constant c", "where k is an integer". */
import { type Node, symbol } from "../syntax.ts";
import { accept, type Cursor, peek } from "./cursor.ts";
import { NUMBER_SETS } from "./names.ts";

const STARTS: ReadonlySet<string> = new Set(["for", "where", "with"]);
const WORDS: ReadonlySet<string> = new Set(
  "any all every each some constant constants real reals number numbers integer integers positive negative nonnegative natural rational arbitrary is are be a an".split(
    " ",
  ),
);

export function startsRemark(cursor: Cursor): boolean {
  return remarkAt(cursor) !== undefined;
}

/** As a condition: that a name is a whole number, or, of a constant, any real one. */
export function readRemark(cursor: Cursor): Node | undefined {
  const remark = remarkAt(cursor);
  if (remark === undefined) return undefined;
  cursor.at = remark.end;
  accept(cursor, ")");
  const isWhole = remark.words.some((word) => word.startsWith("integer") || word === "natural");
  const isPositive = remark.words.some((word) => ["positive", "nonnegative", "natural"].includes(word));
  const told = isWhole ? (isPositive ? "ℕ" : "ℤ") : remark.words.includes("positive") ? "ℝ+" : "ℝ";
  return { kind: "relation", parts: [symbol(remark.name), symbol(remark.set ?? told)], operators: ["∈"] };
}

interface Remark {
  readonly name: string;
  readonly words: readonly string[];
  /** Where it says "x ∈ ℝ". */
  readonly set: string | undefined;
  readonly end: number;
}

/** Only of one name and words that are known, up to the end. */
function remarkAt(cursor: Cursor): Remark | undefined {
  const first = peek(cursor);
  const isBracketed = first?.kind === "op" && first.text === "(";
  const start = peek(cursor, isBracketed ? 1 : 0);
  const isIntroduced = start?.kind === "word" && STARTS.has(start.text.toLowerCase());
  const verb = peek(cursor, isBracketed ? 2 : 1);
  const isSentence = start?.kind === "name" && verb?.kind === "word" && verb.text === "is";
  if (!isIntroduced && !isBracketed && !isSentence) return undefined;
  const words: string[] = [];
  let name: string | undefined;
  let ahead = (isBracketed ? 1 : 0) + (isIntroduced ? 1 : 0);
  for (; ; ahead++) {
    const token = peek(cursor, ahead);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (WORDS.has(word)) words.push(word);
    else if ((token?.kind === "name" || /^[a-z]$/.test(word)) && name === undefined)
      name = (token as { text: string }).text;
    else break;
  }
  const [sign, letter] = [peek(cursor, ahead), peek(cursor, ahead + 1)];
  const isIn = sign?.kind === "op" && sign.text === "∈" && letter?.kind === "name";
  const set = isIn ? (NUMBER_SETS[letter.text] ?? letter.text) : undefined;
  if (isIn) ahead += 2;
  const last = peek(cursor, ahead);
  const isEnd = last === undefined || (last.kind === "op" && [",", ".", ")", "}", "\\}"].includes(last.text));
  return isEnd && name !== undefined && words.length > 0 ? { name, words, set, end: cursor.at + ahead } : undefined;
}
