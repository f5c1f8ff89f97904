/** What commands print. */
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import { escapedJson } from "../envs/lib/words.ts";
import { inColour, write } from "../server/runtime/terminal.ts";

/** A message as the HTTP port would give it, with unset numbers and lists written out. */
export function jsonOf<D extends DescMessage>(schema: D, message: MessageShape<D>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

/** A value in JSON, for a terminal too. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, undefined, indent));
}

export function printJson(value: unknown): void {
  print(jsonText(value, 2));
}

export function print(text: string): void {
  void write(`${text}\n`);
}

/** Prints one of many pieces: waits until it is taken, so that no more is made than is read. */
export function printed(text: string): Promise<void> {
  return write(text);
}

const GAP = "  ";
const LAST_MIN = 20;

/** Lines of at most so many characters, cut at blanks; a longer word stands on a line of its own. */
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

/** A table, the last column wrapped where the terminal is too narrow. */
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

/** Names and values in two columns; values that are undefined are left out. */
export function fields(pairs: readonly (readonly [string, string | undefined])[]): string {
  const shown = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

/** A number in at most 6 significant digits. */
export function number(value: number): string {
  return String(Number(value.toPrecision(6)));
}

/** A change with its sign, and without one where all of it is rounded away. */
export function signed(change: number, decimals: number): string {
  const rounded = Number(change.toFixed(decimals)) + 0;
  return `${rounded > 0 ? "+" : ""}${rounded.toFixed(decimals)}`;
}

/** A baseline in words. */
export function baselineText(baseline: {
  readonly value: number;
  readonly bound: number;
  readonly proven: boolean;
}): string {
  const { value, bound, proven } = baseline;
  return `${number(value)} (${proven ? "proven optimal" : `best known; none is better than ${number(bound)}`})`;
}

/** "VERDICT_FEASIBLE" of an enum's table as "feasible". */
export function word(names: Readonly<Record<number, string>>, value: number): string {
  return (names[value] ?? String(value)).toLowerCase();
}

const WIDTH_DEFAULT = 80;

/** Columns of the terminal that lines are written for; where standard output is no terminal, as many as fit everywhere. */
export function terminalWidth(): number {
  return process.stdout.columns || WIDTH_DEFAULT;
}
