/** Prints the output of commands on standard output. */
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { escapedJson } from "../envs/lib/escape.ts";
import { inColour, write } from "../server/runtime/terminal.ts";

/** Returns a protobuf message as JSON in the form of the HTTP port, including numbers that are 0 and empty lists. */
export function jsonOf<D extends DescMessage>(schema: D, message: MessageShape<D>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** Returns a value as JSON in which control characters are escaped, so that it is safe to print on a terminal. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, undefined, indent));
}

export function printJson(value: unknown): void {
  print(jsonText(value, 2));
}

export function print(text: string): void {
  void write(`${text}\n`);
}

/** Prints one of many pieces of output. Waits until it is written, so that a slow reader slows the command down. */
export function printed(text: string): Promise<void> {
  return write(text);
}

const GAP = "  ";
const LAST_MIN = 20;

/** Wraps a text at blanks into lines of at most `width` characters. A longer word gets its own line. */
function wrapped(text: string, width: number): readonly string[] {
  if (text.length <= width && !text.includes("\n")) return [text];
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    for (const word of line.split(" ")) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}

/** Returns a table. The last column is wrapped if the terminal is too narrow. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.split("\n")));
  const widths = head.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, ...(row[column] ?? []).map(({ length }) => length)), 0),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const last = Math.max(LAST_MIN, (process.stdout.columns || 120) - before);
  const lines = cells.flatMap((row, i) => {
    const columns = row.map((cell, column) => (column === head.length - 1 ? wrapped(cell.join("\n"), last) : cell));
    const height = Math.max(...columns.map(({ length }) => length));
    const padded = Array.from({ length: height }, (_, at) =>
      columns
        .map((cell, column) => (cell[at] ?? "").padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    );
    return i > 0
      ? padded
      : padded.map((line) => line.replaceAll(/\S+(?: \S+)*/g, (name) => inColour("bold", name, "stdout")));
  });
  return lines.join("\n");
}

/** Returns lines of names with their values, in two columns. Leaves out pairs without a value. */
export function fields(pairs: readonly (readonly [string, string | undefined])[]): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

/** Formats a number with at most 6 significant digits. */
export function number(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** Formats a change of a value with its sign, or without one if it rounds to 0. */
export function signed(change: number, decimals: number): string {
  const rounded = Number(change.toFixed(decimals)) + 0;
  return `${rounded > 0 ? "+" : ""}${rounded.toFixed(decimals)}`;
}

/** Returns a baseline (the best objective value known, with which answers are compared) in words. */
export function baselineText(baseline: {
  readonly value: number;
  readonly bound: number;
  readonly proven: boolean;
}): string {
  const { value, bound, proven } = baseline;
  return `${number(value)} (${proven ? "proven optimal" : `best known; none is better than ${number(bound)}`})`;
}

/** Returns the name of an enum's value in lower case, e.g. "feasible". */
export function word(names: Readonly<Record<number, string>>, value: number): string {
  return (names[value] ?? String(value)).toLowerCase();
}

const WIDTH_DEFAULT = 80;
/** Minimum width of printed lines, in columns, even on a narrower terminal: charts need room for names and numbers. */
const WIDTH_MIN = 40;

/** Returns the terminal's width in columns, or a default that fits everywhere. */
export function terminalWidth(): number {
  return usableWidth(process.stdout.columns);
}

/**
 * Returns the width of printed lines, given the terminal's width, both in columns. If `columns` is undefined or 0, the
 * terminal's width is unknown, and the default applies.
 */
export function usableWidth(columns: number | undefined): number {
  return Math.max(WIDTH_MIN, columns || WIDTH_DEFAULT);
}
