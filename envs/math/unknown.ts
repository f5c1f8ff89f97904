/** Words that are not known: runs of letters that are a product of no variables that the expected answer has. */
import { isAskedFor } from "./compare/shape.ts";
import { children, type Node } from "./syntax.ts";

/** Letters that need no variable: constants, and the d of dx. */
const KNOWN: readonly string[] = ["e", "i", "π", "d"];

/** Letters that a constant goes by: who writes one may write another. */
const CONSTANTS: readonly string[] = ["A", "B", "C", "D", "K", "c", "k"];

/** Letters of choices and of figures. */
const CHOICES = /^[A-H]{2,}$/;

/** A run of letters of the answer that is no product; undefined: there is none. What names a value says nothing of it. */
export function unknownWord(answer: Node, gold: Node): string | undefined {
  const known = new Set(KNOWN);
  collect(gold, (name) => known.add(name));
  // A constant goes by any of these letters.
  if (CONSTANTS.some((name) => known.has(name))) for (const name of CONSTANTS) known.add(name);
  // A letter that stands alone somewhere is a variable of the answer's own, as the n of f(n) = an.
  collect(answer, (name, run) => run === undefined && known.add(name));
  return wordIn(answer, known);
}

function collect(node: Node, add: (name: string, run: string | undefined) => void): void {
  if (node.kind === "symbol") add(letterOf(node.name), node.run);
  for (const child of children(node)) collect(child, add);
}

/** The x of x_1 and x'. */
function letterOf(name: string): string {
  return name.replace(/[_'].*$/, "");
}

function wordIn(node: Node, known: ReadonlySet<string>): string | undefined {
  if (node.kind === "symbol") {
    const isUnknown = node.run !== undefined && !CHOICES.test(node.run) && !known.has(letterOf(node.name));
    return isUnknown ? node.run : undefined;
  }
  const named =
    node.kind === "relation" && "=≈".includes(node.operators[0] ?? "") ? node.parts.find(isAsked) : undefined;
  for (const child of children(node)) {
    const found = child === named ? undefined : wordIn(child, known);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isAsked = (part: Node): boolean => isAskedFor(part);
