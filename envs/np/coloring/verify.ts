/** Parses and verifies a colouring. Returns facts such as the number of colours; rewards are computed elsewhere. */
import type { Facts, Parsed } from "../../facts.ts";
import { adjacent, type Graph } from "../../lib/graph.ts";
import { type Cursor, parseList, takeNumber } from "../../lib/parse-lists.ts";

/**
 * Answer: the colour of each vertex, in the order of the vertices. Colours are mere labels: only their equality
 * matters.
 */
export type Coloring = readonly number[];

/**
 * Verifies a colouring. It is feasible if each vertex has a colour that differs from its neighbours' colours. Otherwise
 * the facts name the first fault.
 */
export function verify(graph: Graph, coloring: Coloring): Facts {
  const violation = problem(graph, coloring);
  if (violation !== undefined) return { kind: "infeasible", violation };
  return { kind: "feasible", objective: new Set(coloring).size };
}

function problem(graph: Graph, coloring: Coloring): string | undefined {
  const { vertices } = graph;
  if (coloring.length !== vertices) return `the list has ${coloring.length} colors, and the graph ${vertices} vertices`;
  for (let v = 0; v < vertices; v++) {
    const color = coloring[v];
    for (let w = v + 1; w < vertices; w++) {
      if (coloring[w] !== color || !adjacent(graph, v, w)) continue;
      const same = isStandIn(color as number) ? "the same color" : `color ${color}`;
      return `vertices ${v} and ${w} are joined, and both have ${same}`;
    }
  }
  return undefined;
}

/** Maximum number of digits of a label (the number of a colour) that a double always holds exactly. */
const EXACT_DIGITS_MAX = 15;
const EXACT_MAX = 10 ** EXACT_DIGITS_MAX - 1;
const DIGITS = /[\d０-９]+/y;

/**
 * Parses a list of labels with any number of digits. A label too long for a double is replaced by a number, counting
 * down from the largest safe integer. Equal labels get equal numbers, and different labels different ones.
 */
export function parse(text: string): Parsed<Coloring> {
  const long = new Map<string, number>();
  return parseList(text, (_, cursor) => takeLabel(text, cursor, long));
}

/** Returns whether a label is a number that replaced a label too long for a double. */
export function isStandIn(label: number): boolean {
  return label > EXACT_MAX;
}

function takeLabel(text: string, cursor: Cursor, long: Map<string, number>): number {
  const short = takeNumber(text, cursor);
  if (short !== Infinity) return short;
  DIGITS.lastIndex = cursor.at;
  const digits = DIGITS.exec(text)?.[0];
  // Refuse a long number with a minus sign.
  if (digits === undefined) return Infinity;
  cursor.at += digits.length;
  const label = digits.normalize("NFKC").replace(/^0+(?=\d)/, "");
  if (label.length <= EXACT_DIGITS_MAX) return Number(label);
  const known = long.get(label) ?? Number.MAX_SAFE_INTEGER - long.size;
  long.set(label, known);
  return known;
}
