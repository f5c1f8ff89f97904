/** Reads derivatives: dP/dt is no quotient of letters, and d/dx x³ is 3x². */
import { type Factor, type Node, numberNode, productOf, show, sumOf, symbol, variablesOf } from "../syntax.ts";
import { type Cursor, isAt, peek } from "./tokens.ts";

interface Differential {
  readonly sign: "d" | "∂";
  /** The expression behind the sign. Undefined if there is none. */
  readonly of: Node | undefined;
}

/** Reads dy, d^2 y, ∂f or the sign alone. Undefined if the node is none of them. */
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
 * Returns the derivative that a quotient stands for. A `d/dx` alone applies to the expression after it. Undefined if it is a plain
 * quotient.
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

/** Returns the first derivative of a power of the variable. Undefined for all others, which are not computed. */
function workedOut(body: Node, by: Node): Node | undefined {
  const isPower = body.kind === "power" && show(body.base) === show(by) && variablesOf(body.exponent).size === 0;
  if (by.kind !== "symbol" || !isPower) return undefined;
  const { base, exponent } = body;
  return productOf(exponent, { kind: "power", base, exponent: sumOf(exponent, numberNode(-1n)) });
}
