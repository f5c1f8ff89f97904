/** Decodes protobuf messages from JSON. Limits how many keys, values, lists and objects a JSON text may have. */
import { type DescField, type DescMessage, fromJsonString, type Message, ScalarType } from "@bufbuild/protobuf";
import { isUtf8 } from "node:buffer";
import { RpcError } from "../../base/rpc.ts";
import { PARTS_MAX } from "../wire/pieces.ts";

/**
 * Returns a function that decodes messages from JSON, or throws RpcError. Unknown fields are refused. Connect ignores
 * them by default, so that a misspelt "split": "eval" would silently give train tasks.
 */
export function jsonDecoderOf(schema: DescMessage): (bytes: Uint8Array) => Message {
  const check = jsonCheck(schema);
  return (bytes) => {
    check(bytes);
    if (textOf(bytes).trim() === "")
      throw new RpcError("INVALID_ARGUMENT", `the body is empty: a ${schema.name} without fields is sent as {}`);
    try {
      return fromJsonString(schema, textOf(bytes), { ignoreUnknownFields: false });
    } catch (error) {
      checkFields(waysTo(schema, texts), bytes, faultOfText);
      throw new RpcError("INVALID_ARGUMENT", (error as Error).message);
    }
  };
}

/**
 * Returns a function that checks JSON before protobuf-es decodes it. It throws RpcError for invalid UTF-8, too many
 * keys and values, and 64-bit integers that JSON.parse would round.
 */
export function jsonCheck(schema: DescMessage): (bytes: Uint8Array) => void {
  const ways = waysTo(schema, longs);
  return (bytes) => {
    checkJson(bytes, ofMessages);
    if (ways.length > 0) checkFields(ways, bytes, faultOf);
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;

/** Limits on a JSON text. JSON.parse blocks the event loop for about a microsecond for each part. */
export interface JsonLimits {
  /** Maximum number of parts, counted as commas, colons and opening brackets outside of strings. */
  readonly parts: number;
  /** Maximum number of lists, objects and keys, which take JSON.parse longest. Left out: only `parts` applies. */
  readonly structures?: number;
  /** Maximum depth of nested lists and objects. Left out: only `parts` applies. */
  readonly depth?: number;
}

const ofMessages: JsonLimits = { parts: PARTS_MAX };

/**
 * Parses JSON within limits. Undefined: the text is not JSON. Throws RpcError, before parsing, if a limit is exceeded.
 */
export function jsonWithin(bytes: Uint8Array, limits: JsonLimits): unknown {
  checkJson(bytes, limits);
  return parsed(bytes);
}

/**
 * Counts the keys, values, lists and objects of a JSON text by its commas, colons and opening brackets outside of
 * strings. Throws if there are too many.
 */
function checkJson(
  bytes: Uint8Array,
  { parts: partsMax, structures: structuresMax = partsMax, depth }: JsonLimits,
): void {
  if (!isUtf8(bytes)) throw new RpcError("INVALID_ARGUMENT", "the request's JSON is not valid UTF-8");
  const depthMax = depth ?? partsMax;
  if (bytes.length <= Math.min(structuresMax, depthMax)) return;
  let [commas, structures, open] = [0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) commas++;
    else if (byte === COLON || byte === BRACE || byte === BRACKET) structures++;
    if (byte === BRACE || byte === BRACKET) open++;
    else if (byte === BRACE_END || byte === BRACKET_END) open--;
    if (commas + structures > partsMax) throw exceeds(`${partsMax} keys, values, lists and objects`);
    if (structures > structuresMax) throw exceeds(`${structuresMax} keys, lists and objects`);
    if (open > depthMax) throw exceeds(`${depthMax} levels of nested lists and objects`);
  }
}

function exceeds(limit: string): RpcError {
  return new RpcError("INVALID_ARGUMENT", `the request has more than ${limit}`);
}

/** Returns the position of the quote that ends the string which begins at `begin`. */
function endOfText(bytes: Uint8Array, begin: number): number {
  let at = begin + 1;
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}

const longs: ReadonlySet<ScalarType | undefined> = new Set([
  ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  ...[ScalarType.UINT64, ScalarType.FIXED64],
]);

const texts: ReadonlySet<ScalarType | undefined> = new Set([ScalarType.STRING]);

/**
 * A field whose values must be checked, or a field that holds messages with such fields. `inner` lists the fields of
 * these messages; it is empty for a field whose own values are checked.
 */
interface Way {
  readonly field: DescField;
  readonly inner: readonly Way[];
}

function waysTo(schema: DescMessage, kinds: typeof longs, above: readonly DescMessage[] = []): readonly Way[] {
  if (above.includes(schema)) return [];
  return schema.fields.flatMap((field) => {
    if (kinds.has(field.scalar)) return [{ field, inner: [] }];
    const inner = field.message === undefined ? [] : waysTo(field.message, kinds, [...above, schema]);
    return inner.length === 0 ? [] : [{ field, inner }];
  });
}

/**
 * Checks the values of the fields in `ways` with `faultOfValue`. Throws RpcError for the first value that has a fault.
 */
function checkFields(ways: readonly Way[], bytes: Uint8Array, faultOfValue: FaultOf): void {
  const fault = faultIn(ways, parsed(bytes), faultOfValue);
  if (fault === undefined) return;
  const field = fault.path.join("").slice(1);
  throw new RpcError("INVALID_ARGUMENT", `${field}: ${fault.why}`, { field });
}

interface Fault {
  /** Path of the value, in pieces such as ".arms" and "[2]". */
  readonly path: readonly string[];
  readonly why: string;
}

type FaultOf = (value: unknown) => Fault | undefined;

function faultIn(ways: readonly Way[], json: unknown, faultOfValue: FaultOf): Fault | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const values = json as Readonly<Record<string, unknown>>;
  for (const { field, inner } of ways) {
    for (const [at, value] of elementsOf(field, values[field.jsonName] ?? values[field.name])) {
      const fault = inner.length === 0 ? faultOfValue(value) : faultIn(inner, value, faultOfValue);
      if (fault === undefined) continue;
      const place = at === undefined ? [] : [`[${at}]`];
      return { path: [`.${field.name}`, ...place, ...fault.path], why: fault.why };
    }
  }
  return undefined;
}

/** Form of a 64-bit integer, which has at most 20 characters. BigInt would take seconds for millions of digits. */
const longPattern = /^-?\d{1,20}$/;

function faultOf(value: unknown): Fault | undefined {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path: [], why: "JSON numbers beyond 2^53 - 1 lose digits: send the number as a string" };
  }
  if (typeof value !== "string" || longPattern.test(value)) return undefined;
  return { path: [], why: "must be a whole number of at most 64 bits, in digits" };
}

function faultOfText(value: unknown): Fault | undefined {
  if (typeof value !== "string" || value.isWellFormed()) return undefined;
  return {
    path: [],
    why: "it contains half of a surrogate pair, which is no character: replace it by U+FFFD, and send the request again",
  };
}

/**
 * Returns a field's values with their list positions or map keys. Returns nothing for a list or map field whose value
 * has the wrong type, which protobuf-es reports.
 */
function elementsOf(field: DescField, value: unknown): Iterable<readonly [at: number | string | undefined, unknown]> {
  if (field.fieldKind === "list") return Array.isArray(value) ? value.entries() : [];
  if (field.fieldKind === "map") return typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[undefined, value]];
}

/** Parses JSON. Undefined: the text is not valid JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes));
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8 and removes a byte order mark. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
