/**
 * Reads words in place of a value: an answer in words, a name with a verb ("The probability is 7/8"), or words without
 * a meaning.
 */
import type { Node } from "../syntax.ts";
import { accept, type Cursor, fail, peek, textOf, type Token } from "./tokens.ts";
import { wordSet } from "./names.ts";
import { UNITS } from "./unit-names.ts";

/** Words before a value that do not change the value. */
const FILLERS = wordSet(
  "exactly either both only a an the total of for all any every real numbers number integers integer values value",
);
const WORDS_MAX = 12;

/** Words that mark the value after them as approximate. */
const HEDGES = wordSet("approximately approx about roughly around nearly almost circa maybe perhaps probably possibly");

const HEDGES_MAX = 3;

/** Accepts "≈" or words such as "about". Returns whether they were found, so that the next value is approximate. */
export function acceptHedge(cursor: Cursor): boolean {
  if (accept(cursor, "≈")) return true;
  const isWord = (word: (text: string) => boolean): boolean => {
    const token = peek(cursor);
    return token?.kind === "word" && word(token.text.toLowerCase());
  };
  const start = cursor.at;
  for (let count = 0; count < HEDGES_MAX && isWord((text) => HEDGES.has(text)); count++) {
    cursor.at++;
    accept(cursor, ".");
    if (isWord((text) => text === "equal")) cursor.at += 2;
  }
  // "about the same" is an answer in words.
  if (cursor.at > start && isWord(() => true)) cursor.at = start;
  return cursor.at > start;
}

const BEING = wordSet("is are equals equal");
const HAVING = wordSet("has have takes take needs need costs cost gets get");
/**
 * Nouns that mean the answer itself. In "the equation has 2 roots" the verb gives the value, but in "the answer has 2
 * digits" it does not.
 */
const OWNERS = wordSet("answer answers result value solution");
const DENIALS = wordSet(
  "not no never cannot isn't aren't nor neither nobody none nothing which if suppose assume pretend imagine",
);

/** Reads a sentence such as "The probability is 7/8", in which the words before the verb name the value. */
function said(cursor: Cursor, words: readonly string[], verb: number): Node | undefined {
  if (words.length > WORDS_MAX) return fail(cursor, "it is a sentence, not a value");
  cursor.at += verb + 1;
  const name: Node = { kind: "text", text: words.slice(0, verb).join(" ") };
  const isHedged = acceptHedge(cursor);
  const item = cursor.grammar.item(cursor);
  // "The solution is x > 5" means x > 5.
  if (item.kind === "relation" && item.parts[0]?.kind !== "text" && !isHedged) return item;
  return { kind: "relation", parts: [name, item], operators: [isHedged ? "≈" : "="] };
}

/**
 * Reads a list item that consists of words. If a value follows words without a meaning, skips these words and returns
 * undefined.
 */
export function readWords(cursor: Cursor): Node | undefined {
  skipArticle(cursor);
  let end = cursor.at;
  const words: string[] = [];
  for (; end < cursor.tokens.length; end++) {
    const token = cursor.tokens[end];
    if (token?.kind === "word" || (token?.kind === "op" && token.text === "'" && words.length > 0))
      words.push(textOf(token));
    else if (token?.kind === "name" && words.length > 0) words.push(token.text);
    else break;
  }
  if (words.length === 0) return undefined;
  const verb = verbOf(words);
  const isDenied = words.some((word) => DENIALS.has(word.toLowerCase()));
  if (verb > 0 && !isDenied) return said(cursor, words, verb);
  const token = cursor.tokens[end];
  const isEnd =
    token === undefined ||
    (token.kind === "op" && [",", ";", "and", "or", ")", "]", "}", "\\}", "\\\\", "="].includes(token.text));
  if (isEnd) {
    if (words.length > WORDS_MAX) return fail(cursor, "it is a sentence, not a value");
    cursor.at = end;
    const text: Node = { kind: "text", text: words.join(" ") };
    if (!accept(cursor, "=")) return text;
    if (isDenied) return fail(cursor, "its words may deny the answer");
    return { kind: "relation", parts: [text, cursor.grammar.sets(cursor)], operators: ["="] };
  }
  const start = cursor.at;
  while (peek(cursor)?.kind === "word") cursor.at++;
  const before = words.slice(0, cursor.at - start).map((word) => word.toLowerCase());
  if (before.at(-1) === "except" && cursor.at === end) return allBut(cursor, before.slice(0, -1).join(" "));
  if (!before.every((word) => FILLERS.has(word))) cursor.at = start;
  return undefined;
}

/** Returns the index of the verb before the value, or −1 if there is none. */
function verbOf(words: readonly string[]): number {
  const lower = words.map((word) => word.toLowerCase());
  const verb = lower.findIndex((word) => BEING.has(word) || HAVING.has(word));
  return HAVING.has(lower[verb] ?? "") && OWNERS.has(lower[verb - 1] ?? "") ? -1 : verb;
}

/**
 * Skips an article, so that the "a" of "a circle" is not a variable. In "a cm" the next word is a unit, and the a stays
 * a variable.
 */
function skipArticle(cursor: Cursor): void {
  const [first, second] = [peek(cursor), peek(cursor, 1)];
  if (first?.kind !== "name" || first.text !== "a") return;
  const length = second?.kind === "name" && second.text === "n" && !second.space ? 2 : 1;
  let end = length;
  for (let token = peek(cursor, end); isNoun(token); token = peek(cursor, end)) end++;
  if (end > length && (peek(cursor, end) === undefined || peek(cursor, end)?.kind === "op")) cursor.at += length;
}

function isNoun(token: Token | undefined): boolean {
  if (token?.kind === "name") return token.text === "△";
  const word = token?.kind === "word" ? token.text : "";
  const lower = word.toLowerCase();
  return word.length > 2 && !UNITS.has(word) && ![BEING, DENIALS, FILLERS].some((words) => words.has(lower));
}

/** Reads the numbers after "except" in a phrase such as "all real numbers except 2", as a difference of sets. */
function allBut(cursor: Cursor, text: string): Node {
  const right: Node = { kind: "set", items: cursor.grammar.items(cursor) };
  return { kind: "sets", operator: "∖", left: { kind: "text", text }, right };
}
