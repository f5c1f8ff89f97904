/** What must be refused of a message in JSON before protobuf-es reads it. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { isUtf8 } from "node:buffer";
import { RpcError } from "../../rpc/rpc-error.ts";
import { PARTS_MAX } from "../../wire/check-parts.ts";

/** Throws RpcError for bytes that are no UTF-8, too many parts, and 64-bit integers that JSON.parse would change. */
export function jsonCheck(schema: DescMessage): (bytes: Uint8Array) => void {
  const withLongs = holdsLongs(schema);
  return (bytes) => {
    if (!isUtf8(bytes)) throw new RpcError("INVALID_ARGUMENT", "the request's JSON is not valid UTF-8");
    checkJsonParts(bytes);
    if (withLongs) checkLongs(schema, parsed(bytes));
  };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

/** Lists, objects, their values after the first, and keys, each by the byte that comes with it; those in texts are none. */
function checkJsonParts(bytes: Uint8Array): void {
  if (bytes.length <= PARTS_MAX) return;
  let parts = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA || byte === COLON || byte === BRACE || byte === BRACKET) parts++;
    if (parts > PARTS_MAX) {
      throw new RpcError("INVALID_ARGUMENT", `the request has more than ${PARTS_MAX} keys, values, lists and objects`);
    }
  }
}

/** Where the text that begins at a quote has its last one. */
function endOfText(bytes: Uint8Array, begin: number): number {
  let at = begin + 1;
  for (; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}

const longs: ReadonlySet<ScalarType | undefined> = new Set([
  ...[ScalarType.INT64, ScalarType.SINT64, ScalarType.SFIXED64],
  ...[ScalarType.UINT64, ScalarType.FIXED64],
]);

function holdsLongs(schema: DescMessage, above: readonly DescMessage[] = []): boolean {
  if (above.includes(schema)) return false;
  const holds = ({ scalar, message }: DescField): boolean =>
    longs.has(scalar) || (message !== undefined && holdsLongs(message, [...above, schema]));
  return schema.fields.some(holds);
}

/** The longest 64-bit integers have 20 characters. BigInt would take seconds for millions of digits. */
const longPattern = /^-?\d{1,20}$/;

function checkLongs(schema: DescMessage, json: unknown, path = ""): void {
  if (typeof json !== "object" || json === null) return;
  const values = json as Readonly<Record<string, unknown>>;
  for (const field of schema.fields) {
    const value = values[field.jsonName] ?? values[field.name];
    for (const [at, each] of elementsOf(field, value)) {
      const name = `${path}${field.name}${at}`;
      if (longs.has(field.scalar)) checkLong(each, name);
      if (field.message !== undefined) checkLongs(field.message, each, `${name}.`);
    }
  }
}

function checkLong(value: unknown, field: string): void {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const why = "JSON numbers beyond 2^53 - 1 lose digits: give it as a string";
    throw new RpcError("INVALID_ARGUMENT", `${field}: ${why}`, { field });
  }
  if (typeof value === "string" && !longPattern.test(value)) {
    throw new RpcError("INVALID_ARGUMENT", `${field}: want a whole number of at most 64 bits, in digits`, { field });
  }
}

/** The values of a field with their places; what is of another shape than the field's is left to protobuf-es. */
function elementsOf(field: DescField, value: unknown): readonly (readonly [at: string, value: unknown])[] {
  if (field.fieldKind === "list") return Array.isArray(value) ? value.map((each, i) => [`[${i}]`, each]) : [];
  if (field.fieldKind !== "map") return [["", value]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([key, each]) => [`[${JSON.stringify(key)}]`, each]);
}

/** As Connect parses it; undefined: it will say what is wrong. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
