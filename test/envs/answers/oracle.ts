/**
 * Decides from a text's digits alone, without any parser, whether the text could be a right answer, whatever marks it
 * has. A parser that accepts a text refused here has accepted a wrong answer.
 */
import { definitions } from "../optima/definitions.ts";
import type { CountdownInstance } from "../../../envs/countdown/instance.ts";
import type { Environment } from "../../../envs/environment.ts";
import { apply, type Fraction, same, whole } from "../countdown/reference.ts";

type Reader = (text: string) => unknown;

const numbersIn = (text: string): readonly number[] => (text.match(/-?\d+/g) ?? []).map(Number);

/** A closed walk, with or without the return. */
function cycleIn(text: string): readonly number[] {
  const stops = numbersIn(text);
  return stops.length > 1 && stops[0] === stops.at(-1) ? stops.slice(0, -1) : stops;
}

/** Two sides, parted by the first bracket that closes. */
function sidesIn(text: string): readonly [readonly number[], readonly number[]] {
  const parted = /[\])}］）｝]/.exec(text)?.index ?? 0;
  return [numbersIn(text.slice(0, parted)), numbersIn(text.slice(parted))];
}

function scheduleIn(text: string): unknown {
  const entries = [...text.matchAll(/(-?\d+)\D+?(-?\d+)\D+?(\d{1,2}):(\d\d)/g)];
  const used = entries.reduce((digits, [entry]) => digits + entry.replaceAll(/\D/g, "").length, 0);
  // A digit that is in no entry belongs to something else.
  if (used !== text.replaceAll(/\D/g, "").length) return [{ meeting: -1, room: -1, start: 0 }];
  return entries.map(([, meeting, room, hour, minute]) => ({
    meeting: Number(meeting),
    room: Number(room),
    start: 60 * Number(hour) + Number(minute),
  }));
}

/** Reads each digit as one symbol, whatever stands between two of them. */
function digitsIn(text: string): readonly number[] {
  return text.includes("-") ? numbersIn(text) : Array.from(text.replaceAll(/\D/g, ""), Number);
}

/** Reads each word as a direction, by its first letter. */
function directionsIn(text: string): readonly number[] {
  return Array.from(text.matchAll(/[a-z]+/gi), ([word]) => "nesw".indexOf(word.charAt(0).toLowerCase()));
}

/** Reads all digits as one whole number, without zeros after a point. */
function wholeIn(text: string): number {
  return text.includes("-") ? NaN : Number(text.replace(/\.0+(?!\d)/, "").replaceAll(/\D/g, ""));
}

const READERS: Readonly<Record<string, Reader>> = {
  "tools/ledger": wholeIn,
  "games/maze": directionsIn,
  "games/mastermind": digitsIn,
  "np/bisection": sidesIn,
  "np/hamiltonian": cycleIn,
  "np/tsp": cycleIn,
  "np/meetings": scheduleIn,
};

/** Whether the answer that the text's digits spell is feasible by the definitions of the benchmarks. */
export function isReallyFeasible(environment: Environment, instance: unknown, text: string): boolean {
  if (environment.id === "countdown") return reaches(instance as CountdownInstance, text);
  const definition = definitions[environment.id];
  if (definition === undefined) throw new Error(`${environment.id} has no definition: write one beside the others`);
  const read = /^sequence\//.test(environment.id) ? digitsIn : (READERS[environment.id] ?? numbersIn);
  const answer = read(text);
  return definition(instance as never, answer as never) !== undefined;
}

/**
 * Whether an expression, or one side of an equation whose other side is the target, uses the numbers and is the target.
 * Shunting-yard, over the signs of ASCII.
 */
function reaches({ numbers, target }: CountdownInstance, text: string): boolean {
  const sides = text.split("=").map((side) => side.trim());
  const expression = sides.length === 1 ? sides[0] : sides.find((side) => side !== `${target}`);
  if (expression === undefined || sides.length > 2 || (sides.length === 2 && !sides.includes(`${target}`)))
    return false;
  // A sign before the first number is a subtraction from nothing.
  const signed = expression.startsWith("-") ? `0${expression}` : expression;
  const tokens =
    signed
      .replaceAll("[", "(")
      .replaceAll("]", ")")
      .match(/\d+|\S/g) ?? [];
  const used = tokens.filter((token) => /^\d/.test(token)).map(Number);
  if (signed !== expression) used.shift();
  const sorted = (list: readonly number[]): string => [...list].sort((a, b) => a - b).join();
  const value = sorted(used) === sorted(numbers) ? valueOf(tokens) : undefined;
  return value !== undefined && same(value, whole(target));
}

const PRECEDENCE: Readonly<Record<string, number>> = { "+": 1, "-": 1, "*": 2, "/": 2 };

function valueOf(tokens: readonly string[]): Fraction | undefined {
  const values: (Fraction | undefined)[] = [];
  const operators: string[] = [];
  const reduce = (): void => {
    const [right, left] = [values.pop(), values.pop()];
    const operator = operators.pop() as string;
    values.push(left && right && operator !== "(" ? apply(operator, left, right) : undefined);
  };
  for (const token of tokens) {
    const rank = PRECEDENCE[token];
    if (/^\d/.test(token)) values.push(whole(Number(token)));
    else if (token === "(") operators.push(token);
    else if (token === ")") {
      while (operators.length > 0 && operators.at(-1) !== "(") reduce();
      if (operators.pop() === undefined) return undefined;
    } else if (rank === undefined) return undefined;
    else {
      while (operators.length > 0 && (PRECEDENCE[operators.at(-1) as string] ?? 0) >= rank) reduce();
      operators.push(token);
    }
  }
  while (operators.length > 0) reduce();
  return values.length === 1 ? values[0] : undefined;
}
