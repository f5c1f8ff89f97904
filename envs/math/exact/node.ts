/** Polynomials as expressions again, to work out their values. */
import type { Node, Term } from "../syntax.ts";
import type { Polynomial } from "./polynomial.ts";
import type { Ring } from "./ring.ts";

export function numberNode(num: bigint, den = 1n): Node {
  return { kind: "number", value: { num, den } };
}

export function nodeOf(a: Polynomial, ring: Ring): Node {
  const terms = [...a].map(([monomial, coefficient]): Term => {
    const powers = [...monomial].flatMap((character, index) => {
      const exponent = numberNode(BigInt(character.charCodeAt(0)));
      const base = atomNode(index, ring);
      const node: Node = character === "\u0001" ? base : { kind: "power", base, exponent };
      return character === "\0" ? [] : [{ inverse: false, node }];
    });
    return { sign: "+", node: { kind: "multiply", factors: [{ inverse: false, node: numberNode(coefficient) }, ...powers] } };
  });
  return { kind: "add", terms };
}

function atomNode(index: number, ring: Ring): Node {
  const atom = ring.atoms[index];
  if (atom === undefined) throw new Error(`bug: there is no atom ${index}`);
  switch (atom.kind) {
    case "variable":
      return { kind: "symbol", name: atom.name };
    case "root":
      return { kind: "call", name: "root", args: [nodeOf(atom.of, ring), numberNode(BigInt(atom.degree))] };
    case "amount":
      return { kind: "call", name: "abs", args: [nodeOf(atom.of, ring)] };
    case "other":
      return atom.node;
  }
}
