/** A second implementation for the tests: plain bigint fractions, nothing shared with envs/countdown. */
import type { Rng } from "../../../envs/lib/rng.ts";

/** [numerator, denominator], unreduced, denominator not 0. */
export type Fraction = readonly [bigint, bigint];

export function whole(value: number): Fraction {
  return [BigInt(value), 1n];
}

/** Undefined for a division by zero. */
export function apply(operator: string, [an, ad]: Fraction, [bn, bd]: Fraction): Fraction | undefined {
  if (operator === "+") return [an * bd + bn * ad, ad * bd];
  if (operator === "-") return [an * bd - bn * ad, ad * bd];
  if (operator === "*") return [an * bn, ad * bd];
  return bn === 0n ? undefined : [an * bd, ad * bn];
}

export function same([an, ad]: Fraction, [bn, bd]: Fraction): boolean {
  return an * bd === bn * ad;
}

/** The rule of docs/decisions/0005-countdown.md, word for word: sequences of steps over unordered pairs of positions. */
export function countSequences(values: readonly Fraction[], target: Fraction): number {
  if (values.length === 1) return same(values[0]!, target) ? 1 : 0;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    for (let j = i + 1; j < values.length; j++) {
      const others = values.filter((_, at) => at !== i && at !== j);
      const [a, b] = [values[i]!, values[j]!];
      const results = ["+", "*", "-", "/"].map((operator) => apply(operator, a, b));
      results.push(apply("-", b, a), apply("/", b, a));
      for (const result of results) if (result) count += countSequences([...others, result], target);
    }
  }
  return count;
}

/** Returns all values of expressions over exactly these numbers, by every split of the numbers into two parts. */
export function reachable(numbers: readonly number[]): ReadonlySet<string> {
  const memo = new Map<number, ReadonlyMap<string, Fraction>>();
  const visit = (mask: number): ReadonlyMap<string, Fraction> => {
    const known = memo.get(mask);
    if (known) return known;
    const values = new Map<string, Fraction>();
    const single = numbers.findIndex((_, at) => mask === 1 << at);
    if (single >= 0) values.set(`${numbers[single]}/1`, whole(numbers[single]!));
    for (let part = (mask - 1) & mask; part > 0; part = (part - 1) & mask) {
      for (const a of visit(part).values()) {
        for (const b of visit(mask ^ part).values()) {
          for (const operator of "+-*/") {
            const result = apply(operator, a, b);
            if (result) values.set(...reduced(result));
          }
        }
      }
    }
    memo.set(mask, values);
    return values;
  };
  return new Set(visit((1 << numbers.length) - 1).keys());
}

function reduced([num, den]: Fraction): [string, Fraction] {
  let [a, b] = [num < 0n ? -num : num, den < 0n ? -den : den];
  while (b !== 0n) [a, b] = [b, a % b];
  const factor = den < 0n ? -a : a;
  const fraction: Fraction = [num / factor, den / factor];
  return [`${fraction[0]}/${fraction[1]}`, fraction];
}

export interface Written {
  readonly text: string;
  /** Undefined where something is divided by zero. */
  readonly value: Fraction | undefined;
}

const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  "+": ["+"],
  "-": ["-", "−"],
  "*": ["*", "×", "·", "\\times", "\\cdot "],
  "/": ["/", "÷", "\\div"],
};

/**
 * A random chain of `size` numbers made by `draw`, e.g. 3 − 4·(5 + 6)/7: each operand is a number or a chain in
 * parentheses, so precedence and grouping from the left both matter.
 */
export function randomChain(size: number, draw: () => number, rng: Rng): Written {
  const operands: Written[] = [];
  const operators: string[] = [];
  for (let left = size; left > 0;) {
    const taken = left === size && size > 1 ? rng.int(1, size - 1) : rng.int(1, left);
    operands.push(rng.int(0, 1) === 0 || taken === 1 ? randomNumber(draw, rng) : inParentheses(taken, draw, rng));
    left -= taken;
    if (left > 0) operators.push(rng.pick(["+", "-", "*", "/"]));
  }
  let text = operands[0]!.text;
  operators.forEach((operator, at) => {
    const space = rng.pick(["", " ", "\n"]);
    text += `${space}${rng.pick(SPELLINGS[operator]!)}${space}${operands[at + 1]!.text}`;
  });
  return { text, value: chainValue(operands, operators) };
}

function randomNumber(draw: () => number, rng: Rng): Written {
  const number = draw();
  return { text: rng.int(0, 9) === 0 ? `(${number})` : `${number}`, value: whole(number) };
}

function inParentheses(size: number, draw: () => number, rng: Rng): Written {
  const { text, value } = randomChain(size, draw, rng);
  return { text: `(${text})`, value };
}

/** Evaluates a chain in two passes: products and quotients from the left, then sums and differences from the left. */
function chainValue(operands: readonly Written[], operators: readonly string[]): Fraction | undefined {
  const terms: (Fraction | undefined)[] = [operands[0]!.value];
  const signs: string[] = ["+"];
  operators.forEach((operator, at) => {
    const next = operands[at + 1]!.value;
    if (operator === "+" || operator === "-") {
      terms.push(next);
      signs.push(operator);
    } else {
      const last = terms.pop();
      terms.push(last && next && apply(operator, last, next));
    }
  });
  let sum: Fraction | undefined = whole(0);
  terms.forEach((term, at) => (sum = sum && term && apply(signs[at]!, sum, term)));
  return sum;
}
