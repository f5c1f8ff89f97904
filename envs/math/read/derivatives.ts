/** Reads derivatives: dP/dt is not a quotient of products, and d/dx x³ is 3x². */
import { type Factor, type Node, numberNode, productOf, show, sumOf, symbol, variablesOf } from "../syntax.ts";
import { type Cursor, isAt, peek } from "./tokens.ts";

interface Differential {
  readonly sign: "d" | "∂";
  /** The expression after the d. Undefined if d stands alone, as in d/dx. */
  readonly of: Node | undefined;
}

/** Reads a differential: dy, d^2 y, ∂f or the d alone. Returns undefined for other nodes. */
function differentialOf(node: Node): Differential | undefined {
  if (node.kind === "symbol")
    return node.name === "d" || node.name === "∂" ? { sign: node.name, of: undefined } : undefined;
  if (node.kind === "power") return differentialOf(node.base);
  if (node.kind !== "multiply") return undefined;
  const [first, ...rest] = node.factors;
  const sign = first?.inverse === false ? differentialOf(first.node)?.sign : undefined;
  return sign && { sign, of: rest.length === 1 ? (rest[0] as Factor).node : { kind: "multiply", factors: rest } };
}

/**
 * Returns the derivative that a quotient such as dy/dx stands for, or undefined if it is a plain quotient. A `d/dx`
 * alone applies to the expression after it.
 */
export function derivativeOf(cursor: Cursor, top: Node, bottom: Node): Node | undefined {
  const [over, under] = [differentialOf(top), differentialOf(bottom)];
  if (over === undefined || under?.of === undefined || over.sign !== under.sign) return undefined;
  const name = `${over.sign}/${over.sign}${[...variablesOf(under.of)].join(over.sign)}`;
  const isApplied = over.of === undefined && peek(cursor)?.gap !== true && cursor.grammar.startsFactor(cursor);
  const body = isApplied ? cursor.grammar.product(cursor) : over.of;
  const full = under.of.kind === "power" ? `${name}^${show(under.of.exponent)}` : name;
  if (body === undefined) return symbol(full);
  // In "d/dx x³ = 3x²" the left side is a name and is not computed.
  return (isAt(cursor, "=") ? undefined : workedOut(body, under.of)) ?? { kind: "call", name: full, args: [body] };
}

/**
 * Returns the derivative of a power of the variable `by`, e.g. 3x² for x³. Returns undefined for other expressions,
 * which this parser does not differentiate.
 */
function workedOut(body: Node, by: Node): Node | undefined {
  const isPower = body.kind === "power" && show(body.base) === show(by) && variablesOf(body.exponent).size === 0;
  if (by.kind !== "symbol" || !isPower) return undefined;
  const { base, exponent } = body;
  return productOf(exponent, { kind: "power", base, exponent: sumOf(exponent, numberNode(-1n)) });
}
