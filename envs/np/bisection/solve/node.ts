/** A node of the search: some spins are decided, and the rest is a smaller problem of the same kind. */
import type { Problem } from "./problem.ts";
import { agreementOf, pullOn } from "./problem.ts";

export interface Node {
  readonly problem: Problem;
  /** 0 where nothing is decided yet. */
  readonly spins: Int8Array;
  /** The vertices not decided. */
  readonly free: Int32Array;
  /** For each vertex, how strongly the decided ones ask it to be 1. */
  readonly pull: Int32Array;
  /** The sum of the decided spins. */
  readonly balance: number;
  /** The agreement among the decided vertices. */
  readonly agreement: number;
}

export function nodeOf(problem: Problem, spins: Int8Array): Node {
  const free: number[] = [];
  let balance = 0;
  for (const [v, spin] of spins.entries()) {
    if (spin === 0) free.push(v);
    balance += spin;
  }
  const pull = Int32Array.from(spins, (_, v) => pullOn(problem, spins, v));
  return { problem, spins, free: Int32Array.from(free), pull, balance, agreement: agreementOf(problem, spins) };
}

/** The only spins that balance a node where one side is full; undefined: neither is. */
export function completed({ spins, free, balance }: Node): Int8Array | undefined {
  if (Math.abs(balance) !== free.length) return undefined;
  return spins.map((spin) => (spin === 0 ? -Math.sign(balance) : spin));
}
