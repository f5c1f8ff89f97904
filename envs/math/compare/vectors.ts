/** Computes sums and products of matrices and vectors cell by cell, and reads 3i − 2j as the vector (3, −2). */
import {
  type Factor,
  hasDoubleSign,
  type Node,
  numberNode,
  productOf,
  some,
  type Term,
  variablesOf,
} from "../syntax.ts";

type Rows = readonly (readonly Node[])[];
type Bracket = Extract<Node, { kind: "bracket" }>;

/** Maximum number of nodes in all cells of a result. Each factor of a long product would double them. */
const PARTS_MAX = 4_000;
/** Maximum number of nodes in all intermediate results together. */
const PARTS_IN_ALL_MAX = 4 * PARTS_MAX;
const POWER_MAX = 6;

/** Computes an expression of matrices or vectors. Undefined if the node is none, or its sizes do not fit. */
export function matrixOf(node: Node): Node | undefined {
  if (node.kind !== "add" && node.kind !== "multiply" && node.kind !== "power") return undefined;
  const isTuple = (node.kind === "add" || isMultiple(node)) && !some(node, ({ kind }) => kind === "matrix");
  const rows = rowsOf(node, { isTuple, partsLeft: PARTS_IN_ALL_MAX });
  // ±(3, 4) is two vectors, and (±3, ±4) may be four. Their signs are expanded before.
  if (rows === undefined || hasDoubleSign(node)) return undefined;
  return isTuple ? { kind: "bracket", open: "(", close: ")", items: rows.flat() } : { kind: "matrix", rows };
}

/** Returns whether a product scales a vector, as (1/3)(1, 2, 2) does. A(1, 2) and f(1, 2) do not. */
function isMultiple(node: Node): boolean {
  return node.kind === "multiply" && node.factors.every((factor) => isVector(factor.node) || isNumber(factor.node));
}

const isNumber = (node: Node): boolean => node.kind !== "bracket" && variablesOf(node).size === 0;

interface Work {
  /** Whether the operands are bracketed vectors, as in (1, 2) + t(3, 4), and no matrices. */
  readonly isTuple: boolean;
  partsLeft: number;
}

function rowsOf(node: Node, work: Work): Rows | undefined {
  const rows = worked(node, work);
  return rows !== undefined && rows !== (node as { rows?: Rows }).rows && isTooLarge(rows, work) ? undefined : rows;
}

function isTooLarge(rows: Rows, work: Work): boolean {
  let parts = 0;
  const count = (): boolean => ++parts > Math.min(PARTS_MAX, work.partsLeft);
  const isOver = rows.some((row) => row.some((cell) => some(cell, count)));
  work.partsLeft -= parts;
  return isOver;
}

function worked(node: Node, work: Work): Rows | undefined {
  switch (node.kind) {
    case "matrix":
      return node.rows;
    case "bracket":
      return work.isTuple && isVector(node) ? node.items.map((item) => [item]) : undefined;
    case "add":
      return sum(node.terms, work);
    case "multiply":
      return product(node.factors, work);
    case "power":
      return power(node, work);
    default:
      return undefined;
  }
}

function isVector(node: Node): node is Bracket {
  return node.kind === "bracket" && node.open === "(" && node.close === ")" && node.items.length > 1;
}

function sum(terms: readonly Term[], work: Work): Rows | undefined {
  const parts: Rows[] = [];
  for (const { node } of terms) {
    const rows = rowsOf(node, work);
    if (rows === undefined || !areAlike(rows, parts[0] ?? rows)) return undefined;
    parts.push(rows);
  }
  return parts[0]?.map((row, i) =>
    row.map((_, j): Node => ({
      kind: "add",
      terms: terms.map(({ sign }, k) => ({ sign, node: parts[k]?.[i]?.[j] as Node })),
    })),
  );
}

function areAlike(left: Rows, right: Rows): boolean {
  return left.length === right.length && left[0]?.length === right[0]?.length;
}

/** Computes a product. Numbers may stand anywhere; matrices are multiplied in their order. */
function product(factors: readonly Factor[], work: Work): Rows | undefined {
  let rows: Rows | undefined;
  const scalars: Factor[] = [];
  for (const factor of factors) {
    const next = rowsOf(factor.node, work);
    if (next === undefined) {
      if (some(factor.node, ({ kind }) => kind === "matrix")) return undefined;
      scalars.push(factor);
      continue;
    }
    if (factor.inverse || (rows !== undefined && work.isTuple)) return undefined;
    rows = rows === undefined ? next : times(rows, next);
    if (rows === undefined || isTooLarge(rows, work)) return undefined;
  }
  if (rows === undefined || scalars.length === 0) return rows;
  return rows.map((row) =>
    row.map((cell): Node => ({ kind: "multiply", factors: [...scalars, { inverse: false, node: cell }] })),
  );
}

function times(left: Rows, right: Rows): Rows | undefined {
  const [inner, columns] = [right.length, right[0]?.length ?? 0];
  if (left[0]?.length !== inner || left.length * inner * columns > PARTS_MAX) return undefined;
  return left.map((row) =>
    Array.from({ length: columns }, (_, j): Node => {
      const terms = row.map((cell, k) => ({ sign: "+" as const, node: productOf(cell, right[k]?.[j] as Node) }));
      return { kind: "add", terms };
    }),
  );
}

