/** Reads derivatives: dP/dt is no quotient of letters, and d/dx x³ is computed. */
import {
  type Factor,
  negated,
  type Node,
  numberNode,
  productOf,
  quotientOf,
  show,
  some,
  sumOf,
  symbol,
  variablesOf,
} from "../syntax.ts";
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
 * Maximum number of nodes of an expression that is differentiated, and of its derivative, which may grow with the
 * square. A derivative counts as RESULT_MAX reads.
 */
const PARTS_MAX = 40;
const RESULT_MAX = 400;

function isLargerThan(max: number, node: Node): boolean {
  let parts = 0;
  return some(node, () => ++parts > max);
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
  const isLarge = cursor.problem !== undefined || isAt(cursor, "=") || isLargerThan(PARTS_MAX, body);
  const worked = isLarge ? undefined : workedOut(body, under.of, over.sign);
  if (worked !== undefined && !isLargerThan(RESULT_MAX, worked)) {
    cursor.reads += RESULT_MAX;
    return worked;
  }
  return { kind: "call", name: full, args: [body] };
}

/**
 * Returns the first derivative. Undefined if it is not computed, e.g. because other letters may depend on the variable.
 */
function workedOut(body: Node, by: Node, sign: "d" | "∂"): Node | undefined {
  const names = variablesOf(body);
  const isOfOne = by.kind === "symbol" && names.has(by.name) && (sign === "∂" || names.size === 1);
  return isOfOne && body.kind !== "symbol" ? derived(body, by.name) : undefined;
}

const OUTER: Readonly<Record<string, (u: Node) => Node>> = {
  sin: (u) => ({ kind: "call", name: "cos", args: [u] }),
  cos: (u) => negated({ kind: "call", name: "sin", args: [u] }),
  exp: (u) => ({ kind: "call", name: "exp", args: [u] }),
  ln: (u) => quotientOf(numberNode(1n), u),
  sqrt: (u) => quotientOf(numberNode(1n, 2n), { kind: "call", name: "sqrt", args: [u] }),
};

function derived(node: Node, name: string): Node | undefined {
  if (!variablesOf(node).has(name)) return numberNode(0n);
  switch (node.kind) {
    case "symbol":
      return numberNode(1n);
    case "add": {
      const terms = node.terms.map((term) => ({ ...term, node: derived(term.node, name) as Node }));
      return terms.some((term) => term.node === undefined) ? undefined : { kind: "add", terms };
    }
    case "multiply": {
      const parts = node.factors.map(({ node: factor, inverse }, i) => {
        const inner = derived(factor, name);
        const others: Node = { kind: "multiply", factors: node.factors.filter((_, j) => j !== i || inverse) };
        return inner && (inverse ? negated(quotientOf(productOf(others, inner), factor)) : productOf(others, inner));
      });
      return parts.includes(undefined) ? undefined : sumOf(...(parts as readonly Node[]));
    }
    case "power": {
      const { base, exponent } = node;
      const [low, high] = [derived(base, name), derived(exponent, name)];
      if (low === undefined || high === undefined) return undefined;
      const log: Node = { kind: "call", name: "ln", args: [base] };
      return variablesOf(exponent).has(name)
        ? productOf(node, sumOf(productOf(high, log), quotientOf(productOf(exponent, low), base)))
        : productOf(exponent, { kind: "power", base, exponent: sumOf(exponent, numberNode(-1n)) }, low);
    }
    case "call": {
      const [inside, ...more] = node.args;
      const inner = inside && more.length === 0 ? derived(inside, name) : undefined;
      const outer = OUTER[node.name];
      return inside && inner && outer && productOf(outer(inside), inner);
    }
    default:
      return undefined;
  }
}
