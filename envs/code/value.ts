/** Creates, reads and shows Python values, which are stored as plain data. */
import type { PyValue } from "../ports.ts";

export function pyInt(value: bigint): PyValue {
  return { int: value.toString() };
}

export function pyFloat(value: number): PyValue {
  if (Number.isNaN(value)) return { float: "nan" };
  if (!Number.isFinite(value)) return { float: value > 0 ? "inf" : "-inf" };
  return { float: Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : `${value}` };
}

export function isList(value: PyValue): value is readonly PyValue[] {
  return Array.isArray(value);
}

type Tagged<Name extends string> = Extract<PyValue, { readonly [Key in Name]: unknown }>;

/** Returns the value if it has the named type, e.g. "tuple". Undefined otherwise. */
export function tagged<Name extends "int" | "float" | "tuple" | "set" | "frozenset" | "dict" | "bytes">(
  value: PyValue,
  name: Name,
): Tagged<Name> | undefined {
  return typeof value === "object" && value !== null && !isList(value) && name in value
    ? (value as Tagged<Name>)
    : undefined;
}

/** Returns the items of a list or a tuple, in order. Undefined for other values. */
export function sequenceOf(value: PyValue): readonly PyValue[] | undefined {
  return isList(value) ? value : tagged(value, "tuple")?.tuple;
}

/** Returns the items of a set or a frozenset. Undefined for other values. */
export function membersOf(value: PyValue): readonly PyValue[] | undefined {
  return tagged(value, "set")?.set ?? tagged(value, "frozenset")?.frozenset;
}

/** Returns the double nearest to an int, a bool or a float. Undefined for other values. */
export function numberOf(value: PyValue): number | undefined {
  if (typeof value === "boolean") return Number(value);
  const float = tagged(value, "float")?.float;
  if (float !== undefined) return floatOf(float);
  const int = tagged(value, "int")?.int;
  return int === undefined ? undefined : Number(int);
}

function floatOf(text: string): number {
  if (text === "nan") return NaN;
  if (text === "inf") return Infinity;
  return text === "-inf" ? -Infinity : Number(text);
}

/** Returns an int as decimal text, e.g. "-12", and a bool as "1" or "0". Undefined for other values. */
export function wholeOf(value: PyValue): string | undefined {
  if (typeof value === "boolean") return value ? "1" : "0";
  return tagged(value, "int")?.int;
}

const CUT = "…";

/** Returns a value roughly as Python prints it, cut to `charsMax` characters. */
export function show(value: PyValue, charsMax: number): string {
  const writer = { text: "", charsMax };
  write(writer, value, 0);
  return clip(writer.text, charsMax);
}

export function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).replace(/[\uD800-\uDBFF]$/, "")}${CUT}`;
}

interface Writer {
  text: string;
  readonly charsMax: number;
}

const DEPTH_MAX = 32;

/**
 * Appends a value to the writer's text. Stops when the text is long enough, because a value may have a million items.
 */
function write(writer: Writer, value: PyValue, depth: number): void {
  if (writer.text.length > writer.charsMax) return;
  if (depth > DEPTH_MAX) writer.text += CUT;
  else if (value === null) writer.text += "None";
  else if (typeof value === "boolean") writer.text += value ? "True" : "False";
  else if (typeof value === "string") writer.text += quoted(value, writer.charsMax);
  else if (isList(value)) writeAll(writer, value, "[", "]", depth);
  else if ("int" in value) writer.text += value.int;
  else if ("float" in value) writer.text += value.float;
  else if ("bytes" in value) writer.text += `b${quoted(value.bytes, writer.charsMax)}`;
  else if ("tuple" in value) writeAll(writer, value.tuple, "(", value.tuple.length === 1 ? ",)" : ")", depth);
  else if ("set" in value && value.set.length === 0) writer.text += "set()";
  else if ("set" in value) writeAll(writer, value.set, "{", "}", depth);
  else if ("frozenset" in value) writeAll(writer, value.frozenset, "frozenset({", "})", depth);
  else if ("dict" in value) writeDict(writer, value.dict, depth);
  else writer.text += `<a value of type ${value.other}>`;
}

function writeAll(writer: Writer, items: readonly PyValue[], open: string, close: string, depth: number): void {
  writer.text += open;
  for (const [i, item] of items.entries()) {
    if (writer.text.length > writer.charsMax) return;
    if (i > 0) writer.text += ", ";
    write(writer, item, depth + 1);
  }
  writer.text += close;
}

function writeDict(writer: Writer, entries: readonly (readonly [PyValue, PyValue])[], depth: number): void {
  writer.text += "{";
  for (const [i, [key, value]] of entries.entries()) {
    if (writer.text.length > writer.charsMax) return;
    if (i > 0) writer.text += ", ";
    write(writer, key, depth + 1);
    writer.text += ": ";
    write(writer, value, depth + 1);
  }
  writer.text += "}";
}

/** Returns the first `charsMax` characters of a text in double quotes, with special characters escaped as in JSON. */
export function quoted(text: string, charsMax: number): string {
  return JSON.stringify(text.length > charsMax ? text.slice(0, charsMax) : text);
}
