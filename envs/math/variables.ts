/** Which letters of an expression are variables. */
import { isConstant } from "./read/names.ts";
import { children, type Node } from "./syntax.ts";

/** The variables of an expression. */
export function variablesOf(node: Node, found = new Set<string>()): Set<string> {
  if (node.kind === "symbol" && !isConstant(node.name)) found.add(node.name);
  if (node.kind === "series") {
    const inner = variablesOf(node.body);
    inner.delete(node.index);
    for (const name of inner) found.add(name);
    variablesOf(node.from, found);
    variablesOf(node.to, found);
  } else for (const child of children(node)) variablesOf(child, found);
  return found;
}
