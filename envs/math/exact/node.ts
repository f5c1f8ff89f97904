/** Polynomials as expressions again, to work out their values. */
import type { Node, Term } from "../syntax.ts";
import type { Polynomial } from "./polynomial.ts";
import type { Ring } from "./ring.ts";

export function numberNode(num: bigint, den = 1n): Node {
  return { kind: "number", value: { num, den } };
}

/** Each atom is written once, however often it comes: it is worked out by steps that are counted. */
export function nodeOf(a: Polynomial, ring: Ring, known = new Map<number, Node>()): Node {
  const terms = [...a].map(([monomial, coefficient]): Term => {
    const powers = [...monomial].flatMap((character, index) =>
      character === "\0" ? [] : [{ inverse: false, node: powerOf(index, character.charCodeAt(0), ring, known) }],
    );
    const factors = [{ inverse: false, node: numberNode(coefficient) }, ...powers];
    return { sign: "+", node: { kind: "multiply", factors } };
  });
  return { kind: "add", terms };
}

function powerOf(index: number, exponent: number, ring: Ring, known: Map<number, Node>): Node {
  let base = known.get(index);
  if (base === undefined) known.set(index, (base = atomNode(index, ring, known)));
  return exponent === 1 ? base : { kind: "power", base, exponent: numberNode(BigInt(exponent)) };
}

function atomNode(index: number, ring: Ring, known: Map<number, Node>): Node {
  const atom = ring.atoms[index];
  if (atom === undefined) throw new Error(`bug: there is no atom ${index}`);
  switch (atom.kind) {
    case "variable":
      return { kind: "symbol", name: atom.name };
    case "root":
      return { kind: "call", name: "root", args: [nodeOf(atom.of, ring, known), numberNode(BigInt(atom.degree))] };
    case "amount":
      return { kind: "call", name: "abs", args: [nodeOf(atom.of, ring, known)] };
    case "other":
      return atom.node;
  }
}
