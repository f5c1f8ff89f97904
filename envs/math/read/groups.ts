/** Parses brackets, braces, bars, matrices, and the systems or piecewise functions of \begin{cases}. */
import { type Node, numberNode, type Piece, quotientOf, symbol } from "../syntax.ts";
import { accept, type Cursor, expect, fail, found, isAt, nested, NOTHING, peek, type Read } from "./tokens.ts";

const readSum: Read = (cursor) => cursor.grammar.sum(cursor);

/** Reads a group in brackets, "( … )" or "[ … ]": one expression, a tuple or an interval. */
export function readBrackets(cursor: Cursor): Node {
  const first = peek(cursor);
  const opening = first?.kind === "op" ? first.text : "(";
  cursor.at++;
  const { bars, turned } = cursor;
  cursor.bars = 0;
  cursor.turned = opening === "]";
  const items = cursor.grammar.items(cursor);
  cursor.bars = bars;
  cursor.turned = turned;
  const closing = peek(cursor);
  if (cursor.problem !== undefined) return NOTHING;
  if (closing?.kind !== "op" || !")]⟩[".includes(closing.text))
    return fail(cursor, `a bracket is not closed${found(cursor)}`);
  cursor.at++;
  if (opening === "⟨" || closing.text === "⟩") return { kind: "bracket", open: "(", close: ")", items };
  // French intervals mark an excluded end by a bracket turned outwards, as in "]1,2[".
  const open = opening === "]" ? "(" : (opening as "(" | "[");
  const close = closing.text === "[" ? ")" : (closing.text as ")" | "]");
  const [only] = items;
  const isPlain = open === "(" && close === ")";
  if (items.length === 1 && only !== undefined && (isPlain || only.kind === "matrix")) return only;
  if (open === "[" && close === "]") return matrixOf(items) ?? { kind: "bracket", open, close, items };
  if ((open === "(") !== (close === ")") && items.length !== 2) return fail(cursor, "its brackets do not match");
  return { kind: "bracket", open, close, items };
}

/** Reads [[1,2],[3,4]] as a matrix. Returns undefined if the items are not rows of equal length. */
function matrixOf(items: readonly Node[]): Node | undefined {
  const rows = items.flatMap((item) =>
    item.kind === "bracket" && item.open === "[" && item.close === "]" ? [item.items] : [],
  );
  const isMatrix =
    rows.length === items.length && rows.length > 0 && rows.every((row) => row.length === rows[0]?.length);
  return isMatrix ? { kind: "matrix", rows } : undefined;
}

/**
 * Reads a group in braces: "{ … }" groups a LaTeX expression, and "\{ … \}" is a set. If `mayBeSet` is true, "{ … }"
 * may be a set too.
 */
export function readBraces(cursor: Cursor, read: Read, mayBeSet = false): Node {
  const isSet = isAt(cursor, "\\{");
  cursor.at++;
  if (accept(cursor, isSet ? "\\}" : "}"))
    return isSet || mayBeSet ? { kind: "set", items: [] } : fail(cursor, "its braces are empty");
  const { bars, inSet } = cursor;
  cursor.bars = 0;
  cursor.inSet = isSet || mayBeSet;
  const node = isSet || mayBeSet ? setOf(cursor, isSet) : nested(cursor, read);
  cursor.bars = bars;
  cursor.inSet = inSet;
  if (cursor.problem !== undefined) return NOTHING;
  if (isAt(cursor, "over") || isAt(cursor, "choose")) return stacked(cursor, node);
  expect(cursor, isSet ? "\\}" : "}");
  return node;
}

function setOf(cursor: Cursor, isSet: boolean): Node {
  const items = cursor.grammar.items(cursor);
  const [element] = items;
  if (items.length === 1 && element !== undefined && (isAt(cursor, "|") || isAt(cursor, "mid") || isAt(cursor, ":"))) {
    cursor.at++;
    const condition = cursor.grammar.listed(cursor);
    return { kind: "builder", element, condition };
  }
  if (items.length === 1 && element !== undefined && !isSet) return element;
  return { kind: "set", items };
}

/** Reads a fraction or binomial coefficient of the form {a \over b} or {n \choose k}, after its first part. */
function stacked(cursor: Cursor, top: Node): Node {
  const isFraction = isAt(cursor, "over");
  cursor.at++;
  const bottom = nested(cursor, readSum);
  expect(cursor, "}");
  if (!isFraction) return { kind: "call", name: "binom", args: [top, bottom] };
  return quotientOf(top, bottom);
}

/**
 * Reads the two arguments of \frac or \binom. If `isShort` is true, digits without braces are split, as in "\frac12".
 */
export function readPair(cursor: Cursor, read: Read, isShort: boolean): readonly [Node, Node] {
  const first = argument(cursor, read, isShort);
  return [first, argument(cursor, read, isShort)];
}

function argument(cursor: Cursor, read: Read, isShort: boolean): Node {
  if (isAt(cursor, "{")) return readBraces(cursor, read);
  if (isShort) splitDigits(cursor);
  return cursor.grammar.primary(cursor);
}

