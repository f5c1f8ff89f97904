/** Lists, relations, unions, ratios and units: what an answer is as a whole. */
import type { Joiner, Node, Relation } from "../syntax.ts";
import { accept, type Cursor, fail, found, isAt, NOTHING, peek, textOf } from "./cursor.ts";
import { readSum } from "./expression.ts";
import { readUnit } from "./unit.ts";

const ITEMS_MAX = 200;

/** All of an answer. */
export function readStatement(cursor: Cursor): Node {
  const first = peek(cursor);
  // "\le 5" leaves out what it is about.
  if (first?.kind === "op" && "<>≤≥≠".includes(first.text))
    cursor.tokens.unshift({ kind: "name", text: "x", space: false });
  const isApproximate = accept(cursor, "≈");
  if (!isApproximate) accept(cursor, "=");
  const node = readAll(cursor);
  if (!isApproximate) return node;
  return { kind: "relation", parts: [{ kind: "text", text: "it" }, node], operators: ["≈"] };
}

function readAll(cursor: Cursor): Node {
  const joiners: Joiner[] = [];
  const items = readItems(cursor, readItem, joiners);
  if (cursor.problem === undefined && cursor.at < cursor.tokens.length)
    return fail(cursor, `expected nothing more${found(cursor)}`);
  if (cursor.problem !== undefined) return NOTHING;
  const [only] = items;
  if (items.length === 1 && only !== undefined) return only;
  const joiner = joiners.includes("or") ? "or" : joiners.includes("and") ? "and" : ",";
  return { kind: "list", joiner, items };
}

/** Items up to a closing bracket or the end. */
export function readItems(cursor: Cursor, read: (cursor: Cursor) => Node, joiners: Joiner[] = []): Node[] {
  const items = [read(cursor)];
  for (
    let joiner = acceptJoiner(cursor);
    joiner !== undefined && cursor.problem === undefined;
    joiner = acceptJoiner(cursor)
  ) {
    if (cursor.at >= cursor.tokens.length) break;
    joiners.push(joiner);
    items.push(read(cursor));
    if (items.length > ITEMS_MAX) fail(cursor, "it has too many items");
  }
  return items;
}

/** A comma and an "and" after it are one. */
function acceptJoiner(cursor: Cursor): Joiner | undefined {
  let joiner: Joiner | undefined;
  if (accept(cursor, ",") || accept(cursor, ";") || accept(cursor, "\\\\")) joiner = ",";
  if (accept(cursor, "and") || accept(cursor, "&")) return "and";
  if (accept(cursor, "or")) return "or";
  return joiner;
}

const RELATIONS_MAX = 16;
const RELATIONS = "=≠<>≤≥≈∈≡∝";

/** An item, which may be words. */
export function readItem(cursor: Cursor): Node {
  const words = readWords(cursor);
  return words ?? readRelation(cursor);
}

/** Things with relations between them. */
export function readRelation(cursor: Cursor): Node {
  const parts = [readSets(cursor)];
  const operators: Relation[] = [];
  for (;;) {
    const token = peek(cursor);
    if (token?.kind !== "op" || !RELATIONS.includes(token.text) || cursor.problem !== undefined) break;
    cursor.at++;
    operators.push(token.text as Relation);
    if (operators.length > RELATIONS_MAX) return fail(cursor, "it is too long a chain of relations");
    parts.push(readSets(cursor));
  }
  return operators.length === 0 ? (parts[0] as Node) : { kind: "relation", parts, operators };
}

/** Unions, intersections and differences of sets. */
function readSets(cursor: Cursor): Node {
  let left: Node = readRatio(cursor);
  for (;;) {
    const token = peek(cursor);
    if (token?.kind !== "op" || (token.text !== "∪" && token.text !== "∩" && token.text !== "∖")) return left;
    cursor.at++;
    left = { kind: "sets", operator: token.text, left, right: readRatio(cursor) };
  }
}

function readRatio(cursor: Cursor): Node {
  const first = readMeasure(cursor);
  if (!isAt(cursor, ":") || first.kind === "bracket" || cursor.inSet) return first;
  const parts: Node[] = [first];
  while (accept(cursor, ":") && cursor.problem === undefined) parts.push(readMeasure(cursor));
  return { kind: "ratio", parts };
}

/** A sum with its unit. */
function readMeasure(cursor: Cursor): Node {
  const money = peek(cursor);
  if (money?.kind === "op" && "$€£".includes(money.text)) {
    cursor.at++;
    return { kind: "unit", node: readSum(cursor), unit: money.text };
  }
  if (isAt(cursor, "…")) {
    cursor.at++;
    return { kind: "symbol", name: "…" };
  }
  const node = readSum(cursor);
  if (accept(cursor, "$")) return { kind: "unit", node, unit: "$" };
  const unit = readUnit(cursor);
  return unit === undefined ? node : { kind: "unit", node, unit };
}

/** Words that say nothing of a value's worth, before it. */
const FILLERS: ReadonlySet<string> = new Set([
  "approximately",
  "about",
  "exactly",
  "either",
  "both",
  "only",
  "a",
  "an",
  "the",
  "total",
  "of",
]);
const WORDS_MAX = 12;

const VERBS: ReadonlySet<string> = new Set(["is", "are", "equals", "equal"]);
const DENIALS: ReadonlySet<string> = new Set(["not", "no", "never", "cannot", "isn't", "aren't", "nor", "neither"]);

/** "The probability is 7/8": the words before the verb name it. */
function said(cursor: Cursor, words: readonly string[], verb: number): Node | undefined {
  if (words.length > WORDS_MAX) return fail(cursor, "it is a sentence");
  cursor.at += verb + 1;
  const name: Node = { kind: "text", text: words.slice(0, verb).join(" ") };
  return { kind: "relation", parts: [name, readItem(cursor)], operators: ["="] };
}

/** An item of words alone; words before a value that say nothing are passed over. */
function readWords(cursor: Cursor): Node | undefined {
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
  const verb = words.findIndex((word) => VERBS.has(word.toLowerCase()));
  if (verb > 0 && !words.some((word) => DENIALS.has(word.toLowerCase()))) return said(cursor, words, verb);
  const token = cursor.tokens[end];
  const isEnd =
    token === undefined ||
    (token.kind === "op" && [",", ";", "and", "or", ")", "]", "}", "\\}", "\\\\", "="].includes(token.text));
  if (isEnd) {
    if (words.length > WORDS_MAX) return fail(cursor, "it is a sentence");
    cursor.at = end;
    const text: Node = { kind: "text", text: words.join(" ") };
    if (!accept(cursor, "=")) return text;
    return { kind: "relation", parts: [text, readSets(cursor)], operators: ["="] };
  }
  if (!words.every((word) => FILLERS.has(word.toLowerCase()))) return undefined;
  cursor.at = end;
  return undefined;
}
