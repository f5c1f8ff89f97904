/** Parses functions with their arguments, and LaTeX commands that take arguments. */
import {
  type Factor,
  negated,
  type Node,
  numberNode,
  productOf,
  quotientOf,
  replaced,
  sumOf,
  symbol,
} from "../syntax.ts";
import { derivativeOf } from "./derivatives.ts";
import { accept, type Cursor, expect, fail, isAt, nested, peek, type Read } from "./tokens.ts";
import { readBraces, readBrackets, readPair } from "./groups.ts";
import { readBound, scriptText } from "./scripts.ts";

const readSum: Read = (cursor) => cursor.grammar.sum(cursor);
const readPower: Read = (cursor) => cursor.grammar.power(cursor);
const readPrimary: Read = (cursor) => cursor.grammar.primary(cursor);
const readExponent: Read = (cursor) => cursor.grammar.exponent(cursor);

/** Reads the function call at the cursor. `text` is the function's name or command. */
export function readFunction(cursor: Cursor, text: string): Node {
  return nested(cursor, (inner) => functionAt(inner, text));
}

function functionAt(cursor: Cursor, text: string): Node {
  cursor.at++;
  switch (text) {
    case "\\frac":
    case "\\dfrac":
    case "\\tfrac":
    case "\\cfrac": {
      const [top, bottom] = readPair(cursor, readSum, true);
      return derivativeOf(cursor, top, bottom) ?? quotientOf(top, bottom);
    }
    case "\\binom":
    case "\\dbinom":
    case "\\tbinom":
      return { kind: "call", name: "binom", args: readPair(cursor, readSum, true) };
    case "\\sqrt":
    case "√":
    case "sqrt":
      return readRoot(cursor);
    case "∛":
    case "cbrt":
      return { kind: "call", name: "root", args: [rootArgument(cursor), numberNode(3n)] };
    case "\\boxed":
    case "\\operatorname":
      return readBraces(cursor, readSum);
    case "\\sum":
    case "∑":
    case "\\prod":
    case "∏":
      return readSeries(cursor, text === "\\sum" || text === "∑" ? "sum" : "product");
    case "\\lim":
      return readLimit(cursor);
    case "∫":
      return readIntegral(cursor);
    case "log":
      return readLogarithm(cursor);
    case "cis":
      return cis(readCall(cursor, "cis"));
    default:
      return text.startsWith("\\")
        ? fail(cursor, `the command ${text.slice(0, 40)} is not supported`)
        : readCall(cursor, text);
  }
}

/**
 * Reads a limit, whose value is not computed. The text below "lim" becomes an argument, so that limits at different
 * points are different.
 */
function readLimit(cursor: Cursor): Node {
  const place = accept(cursor, "_") ? scriptText(cursor) : "";
  return { kind: "call", name: "lim", args: [cursor.grammar.product(cursor), { kind: "text", text: place }] };
}

/** Reads \sqrt[3]{x}, \sqrt x and sqrt(x). */
function readRoot(cursor: Cursor): Node {
  if (!accept(cursor, "[")) return { kind: "call", name: "sqrt", args: [rootArgument(cursor)] };
  const degree = readSum(cursor);
  expect(cursor, "]");
  return { kind: "call", name: "root", args: [rootArgument(cursor), degree] };
}

function rootArgument(cursor: Cursor): Node {
  if (isAt(cursor, "{")) return readBraces(cursor, readSum);
  return readPrimary(cursor);
}

/**
 * Reads \log_2 8 and \log_{10} x. Without a base the call is named "log"; its base is e or 10, and the comparison tries
 * both.
 */
function readLogarithm(cursor: Cursor): Node {
  // The exponent may come before the base: "\log^2_3 x".
  const isRaised = isAt(cursor, "^") && isAt(cursor, "_", isAt(cursor, "{", 1) ? 4 : 2);
  if (isRaised) cursor.at++;
  const exponent = isRaised ? readBound(cursor) : undefined;
  if (!accept(cursor, "_")) return readCall(cursor, "log");
  const base = isAt(cursor, "{") ? readBraces(cursor, readSum) : readPrimary(cursor);
  const call = withBase(readCall(cursor, "logbase"), base);
  return exponent === undefined ? call : { kind: "power", base: call, exponent };
}

function withBase(call: Node, base: Node): Node {
  if (call.kind === "power") return { ...call, base: withBase(call.base, base) };
  return call.kind === "call" ? { ...call, args: [...call.args, base] } : call;
}

/** Rewrites cis x as cos x + i sin x. */
function cis(call: Node): Node {
  if (call.kind === "power") return { ...call, base: cis(call.base) };
  if (call.kind !== "call") return call;
  const of = (name: string): Node => ({ ...call, name });
  return sumOf(of("cos"), productOf(symbol("i"), of("sin")));
}

/** Reads a call of a function after its name: an exponent, if there is one as in sin^2 x, and the argument. */
function readCall(cursor: Cursor, name: string): Node {
  if (!accept(cursor, "^")) return callOf(cursor, name);
  const exponent = readExponent(cursor);
  const isInverse = exponent.kind === "add" && exponent.terms.length === 1 && exponent.terms[0]?.sign === "-";
  const inverse = INVERSES[name];
  if (isInverse && inverse !== undefined) return callOf(cursor, inverse);
  return { kind: "power", base: callOf(cursor, name), exponent };
}

