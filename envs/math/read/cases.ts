/** \begin{cases}: a system of equations, or what a function is in each of several cases. */
import { whole } from "../numbers/rational.ts";
import type { Node, Piece } from "../syntax.ts";
import { accept, type Cursor, expect, fail, found, isAt, NOTHING, peek } from "./cursor.ts";

const END = "\\end:cases";
const ROWS_MAX = 20;

interface Row {
  readonly parts: readonly Node[];
  /** Whether it says "otherwise". */
  readonly isRest: boolean;
}

export function readCases(cursor: Cursor): Node {
  cursor.at++;
  const rows: Row[] = [];
  while (cursor.problem === undefined && !isAt(cursor, END)) {
    const row = readRow(cursor);
    if (row.parts.length > 0) rows.push(row);
    if (rows.length > ROWS_MAX) return fail(cursor, "it has too many cases");
    if (!accept(cursor, "\\\\") && !isAt(cursor, END)) return fail(cursor, `a case does not end${found(cursor)}`);
  }
  expect(cursor, END);
  if (cursor.problem !== undefined) return NOTHING;
  if (rows.length === 0) return fail(cursor, "it has no cases");
  // Equations alone are a system; of a function the values come first.
  if (rows.every(({ parts, isRest }) => !isRest && parts.every(({ kind }) => kind === "relation")))
    return { kind: "list", joiner: "and", items: rows.flatMap(({ parts }) => parts) };
  const pieces = rows.map(({ parts }): Piece => ({
    value: parts[0] as Node,
    condition: parts.length > 2 ? { kind: "list", joiner: "and", items: parts.slice(1) } : parts[1],
  }));
  const isWhole = pieces.every(({ condition }, i) => condition !== undefined || i === pieces.length - 1);
  return isWhole ? { kind: "cases", pieces } : fail(cursor, "one of its cases does not say when it applies");
}

const INTRODUCTIONS: ReadonlySet<string> = new Set(["if", "for", "when", "where", "whenever", "若", "当"]);
const RESTS: ReadonlySet<string> = new Set(["otherwise", "else", "elsewhere", "其他"]);

/** A value and what it holds for, up to the end of the line. */
function readRow(cursor: Cursor): Row {
  const parts: Node[] = [];
  let isRest = false;
  while (cursor.problem === undefined && !isAt(cursor, "\\\\") && !isAt(cursor, END)) {
    const token = peek(cursor);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (accept(cursor, "&") || accept(cursor, ",") || accept(cursor, ";") || accept(cursor, ".")) continue;
    if (accept(cursor, "and")) continue;
    if (INTRODUCTIONS.has(word) || RESTS.has(word)) {
      isRest ||= RESTS.has(word);
      cursor.at++;
    } else parts.push(parity(cursor) ?? cursor.grammar.relation(cursor));
  }
  return { parts, isRest };
}

const PARITIES: Readonly<Record<string, bigint>> = { even: 0n, odd: 1n, 偶数: 0n, 奇数: 1n };

/** "n is even" as n mod 2 = 0. */
function parity(cursor: Cursor): Node | undefined {
  const name = peek(cursor);
  if (name?.kind !== "name" && name?.kind !== "word") return undefined;
  let ahead = 1;
  for (; ; ahead++) {
    const token = peek(cursor, ahead);
    if (token?.kind !== "word" || !["is", "an", "为", "是"].includes(token.text)) break;
  }
  const word = peek(cursor, ahead);
  const rest = word?.kind === "word" && name.text.length === 1 ? PARITIES[word.text.toLowerCase()] : undefined;
  if (rest === undefined) return undefined;
  cursor.at += ahead + 1;
  const args: readonly Node[] = [
    { kind: "symbol", name: name.text },
    { kind: "number", value: whole(2n) },
  ];
  const parts: readonly Node[] = [
    { kind: "call", name: "mod", args },
    { kind: "number", value: whole(rest) },
  ];
  return { kind: "relation", parts, operators: ["="] };
}
