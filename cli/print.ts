/** What commands print. */
import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";
import Table from "cli-table3";
import { inColour } from "./notes.ts";

/** A message as the HTTP port would give it, with unset numbers and lists written out. */
export function jsonOf<D extends DescMessage>(schema: D, message: MessageShape<D>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2));
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints one of many pieces: waits until it is taken, so that no more is made than is read. */
export function printed(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** Columns without lines; wide cells are wrapped to the terminal. */
const noLines = Object.fromEntries(
  ["top", "bottom", "left", "right"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((part) => [side + part, ""] as const),
  ),
);
const borders = { ...noLines, mid: "", "left-mid": "", "mid-mid": "", "right-mid": "", middle: "  " };

/** A table, the last column wrapped where the terminal is too narrow. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const last = Math.max(20, Math.min(widths.at(-1) ?? 0, (process.stdout.columns || 120) - before));
  const drawn = new Table({
    head: head.map((name) => inColour("bold", name, process.stdout)),
    chars: borders,
    colWidths: [...widths.slice(0, -1), last],
    wordWrap: true,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) drawn.push([...row]);
  return drawn.toString().replaceAll(/ +$/gm, "");
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