const INVERSES: Readonly<Record<string, string>> = {
  sin: "arcsin",
  cos: "arccos",
  tan: "arctan",
  cot: "arccot",
  sinh: "arsinh",
  cosh: "arcosh",
  tanh: "artanh",
};

function callOf(cursor: Cursor, name: string): Node {
  if (isAt(cursor, "(") || isAt(cursor, "[")) {
    const inside = nested(cursor, readBrackets);
    const args = inside.kind === "bracket" ? inside.items : [inside];
    return { kind: "call", name, args };
  }
  const isOfSeveral = OF_SEVERAL.has(name);
  if (isAt(cursor, "\\{") || (isOfSeveral && isAt(cursor, "{"))) {
    const inside = readBraces(cursor, readSum, true);
    return { kind: "call", name, args: isOfSeveral && inside.kind === "set" ? inside.items : [inside] };
  }
  if (isOfSeveral) return fail(cursor, `${name} needs its arguments in brackets`);
  return { kind: "call", name, args: [bareArgument(cursor)] };
}

const OF_SEVERAL: ReadonlySet<string> = new Set(["max", "min", "gcd", "lcm"]);

/**
 * Returns whether a unit vector such as \mathbf{i} follows. In "\cos t \mathbf{i}" the vector is a factor, not part of
 * the argument of the cosine.
 */
function isMarked(cursor: Cursor): boolean {
  const token = peek(cursor);
  return token?.kind === "name" && /^⃗[ijk]$/u.test(token.text);
}

function bareArgument(cursor: Cursor): Node {
  const isNegative = accept(cursor, "-");
  const factors: Factor[] = [{ inverse: false, node: readPower(cursor) }];
  while (
    cursor.problem === undefined &&
    peek(cursor)?.gap !== true &&
    cursor.grammar.startsFactor(cursor) &&
    peek(cursor)?.kind !== "function" &&
    !isMarked(cursor) &&
    !isAt(cursor, "(")
  ) {
    factors.push({ inverse: false, node: readPower(cursor) });
  }
  const node: Node = factors.length === 1 ? (factors[0] as Factor).node : { kind: "multiply", factors };
  return isNegative ? negated(node) : node;
}

/**
 * Reads \int_a^b f(x) dx as a call of the unknown function "integral", with the integrand and the limits as arguments.
 */
function readIntegral(cursor: Cursor): Node {
  const { from, to } = readBounds(cursor, readSum);
  const limits = [from, to].filter((limit) => limit !== undefined);
  const body = cursor.grammar.sum(cursor);
  const names = differentials(body);
  const [name] = names;
  if (name === undefined || names.length > 1) return fail(cursor, "its integral does not end in dx");
  // The variable of a definite integral may have any name, so it is replaced. An indefinite integral depends on its
  // variable.
  const bound = limits.length === 0 ? body : replaced(body, name, symbol("∫"));
  return { kind: "call", name: "integral", args: [bound, ...limits] };
}

/** Reads the bounds of a sum or an integral, e.g. _{k=1} and ^n, in either order. */
function readBounds(cursor: Cursor, read: Read): { readonly from?: Node; readonly to?: Node } {
  let bounds: { readonly from?: Node; readonly to?: Node } = {};
  for (let i = 0; i < 2; i++) {
    if (bounds.to === undefined && accept(cursor, "^")) bounds = { ...bounds, to: readBound(cursor) };
    else if (bounds.from === undefined && accept(cursor, "_"))
      bounds = { ...bounds, from: isAt(cursor, "{") ? readBraces(cursor, read) : readPrimary(cursor) };
  }
  return bounds;
}

/** Returns the variable x of each factor "dx". */
function differentials(node: Node): readonly string[] {
  if (node.kind !== "multiply") {
    return node.kind === "add" ? [...new Set(node.terms.flatMap((term) => differentials(term.node)))] : [];
  }
  return node.factors.flatMap(({ node: factor }, i) => {
    const next = node.factors[i + 1]?.node;
    if (factor.kind === "symbol" && factor.name === "d") return next?.kind === "symbol" ? [next.name] : [];
    return factor.kind === "multiply" || factor.kind === "add" ? differentials(factor) : [];
  });
}

/** Reads \sum_{k=1}^{n} or \prod_{k=1}^{n} and the product after it. */
function readSeries(cursor: Cursor, name: "sum" | "product"): Node {
  const { from: start, to } = readBounds(cursor, cursor.grammar.relation);
  if (to === undefined) return fail(cursor, "its sum or product has no upper bound");
  const body = cursor.grammar.product(cursor);
  if (start?.kind !== "relation" || start.operators[0] !== "=")
    return fail(cursor, "its sum or product has no start such as k=1");
  const [index, from] = start.parts as [Node, Node];
  if (index.kind !== "symbol" || start.parts.length > 2)
    return fail(cursor, "its sum or product has no start such as k=1");
  return { kind: "series", name, index: index.name, from, to, body };
}
