/** Makes answers near a given one, in any syntax, by changes to its numbers and to the text between them. */
import fc from "fast-check";
import { rngFor } from "../../envs/lib/rng.ts";

/** Text and numbers by turns: odd pieces are numbers, until a cut shifts them. */
type Pieces = readonly string[];
type Change = (pieces: Pieces) => Pieces;

/** The text after one to four changes. */
export function mutated(text: string): fc.Arbitrary<string> {
  const pieces = text.split(/(\d+)/);
  const any = fc.nat(pieces.length - 1);
  const number = fc.nat(Math.max(0, (pieces.length >> 1) - 1)).map((i) => 2 * i + 1);
  const change = fc.oneof(
    fc.tuple(number, number).map(([a, b]) => swap(a, b)),
    fc.tuple(any, any).map(([a, b]) => swap(a, b)),
    fc.tuple(number, number).map(([a, b]) => reverse(a, b)),
    fc.tuple(any, any).map(([a, b]) => copy(a, b)),
    any.map(cut),
    fc.tuple(number, fc.nat(120)).map(([a, value]) => put(a, `${value}`)),
    fc.nat().map(shuffle),
  );
  const changes = fc.array(change, { minLength: 1, maxLength: 4 });
  return changes.map((list) => list.reduce<Pieces>((changed, each) => each(changed), pieces).join(""));
}

function put(at: number, piece: string): Change {
  return (pieces) => pieces.map((old, i) => (i === at ? piece : old));
}

function copy(to: number, from: number): Change {
  return (pieces) => put(to, pieces[from] ?? "")(pieces);
}

function swap(a: number, b: number): Change {
  return (pieces) => put(b, pieces[a] ?? "")(put(a, pieces[b] ?? "")(pieces));
}

function reverse(a: number, b: number): Change {
  const [from, to] = [Math.min(a, b), Math.max(a, b) + 1];
  return (pieces) => [...pieces.slice(0, from), ...pieces.slice(from, to).reverse(), ...pieces.slice(to)];
}

function cut(at: number): Change {
  return (pieces) => pieces.filter((_, i) => i !== at && i !== at + 1);
}

function shuffle(seed: number): Change {
  return (pieces) => {
    const numbers = rngFor("shuffle", seed).shuffle(pieces.filter((_, i) => i % 2 === 1));
    return pieces.map((piece, i) => (i % 2 === 1 ? (numbers[i >> 1] ?? piece) : piece));
  };
}
