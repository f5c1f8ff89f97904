/** Normalizes parsed answers for comparison: phrases become values, and names are distinguished from values. */
import { isConstant, isNumberSet, isOperator } from "../read/names.ts";
import { numberOfWords } from "../read/letters.ts";
import {
  negated,
  type Node,
  numberNode,
  type Relation,
  show,
  some,
  symbol,
  type Term,
  variablesOf,
} from "../syntax.ts";

/** Phrases that mean a symbol, such as "empty set" or "all integers". */
const MEANINGS: ReadonlyMap<string, Node> = new Map(
  [
    ["∅", "empty set,the empty set,none,空集,无解,无实数解"],
    ["ℝ", "all real numbers,all reals,all real,any real number,the real numbers,all real x"],
    ["ℕ*", "all positive integers,positive integers,any positive integer,all natural numbers"],
    ["ℤ", "all integers,integers,any integer"],
    ["∞", "infinity,infinite"],
  ].flatMap(([name = "", words = ""]) => words.split(",").map((each) => [each, symbol(name)] as const)),
);

const NOTHING =
  /^(?:there (?:is|are|exists?) )?no (?:(?:real|integer|positive|prime|ordered|such) )*(?:(?:solutions?|roots?|values?|numbers?|integers?|pairs?|triples?|functions?|polynomials?|sequences?|primes?)(?: [a-z])?|such [a-z])(?: exists?)?$/;

/**
 * Replaces a phrase that means a number, a set or a letter by that value. Simplifies memberships such as x ∈ {1, 2},
 * and removes brackets around one item.
 */
export function plain(node: Node): Node {
  if (node.kind === "set" && node.items.length === 0) return symbol("∅");
  if (node.kind === "bracket" && node.items.length === 1 && node.open === "(" && node.items[0] !== undefined)
    return plain(node.items[0]);
  if (node.kind === "relation") return memberOf(node);
  if (node.kind !== "text") return node;
  const words = textOf(node.text);
  const isNegative = /^(?:negative|minus) /.test(words);
  const number = numberOfWords(words.replace(/^(?:negative|minus) /, ""));
  if (number !== undefined) {
    const node = numberNode(number);
    return isNegative ? negated(node) : node;
  }
  if (words === "dne") return { kind: "text", text: "does not exist" };
  const meaning = MEANINGS.get(words);
  if (meaning !== undefined) return meaning;
  if (isNegative && /^\S+ (?:infinity|∞)$/.test(words)) return negated(symbol("∞"));
  if (NOTHING.test(words)) return symbol("∅");
  return /^[A-Za-z]$/.test(node.text.trim()) ? symbol(node.text.trim()) : node;
}

/**
 * Reduces memberships: "x ∈ {1, 2}" to {1, 2}, "n ∈ ℕ" to ℕ, and "(x, y) ∈ {(1, 2), (3, 4)}" to (x, y) = (1, 2) or (x,
 * y) = (3, 4).
 */
function memberOf(node: Extract<Node, { kind: "relation" }>): Node {
  const [element, set] = node.parts;
  if (node.operators.length !== 1 || node.operators[0] !== "∈") return node;
  if (element?.kind === "bracket" && element.items.every(isName) && set?.kind === "set") {
    const items = set.items.map((item): Node => ({ kind: "relation", parts: [element, item], operators: ["="] }));
    return items.length === 1 ? (items[0] as Node) : { kind: "list", joiner: "or", items };
  }
  const isMember = element?.kind === "symbol";
  const isWhole = set?.kind === "set" || (set?.kind === "symbol" && isNumberSet(set.name));
  return isMember && isWhole ? set : node;
}

/**
 * Normalizes words for comparison: lowers the case, removes dots and apostrophes, and replaces hyphens, underscores and
 * white space by single spaces.
 */
export function textOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[.'’]/g, "")
    .replace(/[\s_-]+/g, " ")
    .trim();
}

// Functions for names in expressions: of variables, functions and units.

/**
 * Returns whether a call only names a quantity: f(x), dy/dx, Δx, a limit, the cosine of an angle, the length of AB. |x|
 * is not a name, because equations such as |x| = 3 are to be solved.
 */
