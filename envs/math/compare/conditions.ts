/** Separates an answer from its conditions: "x = 2πk, k ∈ ℤ", where k may be any integer, and "y = x + 1 (x > 0)". */
import { isNumberSet } from "../read/names.ts";
import { type Node, replaced, show, symbol, variablesOf } from "../syntax.ts";
import { WHOLE } from "./points.ts";
import { assignmentOf } from "./shape.ts";

export interface Conditioned {
  readonly node: Node;
  /** Letters that are declared whole numbers, e.g. k by "k ∈ ℤ". */
  readonly names: readonly string[];
  /** Set that the first declared letter is in, e.g. "ℤ" for "k ∈ ℤ". */
  readonly domain: string | undefined;
  /**
   * Whether each value of the declared letter gives another value of the answer, as k in 2^k. False if it is only an
   * index, as k in a_k.
   */
  readonly isFamily: boolean;
  /** Whether the answer has a value for each real number (t ∈ ℝ), instead of for each integer. */
  readonly isOfReals: boolean;
  /** Conditions that do not declare a letter, e.g. x > 0. */
  readonly others: readonly Node[];
}

type RelationNode = Extract<Node, { kind: "relation" }>;

export function withoutCondition(given: Node): Conditioned {
  const node = ofBuilder(given);
  const [isClass, nothing] = [hasClass(node), { names: [], isOfReals: false, others: [] }];
  const bare: Conditioned = { ...nothing, node, domain: isClass ? "ℤ" : undefined, isFamily: isClass };
  if (node.kind !== "list") return bare;
  const items = withoutSeries(node.items.flatMap(unbracketed));
  const wholes = items.flatMap((item) => membership(item) ?? []);
  const rest = items.filter((item) => membership(item) === undefined);
  const others = node.joiner === "or" ? [] : rest.filter((item) => isLimit(item, rest) || isAnyReal(item));
  const mains = rest.filter((item) => !others.includes(item));
  const [only] = mains;
  if (only === undefined || mains.length === node.items.length) return bare;
  const main: Node = mains.length === 1 ? only : { ...node, items: mains };
  const names = wholes.map(({ name }) => name);
  const isFamily = hasClass(main) || (names.length === 1 && !isNumberedBy(main, names[0] as string));
  const own = assignmentOf(main)?.name;
  const reals = others.filter(isAnyReal);
  const isOfReals = names.length === 0 && reals.some((item) => !own || show(own) !== show(item.parts[0] as Node));
  const said = others.filter((item) => !isAnyReal(item));
  return { node: main, names, domain: wholes[0]?.domain, isFamily, isOfReals, others: said };
}

/** Rewrites {x | x = kπ, k ∈ ℤ} and {kπ | k ∈ ℤ} as "kπ, k ∈ ℤ". */
function ofBuilder(node: Node): Node {
  const [name, set] = node.kind === "relation" && node.operators[0] === "∈" ? node.parts : [];
  // A membership may define its set by a condition: "x ∈ {kπ | k ∈ ℤ}".
  if (name?.kind === "symbol" && set?.kind === "builder" && set.element.kind !== "relation")
    return ofBuilder({ ...set, element: { kind: "relation", parts: [name, set.element], operators: ["="] } });
  if (node.kind !== "builder") return node;
  const { element, condition } = node;
  const conditions = condition.kind === "list" && condition.joiner !== "or" ? condition.items : [condition];
  const [only] = conditions;
  // The condition of a set may be just a congruence: {x | x ≡ 1 (mod 3)}.
  if (conditions.length === 1 && only?.kind === "residue") return only;
  if (!conditions.some((item) => membership(item) !== undefined)) return node;
  const isName = element.kind === "symbol" || (element.kind === "relation" && element.operators[0] === "∈");
  return { kind: "list", joiner: "and", items: isName ? conditions : [element, ...conditions] };
}

/** Returns the conditions inside a bracket such as "(k ∈ ℤ, k > 1)". */
function unbracketed(item: Node): readonly Node[] {
  const isConditions = item.kind === "bracket" && item.items.every(({ kind }) => kind === "relation");
  return isConditions && item.open === "(" ? item.items : [item];
}

/** Returns the name k and the set ℤ of a membership "k ∈ ℤ". */
function membership(item: Node): { readonly name: string; readonly domain: string } | undefined {
  if (item.kind !== "relation" || item.operators.at(-1) !== "∈" || item.parts.length !== 2) return undefined;
  const [name, set] = item.parts as [Node, Node];
  const isWhole = name.kind === "symbol" && set.kind === "symbol" && /^[ℤℕ]/u.test(set.name);
  return isWhole ? { name: name.name, domain: set.name } : undefined;
}

