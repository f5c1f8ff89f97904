/** Reads the values that an answer gives the unknowns, and compares them with the solution. */
import type { Facts, Parsed } from "../../facts.ts";
import { gradeValues, isNumeral, plain, wrongFacts } from "../numeral.ts";
import { readMath } from "../value.ts";
import { solveLinear } from "./solve.ts";
import { flipped, isInequality, type LinearInstance, type Relation } from "./statement.ts";

export interface LinearAnswer {
  readonly names: readonly string[];
  readonly relation: Relation;
  /** As they were written, in the order of the unknowns. */
  readonly values: readonly string[];
}

/** Marks of LaTeX around lines and words. */
const DRESSING = /\\(?:begin|end)\{[a-z]{1,10}\*?\};?|&|\\(?:text|mathrm)\{(.{0,20}?)\}/g;

/** As a model would write it. */
export function format({ names, relation, values }: LinearAnswer): string {
  return values.map((value, i) => `${names[i]} ${relation} ${value}`).join(", ");
}

const LENGTH_MAX = 2000;

/**
 * "x = 3, y = -1" in any order, "(x, y) = (3, -1)", "(3, -1)" in the order asked for, and of one unknown the value alone;
 * of an inequality "x > 3/2", "3/2 < x" or an interval.
 */
export function parse(text: string, instance: LinearInstance): Parsed<LinearAnswer> {
  if (text.length > LENGTH_MAX) return malformed(`it has ${text.length} characters, and the limit is ${LENGTH_MAX}`);
  const bare = plain(text.replaceAll(/\n|\\q?quad|\\\\/g, ";").replaceAll(DRESSING, "$1"));
  const read = isInequality(instance) ? inequality(bare, instance) : equations(bare, instance);
  if (read.kind === "malformed") return read;
  for (const value of read.answer.values) {
    if (!isNumeral(value)) return malformed(`${value.slice(0, 60)} is not a whole number, fraction or decimal`);
    const each = readMath(value);
    if (each.kind === "malformed") return each;
  }
  return read;
}

export function verify(instance: LinearInstance, { relation, values }: LinearAnswer): Facts {
  const solved = solveLinear(instance);
  if (solved === undefined) throw new Error("bug: the equations of a task have no solution");
  const wrong = (value: string, i: number): string => `${instance.names[i]} ${relation} ${value} does not hold`;
  if (relation === solved.relation) return gradeValues(solved.values, values, wrong);
  return wrongFacts(wrong((values[0] ?? "").slice(0, 100), 0));
}

function malformed(reason: string): Parsed<never> {
  return { kind: "malformed", reason };
}

// Equations.

function equations(bare: string, { names }: LinearInstance): Parsed<LinearAnswer> {
  const values = byName(bare, names) ?? inOrder(bare, names);
  if (values !== undefined) return { kind: "answer", answer: { names, relation: "=", values } };
  const wanted = names.map((name) => `${name} = …`).join(", ");
  return malformed(`it is not of the form ${wanted}, with each unknown once`);
}

/** What stands between two values. */
const SEPARATOR = /^(?:[,;]+(?:and)?|and)$/;

/** "x=3,y=-1": undefined if it is not that. */
function byName(bare: string, names: readonly string[]): readonly string[] | undefined {
  const starts = names.map((name) => startOf(bare, name));
  if (starts.some((start) => start === undefined)) return undefined;
  const places = (starts as readonly number[]).map((start, i) => ({ start, name: names[i] as string }));
  const sorted = places.toSorted((a, b) => a.start - b.start);
  if (sorted[0]?.start !== 0) return undefined;
  const found = new Map<string, string>();
  for (const [i, { start, name }] of sorted.entries()) {
    const next = sorted[i + 1];
    const part = bare.slice(start + name.length + 1, next?.start);
    const [value, separator] = withoutSeparator(part);
    if (next !== undefined && !SEPARATOR.test(separator)) return undefined;
    if (next === undefined && !/^;*$/.test(separator)) return undefined;
    found.set(name, value);
  }
  return names.map((name) => found.get(name) as string);
}

/** Where "x=" stands, if it stands just once. */
function startOf(bare: string, name: string): number | undefined {
  const at = bare.indexOf(`${name}=`);
  return at < 0 || bare.includes(`${name}=`, at + 1) ? undefined : at;
}

/** The value, and what follows the last digit or bracket of it. */
function withoutSeparator(part: string): readonly [value: string, separator: string] {
  const end = part.search(/[^\d)}]*$/);
  return [part.slice(0, end), part.slice(end)];
}

/** "(x,y)=(3,-1)", "(3,-1)", and of one unknown "3". */
function inOrder(bare: string, names: readonly string[]): readonly string[] | undefined {
  const prefix = `(${names.join(",")})=`;
  const rest = bare.startsWith(prefix) ? bare.slice(prefix.length) : bare;
  if (names.length === 1) return rest.includes("=") ? undefined : [rest];
  if (!rest.startsWith("(") || !rest.endsWith(")")) return undefined;
  const values = rest.slice(1, -1).split(/,|;/);
  return values.length === names.length ? values : undefined;
}

// One inequality.

const RELATIONS: readonly (readonly [written: RegExp, relation: Relation])[] = [
  [/\\leqslant|\\leq|\\le|≤|⩽|=<|<=/, "<="],
  [/\\geqslant|\\geq|\\ge|≥|⩾|=>|>=/, ">="],
  [/\\lt|</, "<"],
  [/\\gt|>/, ">"],
];

function inequality(bare: string, { names }: LinearInstance): Parsed<LinearAnswer> {
  const name = names[0] as string;
  const read = related(bare, name) ?? interval(bare, name);
  if (read !== undefined) return { kind: "answer", answer: read };
  return malformed(`it is not of the form ${name} < …, ${name} <= …, ${name} > … or ${name} >= …, nor an interval`);
}

function related(bare: string, name: string): LinearAnswer | undefined {
  for (const [written, relation] of RELATIONS) {
    const [left, right, ...more] = bare.split(written);
    if (left === undefined || right === undefined || more.length > 0) continue;
    if (left === name) return { names: [name], relation, values: [right] };
    if (right === name) return { names: [name], relation: flipped(relation), values: [left] };
  }
  return undefined;
}

const INFINITY = "(?:\\\\infty|∞|inf|infinity|oo)";
const RAY_UP = new RegExp(`^([[(])([^,]+),\\+?${INFINITY}[)\\]]$`);
const RAY_DOWN = new RegExp(`^[([]-${INFINITY},([^,]+)([)\\]])$`);

/** "(3/2,\infty)", also after "x\in". */
function interval(bare: string, name: string): LinearAnswer | undefined {
  const prefix = [`${name}\\in`, `${name}∈`].find((each) => bare.startsWith(each)) ?? "";
  const rest = bare.slice(prefix.length);
  const up = RAY_UP.exec(rest);
  if (up !== null) return { names: [name], relation: up[1] === "(" ? ">" : ">=", values: [up[2] as string] };
  const down = RAY_DOWN.exec(rest);
  if (down !== null) return { names: [name], relation: down[2] === ")" ? "<" : "<=", values: [down[1] as string] };
  return undefined;
}