/** Computes a power of a small matrix, or the transpose A^T. */
function power({ base, exponent }: Extract<Node, { kind: "power" }>, work: Work): Rows | undefined {
  const rows = work.isTuple ? undefined : rowsOf(base, work);
  if (rows === undefined) return undefined;
  if (exponent.kind === "symbol" && (exponent.name === "T" || exponent.name === "⊤"))
    return (rows[0] ?? []).map((_, j) => rows.map((row) => row[j] as Node));
  const count = exponent.kind === "number" && exponent.value.den === 1n ? Number(exponent.value.num) : 0;
  if (!(count >= 1 && count <= POWER_MAX) || rows.length > 3) return undefined;
  let result: Rows | undefined = rows;
  for (let i = 1; i < count && result !== undefined; i++) {
    result = times(result, rows);
    if (result !== undefined && isTooLarge(result, work)) return undefined;
  }
  return result;
}

/** Returns whether a node holds a sum or product of matrices that was not computed. */
export function isUnworked(node: Node): boolean {
  const isWork = node.kind === "add" || node.kind === "multiply" || node.kind === "power";
  return isWork && some(node, ({ kind }) => kind === "matrix") && !some(node, isDeterminant);
}

const isDeterminant = (node: Node): boolean => node.kind === "call" && node.name === "det";

// Sums of unit vectors, such as 3i − 2j.

/** Maximum number of terms of a sum of unit vectors. */
const UNITS_MAX = 60;

type Axis = 0 | 1 | 2;
/** The coefficient of each of the three unit vectors, as terms of a sum. */
type Coefficients = readonly (readonly Term[])[];

const AXES: Readonly<Record<string, Axis>> = { "⃗i": 0, "⃗j": 1, "⃗k": 2, i: 0, j: 1, k: 2 };

/** Returns both answers as tuples if one is a sum of unit vectors. Undefined if none is, or the other is no vector. */
export function asTuples(gold: Node, answer: Node): readonly [Node, Node] | undefined {
  const [left, right] = [unitSum(gold), unitSum(answer)];
  if (left === undefined && right === undefined) return undefined;
  const size = Math.max(sizeOf(left ?? gold), sizeOf(right ?? answer));
  const [one, other] = [tupleOf(left ?? gold, size), tupleOf(right ?? answer, size)];
  return one && other && [one, other];
}

/** Returns whether both may be vectors while one may be a complex number: 3i beside 3 i-hat. */
export function isVectorOrNumber(gold: Node, answer: Node): boolean {
  const [left, right] = [unitSum(gold), unitSum(answer)];
  const other = left === undefined ? gold : right === undefined ? answer : undefined;
  return (left ?? right) !== undefined && other !== undefined && coefficientsOf(other) !== undefined;
}

/**
 * Returns the coefficients of a sum of unit vectors. Undefined if the node is none. A lone i is a number, and a lone k
 * a variable.
 */
function unitSum(node: Node): Coefficients | undefined {
  const isMarked = (part: Node): boolean => part.kind === "symbol" && /^⃗[ijk]$/u.test(part.name);
  const coefficients = coefficientsOf(node);
  if (coefficients === undefined) return undefined;
  const [i = [], j = []] = coefficients;
  return some(node, isMarked) || (i.length > 0 && j.length > 0) ? coefficients : undefined;
}

function coefficientsOf(node: Node): Coefficients | undefined {
  if (node.kind === "symbol") {
    const axis = AXES[node.name];
    const one: Term = { sign: "+", node: numberNode(1n) };
    return axis === undefined ? undefined : [0, 1, 2].map((each) => (each === axis ? [one] : []));
  }
  if (node.kind === "add") {
    if (node.terms.length > UNITS_MAX) return undefined;
    const coefficients: Term[][] = [[], [], []];
    for (const { sign, node: term } of node.terms) {
      const found = coefficientsOf(term);
      if (found === undefined) return undefined;
      for (const [axis, terms] of found.entries())
        if (terms.length > 0) coefficients[axis]?.push({ sign, node: { kind: "add", terms } });
    }
    return coefficients;
  }
  if (node.kind !== "multiply") return undefined;
  const parts = node.factors.map((factor) => coefficientsOf(factor.node));
  const at = parts.findIndex((part) => part !== undefined);
  const others = node.factors.filter((_, i) => i !== at);
  const isLinear = at >= 0 && node.factors[at]?.inverse === false && !others.some((each) => some(each.node, isUnit));
  if (!isLinear) return undefined;
  return (parts[at] as Coefficients).map((terms) => {
    const amount: Node = { kind: "add", terms };
    const scaled: Node = { kind: "multiply", factors: [...others, { inverse: false, node: amount }] };
    return terms.length === 0 ? [] : [{ sign: "+", node: scaled }];
  });
}

const isUnit = (node: Node): boolean => node.kind === "symbol" && AXES[node.name] !== undefined;

function sizeOf(part: Node | Coefficients): number {
  if ("kind" in part)
    return part.kind === "bracket" ? part.items.length : part.kind === "matrix" ? part.rows.flat().length : 2;
  return (part[2] ?? []).length > 0 ? 3 : 2;
}

/** Returns (a, b) or (a, b, c), with 0 for missing unit vectors. Undefined if the part is no vector of this size. */
function tupleOf(part: Node | Coefficients, size: number): Node | undefined {
  if (size > 3) return undefined;
  if ("kind" in part) {
    if (isVector(part)) return part.items.length === size ? part : undefined;
    const isLine = part.kind === "matrix" && (part.rows.length === 1 || part.rows[0]?.length === 1);
    return isLine ? { kind: "bracket", open: "(", close: ")", items: part.rows.flat() } : undefined;
  }
  const zero = numberNode(0n);
  const items = part.slice(0, size).map((terms): Node => (terms.length === 0 ? zero : { kind: "add", terms }));
  return { kind: "bracket", open: "(", close: ")", items };
}
