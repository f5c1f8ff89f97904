/** Parses an answer as a whole: lists, relations, set operations, ratios and units. */
import { type Joiner, negated, type Node, type Relation, splitModulus } from "../syntax.ts";
import { accept, type Cursor, expect, fail, found, type Grammar, isAt, NOTHING, peek, type Token } from "./tokens.ts";
import {
  readExponent,
  readPower,
  readPrimary,
  readProduct,
  readSum,
  startsCondition,
  startsFactor,
} from "./expression.ts";
import { readBraces } from "./groups.ts";
import { isNumberSet } from "./names.ts";
import { acceptHedge, readWords } from "./phrases.ts";
import { joinedUnits, readRemark, readUnit, startsRemark, startsTo } from "./unit.ts";
import { readDefined, readSetBehind } from "./scripts.ts";

/** Maximum number of items of a list. It bounds the time, because unordered items are all compared with each other. */
const ITEMS_MAX = 100;
/** Maximum number of sets in a union, because merging sets takes time that grows faster than their number. */
const SETS_MAX = 30;

/** Parses a whole answer. */
export function readStatement(cursor: Cursor): Node {
  skipConnective(cursor);
  const first = peek(cursor);
  // An answer such as "\le 5" leaves out its left side.
  if (first?.kind === "op" && "<>≤≥≠".includes(first.text))
    cursor.tokens.unshift({ kind: "name", text: "x", space: false });
  const isApproximate = acceptHedge(cursor);
  if (!isApproximate) accept(cursor, "=");
  const node = readAll(cursor);
  if (!isApproximate) return node;
  return { kind: "relation", parts: [{ kind: "text", text: "it" }, node], operators: ["≈"] };
}

const CONNECTIVES: ReadonlySet<string> = new Set(["therefore", "thus", "hence", "so", "then", "finally"]);

const CIRCUMSTANCES: ReadonlySet<string> = new Set(["after", "by", "using", "from", "upon"]);
const WE: ReadonlySet<string> = new Set(["we"]);
const FINDING: ReadonlySet<string> = new Set(["get", "find", "have", "obtain", "see", "conclude"]);
const THAT: ReadonlySet<string> = new Set(["that"]);

/** Skips introductory words, as in "Therefore, x = 6" or "After simplifying, we get x = 6". */
function skipConnective(cursor: Cursor): void {
  const isWord = (words: ReadonlySet<string>, ahead = 0): boolean => {
    const token = peek(cursor, ahead);
    return token?.kind === "word" && words.has(token.text.toLowerCase()) && peek(cursor, ahead + 1) !== undefined;
  };
  if (isWord(CIRCUMSTANCES)) {
    let end = 1;
    while (peek(cursor, end)?.kind === "word") end++;
    if (isAt(cursor, ",", end)) cursor.at += end + 1;
  }
  if (isWord(CONNECTIVES)) {
    cursor.at++;
    accept(cursor, ",");
  }
  if (isWord(WE) && isWord(FINDING, 1)) cursor.at += isWord(THAT, 2) ? 3 : 2;
}

function readAll(cursor: Cursor): Node {
  const node = readListed(cursor);
  if (cursor.problem === undefined && cursor.at < cursor.tokens.length)
    return fail(cursor, `expected the end of the answer${found(cursor)}`);
  return cursor.problem === undefined ? node : NOTHING;
}

function readListed(cursor: Cursor): Node {
  const joiners: Joined[] = [];
  const items = readItems(cursor, readItem, joiners);
  if (cursor.problem !== undefined) return NOTHING;
  const [only] = items;
  if (items.length === 1 && only !== undefined) return only;
  shareModulus(items);
  const cases = casesOf(items, joiners);
  if (cases !== undefined) return { kind: "list", joiner: "or", items: cases };
  const joiner = joiners.includes("or") ? "or" : joiners.includes("and") ? "and" : ",";
  return { kind: "list", joiner, items };
}

/** A separator between list items. */
type Joined = Joiner | ";";

/**
 * Splits the items of an answer such as "x = 2, y = 3 or x = 3, y = 2" into cases. New lines and brackets separate
 * cases, too. Returns undefined unless each case assigns values to the same names.
 */
