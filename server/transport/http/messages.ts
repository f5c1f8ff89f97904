/**
 * Looks at the messages of requests before Connect makes objects of them. It has no way in for that, so what it does to
 * get at their bytes is done before it, by its own functions: compression is undone, and envelopes are opened.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import {
  pipe,
  readAllBytes,
  transformDecompressEnvelope,
  transformJoinEnvelopes,
  transformSplitEnvelope,
} from "@connectrpc/connect/protocol";
import type { Compression, EnvelopedMessage, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { RpcError } from "../../rpc/rpc-error.ts";
import { checkParts } from "../../wire/check-parts.ts";
import { jsonCheck } from "./check-json.ts";
import { toConnectError } from "./connect-error.ts";

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
