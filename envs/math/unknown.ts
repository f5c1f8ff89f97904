/**
 * Finds words in an answer that cannot be read as a product of the expected answer's variables, e.g. "apple" where only
 * x occurs.
 */
import { isAskedFor } from "./compare/shape.ts";
import { children, type Node } from "./syntax.ts";

/** Letters that an answer may always use, although they are not variables: constants, and the d of dx. */
const KNOWN: readonly string[] = ["e", "i", "π", "d"];

/**
 * Letters that commonly name an arbitrary constant. If the expected answer uses one of them, the given answer may use
 * any of them.
 */
const CONSTANTS: readonly string[] = ["A", "B", "C", "D", "K", "c", "k"];

/** Matches letters of multiple-choice options, such as "AC", or of geometric points. */
const CHOICES = /^[A-H]{2,}$/;

/**
 * Returns the first run of letters in the answer that is neither a known word nor a product of known variables. Returns
 * undefined if there is none. In an assignment such as "area = 5" the name is not checked.
 */
export function unknownWord(answer: Node, gold: Node): string | undefined {
  const known = new Set(KNOWN);
  collect(gold, (name) => known.add(name));
  if (CONSTANTS.some((name) => known.has(name))) for (const name of CONSTANTS) known.add(name);
  // A letter that stands alone anywhere in the answer is a known variable, e.g. n in f(n) = an.
  collect(answer, (name, run) => run === undefined && known.add(name));
  return wordIn(answer, known);
}

function collect(node: Node, add: (name: string, run: string | undefined) => void): void {
  if (node.kind === "symbol") add(letterOf(node.name), node.run);
  for (const child of children(node)) collect(child, add);
}

/** Strips subscript and primes: x_1 and x' become x. */
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