function casesOf(items: readonly Node[], joiners: readonly Joined[]): readonly Node[] | undefined {
  const outer = (["or", ";", "and"] as const).find((each) => joiners.includes(each));
  const bracketed = items.flatMap((item) => (item.kind === "bracket" && item.open === "(" ? [[...item.items]] : []));
  const cases: Node[][] = bracketed.length === items.length ? bracketed : [[]];
  for (const [i, item] of (bracketed.length === items.length ? [] : items).entries()) {
    if (i > 0 && joiners[i - 1] === outer) cases.push([]);
    (cases.at(-1) as Node[]).push(item);
  }
  if (cases.length < 2) return undefined;
  const names = cases.map((each) => each.map(namedBy).sort().join(" "));
  const areAlike = names.every((each) => each === names[0] && /^\S+(?: \S+)+$/.test(each));
  return areAlike ? cases.map((each): Node => ({ kind: "list", joiner: "and", items: each })) : undefined;
}

/** Returns the letter to which an equation assigns a value, or "" if it assigns none to a letter. */
function namedBy(node: Node): string {
  const [name] = node.kind === "relation" && node.operators.every((operator) => operator === "=") ? node.parts : [];
  return name?.kind === "symbol" ? name.name : "";
}

/** Gives all items of a list the modulus that only the last item states: "x ≡ 1, 4 (mod 5)". */
function shareModulus(items: Node[]): void {
  const last = items.at(-1);
  if (last?.kind !== "residue") return;
  for (const [i, item] of items.entries())
    if (item.kind !== "residue" && (item.kind !== "relation" || item.operators.at(-1) === "≡"))
      items[i] = { ...last, node: item };
}

/** Reads list items up to a closing bracket or the end. */
export function readItems(cursor: Cursor, read: (cursor: Cursor) => Node, joiners: Joined[] = []): Node[] {
  const items = [read(cursor)];
  for (
    let joiner = acceptJoiner(cursor);
    joiner !== undefined && cursor.problem === undefined;
    joiner = acceptJoiner(cursor)
  ) {
    if (cursor.at >= cursor.tokens.length) break;
    joiners.push(joiner);
    items.push(readRemark(cursor) ?? read(cursor));
    if (items.length > ITEMS_MAX) fail(cursor, "it has too many items");
  }
  return items;
}

/**
 * Returns whether a new list item begins at the cursor: after a new line, \quad, or dollar signs that start a formula.
 */
function startsAfresh(cursor: Cursor): boolean {
  const token = peek(cursor);
  if (token?.gap !== true || token.kind === "word") return false;
  return token.kind !== "op" || cursor.grammar.startsFactor(cursor) || "+-±∓".includes(token.text);
}

/** Accepts a separator between list items. A comma followed by "and" is one separator. */
function acceptJoiner(cursor: Cursor): Joined | undefined {
  let joiner: Joined | undefined;
  if (accept(cursor, ",")) joiner = startsAfresh(cursor) ? ";" : ",";
  else if (accept(cursor, ";") || accept(cursor, "\\\\")) joiner = ";";
  if (accept(cursor, "and") || accept(cursor, "&")) return "and";
  if (accept(cursor, "or")) return "or";
  if (joiner === undefined && startsAfresh(cursor)) return ";";
  return joiner ?? (startsCondition(cursor) || startsRemark(cursor) ? "," : undefined);
}

const RELATIONS_MAX = 16;
const RELATIONS = "=≠<>≤≥≈∈≡∝";

/** Reads a list item, which may consist of words. */
export function readItem(cursor: Cursor): Node {
  return readWords(cursor) ?? withModulus(cursor, readRelation(cursor));
}

/**
 * Reads a modulus after a node: x ≡ 2 (mod 5), 2 \pmod 5 or x ≡ 2 mod 5. Returns the node unchanged if there is none.
 */
function withModulus(cursor: Cursor, node: Node): Node {
  if (isAt(cursor, ",") && isAt(cursor, "(", 1) && isAt(cursor, "mod", 2)) cursor.at++;
  const isBracketed = (isAt(cursor, "(") || isAt(cursor, "[")) && isAt(cursor, "mod", 1);
  if (isBracketed || isAt(cursor, "pmod")) {
    cursor.at += isBracketed ? 2 : 1;
    const modulus = isBracketed ? readSum(cursor) : readModulus(cursor);
    if (isBracketed && !accept(cursor, "]")) expect(cursor, ")");
    return { kind: "residue", node, modulus };
  }
  if (node.kind !== "relation" || node.operators.at(-1) !== "≡") return node;
  const [rest, modulus] = splitModulus(node.parts.at(-1) as Node);
  if (modulus === undefined) return node;
  return { kind: "residue", node: { ...node, parts: [...node.parts.slice(0, -1), rest] }, modulus };
}

