/**
 * Looks at the messages of requests before Connect makes objects of them. It has no way in for that, so what it does to
 * get at their bytes is done before it, by its own functions: compression is undone, and envelopes are opened.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import {
  type Compression,
  type EnvelopedMessage,
  pipe,
  readAllBytes,
  transformDecompressEnvelope,
  transformJoinEnvelopes,
  transformSplitEnvelope,
  type UniversalServerRequest,
} from "@connectrpc/connect/protocol";
import { isUtf8 } from "node:buffer";
import { toConnectError } from "../errors.ts";
import { RpcError } from "../rpc.ts";
import { checkParts, PARTS_MAX } from "../wire/codecs.ts";

// What must be refused of a message in JSON before protobuf-es reads it.

/** Throws RpcError for bytes that are no UTF-8, too many parts, and 64-bit integers that JSON.parse would change. */
export function jsonCheck(schema: DescMessage): (bytes: Uint8Array) => void {
  const ways = waysToLongs(schema);
  return (bytes) => {
    if (!isUtf8(bytes)) throw new RpcError("INVALID_ARGUMENT", "the request's JSON is not valid UTF-8");
    checkJsonParts(bytes);
    if (ways.length > 0) checkLongs(ways, bytes);
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

/** A field that is a 64-bit integer, or has some in its messages: those that `inner` leads to. */
interface Way {
  readonly field: DescField;
  readonly inner: readonly Way[];
}

function waysToLongs(schema: DescMessage, above: readonly DescMessage[] = []): readonly Way[] {
  if (above.includes(schema)) return [];
  return schema.fields.flatMap((field) => {
    if (longs.has(field.scalar)) return [{ field, inner: [] }];
    const inner = field.message === undefined ? [] : waysToLongs(field.message, [...above, schema]);
    return inner.length === 0 ? [] : [{ field, inner }];
  });
}

function checkLongs(ways: readonly Way[], bytes: Uint8Array): void {
  const fault = faultIn(ways, parsed(bytes));
  if (fault === undefined) return;
  const field = fault.path.join("").slice(1);
  throw new RpcError("INVALID_ARGUMENT", `${field}: ${fault.why}`, { field });
}

interface Fault {
  /** Such as ".arms" and "[2]". */
  readonly path: readonly string[];
  readonly why: string;
}

function faultIn(ways: readonly Way[], json: unknown): Fault | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const values = json as Readonly<Record<string, unknown>>;
  for (const { field, inner } of ways) {
    for (const [at, value] of elementsOf(field, values[field.jsonName] ?? values[field.name])) {
      const fault = inner.length === 0 ? faultOf(value) : faultIn(inner, value);
      if (fault === undefined) continue;
      const place = at === undefined ? [] : [`[${at}]`];
      return { path: [`.${field.name}`, ...place, ...fault.path], why: fault.why };
    }
  }
  return undefined;
}

/** The longest 64-bit integers have 20 characters. BigInt would take seconds for millions of digits. */
const longPattern = /^-?\d{1,20}$/;

function faultOf(value: unknown): Fault | undefined {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { path: [], why: "JSON numbers beyond 2^53 - 1 lose digits: give it as a string" };
  }
  if (typeof value !== "string" || longPattern.test(value)) return undefined;
  return { path: [], why: "want a whole number of at most 64 bits, in digits" };
}

/** The values of a field with their places in it; what has not the field's shape is left to protobuf-es. */
function elementsOf(field: DescField, value: unknown): Iterable<readonly [at: number | string | undefined, unknown]> {
  if (field.fieldKind === "list") return Array.isArray(value) ? value.entries() : [];
  if (field.fieldKind === "map") return typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[undefined, value]];
}

/** As Connect parses it; undefined: it will say what is wrong. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

export const acceptCompression = [compressionGzip, compressionBrotli];

export type ByteRequest = UniversalServerRequest & { readonly body: AsyncIterable<Uint8Array> };

/** Throws ConnectError for a message that is refused. */
type Check = (message: Uint8Array) => void;

/** The header that names the compression, by content types. Bodies of the first kind are a message, others envelopes. */
const wholeBodies = /^application\/(json|proto)\b/i;
const encodingHeaders = [
  [wholeBodies, "content-encoding"],
  [/^application\/connect\+/i, "connect-content-encoding"],
  [/^application\/grpc\b/i, "grpc-encoding"],
] as const;

/** Has the messages of requests for a method checked as they are read. */
export function messageChecker(input: DescMessage, maxBytes: number): (request: ByteRequest) => ByteRequest {
  const json = refusing(jsonCheck(input));
  const binary = refusing((message) => checkParts(input, message));
  return (request) => {
    const type = request.header.get("content-type") ?? "";
    const header = encodingHeaders.find(([types]) => types.test(type))?.[1];
    // Connect refuses requests of other types, and of other compressions.
    if (header === undefined) return request;
    const encoding = request.header.get(header) ?? "identity";
    const compression = acceptCompression.find(({ name }) => name === encoding) ?? null;
    if (compression === null && encoding !== "identity") return request;
    const reading = { maxBytes, compression, check: /json/i.test(type) ? json : binary };
    return wholeBodies.test(type) ? checkedWhole(request, reading) : checkedEnvelopes(request, reading);
  };
}

interface Reading {
  readonly maxBytes: number;
  readonly compression: Compression | null;
  readonly check: Check;
}

function checkedWhole(request: ByteRequest, { maxBytes, compression, check }: Reading): ByteRequest {
  async function* message(): AsyncIterable<Uint8Array> {
    const bytes = await readAllBytes(request.body, maxBytes, request.header.get("content-length"));
    const plain = compression === null ? bytes : await compression.decompress(bytes, maxBytes);
    check(plain);
    yield plain;
  }
  if (compression === null) return { ...request, body: message() };
  const header = new Headers(request.header);
  for (const ofCompressed of ["content-encoding", "content-length"]) header.delete(ofCompressed);
  return { ...request, header, body: message() };
}

function checkedEnvelopes(request: ByteRequest, { maxBytes, compression, check }: Reading): ByteRequest {
  async function* checked(envelopes: AsyncIterable<EnvelopedMessage>): AsyncIterable<EnvelopedMessage> {
    for await (const envelope of envelopes) {
      check(envelope.data);
      yield envelope;
    }
  }
  const opened = [transformSplitEnvelope(maxBytes), transformDecompressEnvelope(compression, maxBytes)] as const;
  return { ...request, body: pipe(request.body, ...opened, checked, transformJoinEnvelopes()) };
}

function refusing(check: Check): Check {
  return (message) => {
    try {
      check(message);
    } catch (error) {
      const why = `the request cannot be read: ${(error as Error).message}`;
      throw toConnectError(error instanceof RpcError ? error : new RpcError("INVALID_ARGUMENT", why));
    }
  };
}