function splitDigits(cursor: Cursor): void {
  const token = peek(cursor);
  if (token?.kind !== "number" || token.digits === undefined || token.digits.length < 2 || token.base !== undefined)
    return;
  const [first, rest] = [token.digits.slice(0, 1), token.digits.slice(1)];
  cursor.tokens.splice(
    cursor.at,
    1,
    { kind: "number", value: { num: BigInt(first), den: 1n }, digits: first, space: token.space },
    { kind: "number", value: { num: BigInt(rest), den: 1n }, digits: rest, space: false },
  );
}

/** Closing bar and function name for each opening bar. */
const BARS: ReadonlyMap<string, readonly [closing: string, name: string]> = new Map([
  ["⌊", ["⌋", "floor"]],
  ["⌈", ["⌉", "ceil"]],
]);

/** Reads |x|, ⌊x⌋ and ⌈x⌉. */
export function readBars(cursor: Cursor): Node {
  const token = peek(cursor);
  const opening = token?.kind === "op" ? token.text : "|";
  cursor.at++;
  const bars = cursor.bars;
  cursor.bars = opening === "|" ? bars + 1 : 0;
  const node = readSum(cursor);
  cursor.bars = bars;
  const [closing, name] = BARS.get(opening) ?? ["|", "abs"];
  expect(cursor, closing);
  return { kind: "call", name, args: [node] };
}

const CELLS_MAX = 400;

/** Reads \begin{pmatrix} … \end{pmatrix} and similar environments. */
export function readMatrix(cursor: Cursor): Node {
  const token = peek(cursor);
  const name = token?.kind === "op" ? token.text.slice("\\begin:".length) : "";
  if (!MATRICES.includes(name)) return fail(cursor, `the environment ${name.slice(0, 40)} is not supported`);
  cursor.at++;
  if (name === "array" && isAt(cursor, "{"))
    while (cursor.at < cursor.tokens.length && !accept(cursor, "}")) cursor.at++;
  const rows: Node[][] = [[]];
  let cells = 0;
  while (cursor.problem === undefined && !isAt(cursor, `\\end:${name}`)) {
    if (accept(cursor, "\\\\")) {
      rows.push([]);
      continue;
    }
    rows.at(-1)?.push(cursor.grammar.relation(cursor));
    if (++cells > CELLS_MAX) return fail(cursor, "its matrix is too large");
    // An empty cell, or two cells without a separator, would shift all later cells, so the matrix is refused.
    if (!accept(cursor, "&") && !isAt(cursor, "\\\\") && !isAt(cursor, `\\end:${name}`))
      return fail(cursor, `expected & or \\\\ after a cell of its matrix${found(cursor)}`);
  }
  expect(cursor, `\\end:${name}`);
  const filled = rows.filter((row) => row.length > 0);
  if (filled.some((row) => row.length !== filled[0]?.length))
    return fail(cursor, "the rows of its matrix have different lengths");
  const matrix: Node = { kind: "matrix", rows: filled };
  return name === "vmatrix" ? { kind: "call", name: "det", args: [matrix] } : matrix;
}

const MATRICES: readonly string[] = ["pmatrix", "bmatrix", "matrix", "Bmatrix", "vmatrix", "smallmatrix", "array"];

// Functions that read \begin{cases}, which is a system of equations or a function defined by cases.

const END = "\\end:cases";
const ROWS_MAX = 20;

interface Row {
  readonly parts: readonly Node[];
  /** True if the row's condition is "otherwise". */
  readonly isRest: boolean;
}

export function readCases(cursor: Cursor): Node {
  cursor.at++;
  const rows: Row[] = [];
  while (cursor.problem === undefined && !isAt(cursor, END)) {
    const row = readRow(cursor);
    if (row.parts.length > 0) rows.push(row);
    if (rows.length > ROWS_MAX) return fail(cursor, "it has too many cases");
    if (!accept(cursor, "\\\\") && !isAt(cursor, END))
      return fail(cursor, `expected \\\\ or \\end{cases} after a case${found(cursor)}`);
  }
  expect(cursor, END);
  if (cursor.problem !== undefined) return NOTHING;
  if (rows.length === 0) return fail(cursor, "it has no cases");
  // If every row holds only equations or inequalities, the rows are a system. In a function, each row starts with a
  // value.
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

/** Reads a row of \begin{cases}: a value and its condition. */
function readRow(cursor: Cursor): Row {
  const parts: Node[] = [];
  let isRest = false;
  while (cursor.problem === undefined && !isAt(cursor, "\\\\") && !isAt(cursor, END)) {
    const token = peek(cursor);
    const word = token?.kind === "word" ? token.text.toLowerCase() : "";
    if (["&", ",", ";", ".", "and"].some((mark) => accept(cursor, mark))) continue;
    if (INTRODUCTIONS.has(word) || RESTS.has(word)) {
      isRest ||= RESTS.has(word);
      cursor.at++;
    } else parts.push(parity(cursor) ?? cursor.grammar.relation(cursor));
  }
  return { parts, isRest };
}

const PARITIES: Readonly<Record<string, bigint>> = { even: 0n, odd: 1n, 偶数: 0n, 奇数: 1n };

/** Reads a condition such as "n is even" as n mod 2 = 0. */
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
  const mod: Node = { kind: "call", name: "mod", args: [symbol(name.text), numberNode(2n)] };
  return { kind: "relation", parts: [mod, numberNode(rest)], operators: ["="] };
}