/** Rewrites "k = 0, ±1, ±2, …" as k ∈ ℤ, and "k = 0, 1, 2, …" as k ∈ ℕ. */
function withoutSeries(items: readonly Node[]): readonly Node[] {
  const last = items.at(-1);
  if (last?.kind !== "symbol" || last.name !== "…") return items;
  const at = items.findLastIndex((item) => item.kind === "relation" && item.operators[0] === "=");
  const [name, first] = (items[at] as RelationNode | undefined)?.parts ?? [];
  const counts = items.slice(at + 1, -1);
  if (at < 1 || name?.kind !== "symbol" || first?.kind !== "number") return items;
  const isSigned = counts.some((item) => item.kind === "add");
  const parts = [name, symbol(isSigned ? "ℤ" : "ℕ")];
  return [...items.slice(0, at), { kind: "relation", parts, operators: ["∈"] }];
}

/**
 * Returns whether an item of a list is not an answer itself but a condition on a variable of another item. Example: x >
 * 0 in "y = ln x, x > 0".
 */
function isLimit(item: Node, items: readonly Node[]): boolean {
  if (item.kind !== "relation" || item.operators.some((operator) => "=≈≡".includes(operator))) return false;
  const [set] = item.operators[0] === "∈" ? item.parts.slice(1) : [];
  if (set?.kind === "symbol" && !isNumberSet(set.name)) return false;
  const limited = variablesOf(item);
  return items.some((other) => {
    if (other === item || (other.kind === "relation" && !other.operators.includes("="))) return false;
    const name = assignmentOf(other)?.name;
    const isOwn = name?.kind === "symbol" && limited.has(name.name);
    return !isOwn && [...variablesOf(other)].some((each) => limited.has(each));
  });
}

/** Returns whether a condition, such as n ≥ 1, only says from where an index n, m or k counts. */
export function isIndex(item: Node): boolean {
  const names = [...variablesOf(item)];
  const isOneSided = item.kind === "relation" && item.parts.length === 2;
  return names.length === 1 && ["n", "k", "m"].includes(names[0] as string) && isOneSided;
}

/** Returns whether a condition is "x ∈ ℝ", which excludes no real number. */
function isAnyReal(item: Node): item is RelationNode {
  const [name, set] = item.kind === "relation" && item.operators[0] === "∈" ? item.parts : [];
  return name?.kind === "symbol" && set?.kind === "symbol" && set.name === "ℝ";
}

/** Renames the whole-number parameter of both answers to the same letter, if each has at most one. */
export function withOneName(left: Conditioned, right: Conditioned): readonly [Node, Node] {
  if (left.names.length + right.names.length === 0 && !hasClass(left.node) && !hasClass(right.node))
    return [left.node, right.node];
  return [renamed(left, right), renamed(right, left)];
}

const hasClass = (node: Node): boolean =>
  node.kind === "residue" || (node.kind === "list" && node.items.some(({ kind }) => kind === "residue"));

function renamed({ node, names }: Conditioned, other: Conditioned): Node {
  if (names.length > 1 || other.names.length > 1 || hasClass(node)) return node;
  const name = names[0] ?? freeName(node, other);
  return intervalOf(name === undefined ? node : replaced(node, name, symbol(WHOLE)));
}

/** Rewrites "kπ < x < kπ + π/2" as the interval (kπ, kπ + π/2). */
function intervalOf(node: Node): Node {
  if (node.kind !== "relation") return node;
  const [low, middle, high] = node.parts;
  const [left, right] = node.operators;
  if (left === "∈" && node.parts.length === 2) return middle as Node;
  if (middle?.kind !== "symbol" || !"<≤".includes(left ?? "-") || !"<≤".includes(right ?? "-")) return node;
  const [open, close] = [left === "<" ? "(" : "[", right === "<" ? ")" : "]"] as const;
  return { kind: "bracket", open, close, items: [low as Node, high as Node] };
}

/**
 * Returns the letter that an answer uses as a parameter without declaring it. It is the letter that the other answer
 * declares, or else the letter that only this answer has.
 */
function freeName(node: Node, other: Conditioned): string | undefined {
  const variables = variablesOf(node);
  const [theirs] = other.names;
  if (theirs !== undefined && variables.has(theirs)) return theirs;
  const others = variablesOf(other.node);
  const assigned = assignmentOf(node)?.name;
  const own = assigned?.kind === "symbol" ? assigned.name : "";
  return [...variables].find((each) => !others.has(each) && each !== own);
}

/**
 * Returns whether an answer gives a value to a name that has the letter `name` as index or argument: a_n = 2n or f(n) =
 * 2n.
 */
function isNumberedBy(node: Node, name: string): boolean {
  const assigned = assignmentOf(node)?.name;
  return assigned !== undefined && (variablesOf(assigned).has(name) || isSubscript(assigned, name));
}

function isSubscript(node: Node, name: string): boolean {
  return node.kind === "symbol" && node.name.split("_").slice(1).join("_").includes(name);
}