function isNamedCall({ name, args }: Extract<Node, { kind: "call" }>): boolean {
  if (name === "lim") return true;
  if (isOperator(name)) return name.startsWith("d/") || args.every(isName);
  if (name === "sin" || name === "cos" || name === "tan") return args.every(isName);
  if (name === "abs") return args.every((argument) => isName(argument) && /[A-Z⃗ˆ˜]/u.test(show(argument)));
  return /^(?:\p{L}(?:['_⁻]|$)|det$)/u.test(name) && args.every((argument) => argument.kind !== "relation");
}

/** Returns whether a node only names a quantity, as x, f(x), P(x), "Area" or AB do. */
export function isName(node: Node): boolean {
  if (node.kind === "symbol") return !isConstant(node.name);
  if (node.kind === "text") return true;
  if (node.kind === "call") return isNamedCall(node);
  if (node.kind === "ratio") return node.parts.every(isName);
  if (node.kind === "unit") return isName(node.node);
  if (node.kind !== "multiply") return false;
  if (/^d\*[a-zθφρ]$/.test(show(node))) return true;
  // A(t) and S(n) look like products, and so do segments such as AB.
  const [first] = node.factors;
  return (
    first?.node.kind === "symbol" &&
    /^[A-Zuvyhpqrwz∠∁⃗ˆ˜]/u.test(first.node.name) &&
    node.factors.every((factor) => !factor.inverse && factor.node.kind === "symbol" && isName(factor.node))
  );
}

/** Returns whether a node is a quantity of geometry or a set expression, written in capitals: PA/PB or A ∩ B. */
function isFigure(node: Node): boolean {
  if (node.kind === "symbol") return /^[A-Z∁]/u.test(node.name) && !isConstant(node.name);
  if (node.kind === "sets") return isFigure(node.left) && isFigure(node.right);
  return node.kind === "multiply" && node.factors.every((factor) => isFigure(factor.node));
}

/** Returns whether a node is an expression whose value a problem may ask for: x + y, abc, x^2 + y^2. */
export function isAskedFor(node: Node): boolean {
  if (isName(node)) return true;
  if (variablesOf(node).size === 0)
    return !some(node, (part) => part.kind === "number" && part.decimals !== undefined) && node.kind !== "number";
  switch (node.kind) {
    case "symbol":
      return true;
    case "add":
      return node.terms.every((term) => isAskedFor(term.node));
    case "multiply":
      return node.factors.every((factor) => isAskedFor(factor.node));
    case "power":
      return isAskedFor(node.base);
    case "call":
      return true;
    default:
      return false;
  }
}

export interface Assignment {
  readonly name: Node;
  readonly values: readonly Node[];
  /** Whether the answer marks all its values as approximate, by the sign ≈. */
  readonly isApproximate: boolean;
  /** Numbers that the answer states as roundings of its values, as 12.57 in "4π ≈ 12.57". */
  readonly roundings: readonly Node[];
}

const EQUALITIES: readonly Relation[] = ["=", "≈", "≡"];

/**
 * Reads an assignment: "x = 5", "5 = x", "x = 1/2 = 0.5" or "A \approx 3.14". Returns undefined if the node assigns no
 * value to a name.
 */
export function assignmentOf(node: Node, isNameHere: (node: Node) => boolean = isName): Assignment | undefined {
  if (node.kind !== "relation" || !node.operators.every((operator) => EQUALITIES.includes(operator))) return undefined;
  const [first] = node.parts;
  const last = node.parts.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const rest = node.parts.slice(1);
  if (isFigure(first) && rest.every((part) => variablesOf(part).size === 0)) return valued(first, rest, node.operators);
  if (isNameHere(first)) return valued(first, node.parts.slice(1), node.operators);
  if (isNameHere(last) && node.parts.length === 2) return valued(last, [first], node.operators);
  return undefined;
}

/** Reads a chain of values without a name: "4π ≈ 12.57" or "1/3 = 0.333…". Returns undefined for other nodes. */
export function chainOf(node: Node): Omit<Assignment, "name"> | undefined {
  if (node.kind !== "relation" || !node.operators.every((operator) => EQUALITIES.includes(operator))) return undefined;
  const isValue = (part: Node): boolean => !isName(part) && variablesOf(part).size === 0;
  if (!node.parts.every(isValue)) return undefined;
  // In "12.57 ≈ 4π" the decimal is the rounding, although it comes first.
  const [first, second] = node.parts as [Node, Node];
  const isTurned =
    node.operators[0] === "≈" && decimalsOf(first) > 0 && decimalsOf(second) === 0 && second.kind !== "number";
  return sorted(isTurned ? [second, first, ...node.parts.slice(2)] : node.parts, ["=", ...node.operators]);
}

function valued(name: Node, values: readonly Node[], operators: readonly Relation[]): Assignment {
  return { name, ...sorted(values, operators) };
}

/**
 * Splits values into exact values and roundings. Values after ≈, and decimals ending in "…", are roundings. If no value
 * is exact, the roundings become the values.
 */
function sorted(values: readonly Node[], operators: readonly Relation[]): Omit<Assignment, "name"> {
  const isRounded = (value: Node, i: number): boolean =>
    operators.slice(0, i + 1).includes("≈") || (value.kind === "number" && value.goesOn === true);
  const exact = values.filter((value, i) => !isRounded(value, i));
  const roundings = values.filter(isRounded);
  if (exact.length > 0) return { values: exact, isApproximate: false, roundings };
  return { values, isApproximate: operators.includes("≈"), roundings: [] };
}

/** Returns the number of digits after the decimal point, as written. */
function decimalsOf(node: Node): number {
  if (node.kind === "unit") return decimalsOf(node.node);
  if (node.kind === "add" && node.terms.length === 1) return decimalsOf((node.terms[0] as Term).node);
  return node.kind === "number" ? (node.decimals ?? 0) : 0;
}
