/** "x = 2πk, k ∈ ℤ": what is said of a whole number beside the answer, and its name, which is free to choose. */
import { type Node, symbol, withChildren } from "../syntax.ts";
import { variablesOf } from "./scalars.ts";

interface Conditioned {
  readonly node: Node;
  /** Names of whole numbers. */
  readonly names: readonly string[];
}

const WHOLE_SETS = ["ℤ", "ℕ"];

function withoutCondition(node: Node): Conditioned {
  if (node.kind !== "list") return { node, names: [] };
  const names: string[] = [];
  const items = node.items.filter((item) => {
    if (item.kind !== "relation" || item.operators[0] !== "∈" || item.parts.length !== 2) return true;
    const [name, set] = item.parts as [Node, Node];
    const isWhole =
      name.kind === "symbol" && set.kind === "symbol" && WHOLE_SETS.some((each) => set.name.startsWith(each));
    if (isWhole) names.push(name.name);
    return !isWhole;
  });
  const [only] = items;
  if (names.length === 0 || only === undefined) return { node, names: [] };
  return { node: items.length === 1 ? only : { ...node, items }, names };
}

/** Both without their conditions; where each is about one whole number, that has the same name in both. */
export function withoutConditions(gold: Node, answer: Node): readonly [Node, Node] {
  const [left, right] = [withoutCondition(gold), withoutCondition(answer)];
  if (left.names.length + right.names.length === 0) return [gold, answer];
  return [renamed(left, variablesOf(answer)), renamed(right, variablesOf(gold))];
}

function renamed({ node, names }: Conditioned, others: ReadonlySet<string>): Node {
  const [only] = names;
  // Where the other side leaves its condition out, the name that it alone has is the whole number's.
  const own = only ?? [...variablesOf(node)].find((name) => !others.has(name));
  return own === undefined || names.length > 1 ? node : replaced(node, own);
}

function replaced(node: Node, name: string): Node {
  if (node.kind === "symbol") return node.name === name ? symbol("whole") : node;
  return withChildren(node, (child) => replaced(child, name));
}
