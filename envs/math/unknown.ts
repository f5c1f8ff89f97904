/** Finds unknown words in an answer: runs of letters that are no product of the expected answer's variables. */
import { isAskedFor } from "./compare/shape.ts";
import { children, type Node } from "./syntax.ts";

/** Letters that count without being a variable: constants, and the d of dx. */
const KNOWN: readonly string[] = ["e", "i", "π", "d"];

/** Letters that commonly name a free constant. If the expected answer uses one, the answer may use any. */
const CONSTANTS: readonly string[] = ["A", "B", "C", "D", "K", "c", "k"];

/** Matches letters of options or of geometric points. */
const CHOICES = /^[A-H]{2,}$/;

/**
 * Returns the first unknown run of letters in the answer, or undefined. The name to which a value is assigned is not
 * checked.
 */
export function unknownWord(answer: Node, gold: Node): string | undefined {
  const known = new Set(KNOWN);
  collect(gold, (name) => known.add(name));
  if (CONSTANTS.some((name) => known.has(name))) for (const name of CONSTANTS) known.add(name);
  // A letter that stands alone somewhere in the answer is a variable too, as is the n in f(n) = an.
  collect(answer, (name, run) => run === undefined && known.add(name));
  return wordIn(answer, known);
}

function collect(node: Node, add: (name: string, run: string | undefined) => void): void {
  if (node.kind === "symbol") add(letterOf(node.name), node.run);
  for (const child of children(node)) collect(child, add);
}

/** Strips subscript and primes: x for x_1 and x'. */
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