function readModulus(cursor: Cursor): Node {
  return isAt(cursor, "{") ? readBraces(cursor, readSum) : readPrimary(cursor);
}

/** Reads a chain of expressions with relation signs between them, e.g. 1 < x ≤ 2. */
export function readRelation(cursor: Cursor): Node {
  const parts = [readDefined(cursor) ?? readSets(cursor)];
  const operators: Relation[] = [];
  for (;;) {
    // Aligned equations have a "&" before the sign: "x &= 5".
    if (isAt(cursor, "&") && isAt(cursor, "=", 1)) cursor.at++;
    const token = peek(cursor);
    if (token?.kind !== "op" || !RELATIONS.includes(token.text) || cursor.problem !== undefined) break;
    cursor.at++;
    operators.push(token.text as Relation);
    if (operators.length > RELATIONS_MAX) return fail(cursor, "it is a chain of too many relations");
    parts.push((token.text === "∈" ? readSetBehind(cursor) : undefined) ?? readSets(cursor));
  }
  return operators.length === 0 ? (parts[0] as Node) : { kind: "relation", parts, operators };
}

/** Reads unions, intersections and differences of sets. */
function readSets(cursor: Cursor): Node {
  let left: Node = asDifference(readRatio(cursor));
  for (let count = 0; ; count++) {
    if (count > SETS_MAX) return fail(cursor, "it has too many sets");
    const token = peek(cursor);
    if (token?.kind !== "op" || (token.text !== "∪" && token.text !== "∩" && token.text !== "∖")) return left;
    cursor.at++;
    left = { kind: "sets", operator: token.text, left, right: readRatio(cursor) };
  }
}

/** Rewrites "ℝ − {2}", parsed as a sum, as a difference of sets. */
function asDifference(node: Node): Node {
  const [first, second, ...others] = node.kind === "add" ? node.terms : [];
  const isOfSets = first?.node.kind === "symbol" && isNumberSet(first.node.name) && second?.node.kind === "set";
  if (!isOfSets || second.sign !== "-" || others.length > 0) return node;
  return { kind: "sets", operator: "∖", left: first.node, right: second.node };
}

function readRatio(cursor: Cursor): Node {
  const first = readMeasure(cursor);
  if (!(isAt(cursor, ":") || startsTo(cursor)) || first.kind === "bracket" || cursor.inSet) return first;
  const parts: Node[] = [first];
  while ((isAt(cursor, ":") || startsTo(cursor)) && cursor.problem === undefined) {
    cursor.at++;
    parts.push(readMeasure(cursor));
  }
  return { kind: "ratio", parts };
}

function isMoney(token: Token | undefined): token is Exclude<Token, { kind: "number" }> {
  return token?.kind === "op" && "$€£¥₹".includes(token.text);
}

/** Reads a sum with its unit, e.g. "5 + 2 cm". */
function readMeasure(cursor: Cursor): Node {
  // A minus sign may stand before the currency: "-$5".
  const isNegative = isAt(cursor, "-") && isMoney(peek(cursor, 1));
  if (isNegative) cursor.at++;
  const money = peek(cursor);
  if (isMoney(money)) {
    cursor.at++;
    const node = isNegative ? negated(readProduct(cursor)) : readSum(cursor);
    // An amount of money may have a further unit: "$9.50 per hour".
    return { kind: "unit", node, unit: [money.text, readUnit(cursor) ?? ""].join(" ").trim() };
  }
  if (isAt(cursor, "…")) {
    cursor.at++;
    return { kind: "symbol", name: "…" };
  }
  const node = readSum(cursor);
  if (accept(cursor, "$")) return { kind: "unit", node, unit: "$" };
  const unit = readUnit(cursor);
  if (unit === undefined) return node;
  const measured: Node = { kind: "unit", node, unit };
  // A measure with a smaller unit may follow: "1 hour 30 minutes".
  const rest = peek(cursor)?.kind === "number" ? readMeasure(cursor) : undefined;
  if (rest === undefined) return measured;
  return joinedUnits(measured, rest) ?? fail(cursor, "a number follows its unit");
}

export const GRAMMAR: Grammar = {
  sum: readSum,
  product: readProduct,
  power: readPower,
  primary: readPrimary,
  exponent: readExponent,
  relation: readRelation,
  items: (cursor) => readItems(cursor, readItem),
  item: readItem,
  listed: readListed,
  sets: readSets,
  startsFactor,
};
