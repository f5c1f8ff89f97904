/** Names that are free to choose: the n of f(n) = n + 1, and the C of x² + C. */
import { type Node, replaced, show, symbol } from "../syntax.ts";
import { variablesOf } from "./places.ts";
import { assignmentOf } from "./shape.ts";

/** The answer with the gold's names for what a function is of; the same node where there are none, or others. */
export function withNamesOf(gold: Node, answer: Node): Node {
  const [left, right] = [boundOf(gold), boundOf(answer)];
  if (left === undefined || right === undefined || left.head !== right.head) return answer;
  if (left.names.length !== right.names.length || show(left.name) === show(right.name)) return answer;
  // All at once, so that f(x, y) and f(y, x) are told apart, and a name that is taken gives way.
  const places = right.names.map((_, i) => `${i} of ${left.head}`);
  const away = right.names.reduce((node, name, i) => replaced(node, name, symbol(places[i] as string)), right.value);
  const apart = left.names.reduce((node, name) => replaced(node, name, symbol(`${name} of the answer`)), away);
  const value = left.names.reduce((node, name, i) => replaced(node, places[i] as string, symbol(name)), apart);
  return { kind: "relation", parts: [left.name, value], operators: ["="] };
}

interface Bound {
  readonly name: Node;
  readonly head: string;
  readonly names: readonly string[];
  readonly value: Node;
}

function boundOf(node: Node): Bound | undefined {
  const assigned = assignmentOf(node);
  const [value, ...more] = assigned === undefined ? [] : [...assigned.values, ...assigned.roundings];
  if (assigned === undefined || value === undefined || more.length > 0) return undefined;
  const { name } = assigned;
  const [head, names] = headOf(name);
  const inside = variablesOf(value);
  const areBound = names.length > 0 && names.every((each) => inside.has(each)) && new Set(names).size === names.length;
  return areBound ? { name, head, names, value } : undefined;
}

/** The f and the n of f(n), the P and the x of P(x), the a and the n of a_n. */
function headOf(name: Node): readonly [head: string, names: readonly string[]] {
  const areSymbols = (nodes: readonly Node[]): boolean => nodes.every(({ kind }) => kind === "symbol");
  if (name.kind === "call" && areSymbols(name.args)) return [name.name, name.args.map(show)];
  if (name.kind === "multiply" && name.factors.length === 2) {
    const [head, argument] = name.factors.map(({ node }) => node) as [Node, Node];
    if (argument.kind === "symbol") return [show(head), [argument.name]];
    if (argument.kind === "bracket" && areSymbols(argument.items)) return [show(head), argument.items.map(show)];
  }
  const [, head = "", index = ""] = name.kind === "symbol" ? (/^([^_]+)_([a-z])$/.exec(name.name) ?? []) : [];
  return [head, index === "" ? [] : [index]];
}

// Constants of integration.

const CONSTANTS: ReadonlySet<string> = new Set(["C", "c", "K", "k", "C_0", "C_1", "c_1"]);
/** Letters that are integrated over; "a + c" is a sum like any. */
const INTEGRATED: readonly string[] = ["x", "t", "u", "y", "z", "s", "v", "r", "θ"];

/** What stands before "+ C" in a sum, which is anyone's; undefined: there is none. */
export function besideConstant(node: Node): Node | undefined {
  if (node.kind !== "add") return undefined;
  const lone = node.terms.filter(({ node: term }) => term.kind === "symbol" && CONSTANTS.has(term.name));
  const [only] = lone;
  if (only?.sign !== "+" || lone.length > 1) return undefined;
  const rest: Node = { kind: "add", terms: node.terms.filter((term) => term !== only) };
  const variables = variablesOf(rest);
  return INTEGRATED.some((name) => variables.has(name)) && !variables.has(show(only.node)) ? rest : undefined;
}

const ZEROS: readonly bigint[] = [1n, 2n, 7n, -3n];

/** Expressions of one variable, moved so that they vanish at a point: equal where they differ by a constant. */
export function vanishing(node: Node, name: string): readonly Node[] {
  return ZEROS.map((num) => {
    const there = replaced(node, name, { kind: "number", value: { num, den: 5n } });
    return {
      kind: "add",
      terms: [
        { sign: "+", node },
        { sign: "-", node: there },
      ],
    };
  });
}
