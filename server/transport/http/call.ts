/** A call on the HTTP port, and what comes in for it: a body with one message, and how much of it is kept. */
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Account } from "../admission.ts";
import { Call, type Method } from "../call-context.ts";
import { toConnectError } from "../errors.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { decompressInTurn } from "../decompressing.ts";
import type { Connection } from "../connection-turns.ts";
import {
  ByteGatherer,
  Deframer,
  type Encoding,
  endedWithin,
  headerBytes,
  notOneMessage,
  tooLong,
} from "../wire/frames.ts";
import { decoderOf } from "../wire/codec.ts";
import { jsonDecoderOf } from "./json.ts";
import { socketOf, streamOf, type Wire, wireOf } from "./versions.ts";

/** One HTTP request with its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** How long a request that was refused early may go on, so that its sender gets to read why. */
const lingerMs = 2000;

/** What a connection has read and written in the exchanges before. */
const measured = new WeakMap<Wire, { readonly read: number; readonly written: number }>();

export class HttpCall extends Call {
  readonly account: Account;
  readonly #exchange: Exchange;
  readonly #wire: Wire;
  /** Of the body and, where it is compressed, of what has been made of it, until a handler has it. */
  #receivedBytes = 0;
  #refused: RpcError | undefined;
  /** Ends the reading of the body. */
  #stopReading: (error: RpcError) => void = () => undefined;

  constructor(method: Method, exchange: Exchange, account: Account) {
    const requestId = exchange.request.headers["x-request-id"];
    super(method, Array.isArray(requestId) ? requestId[0] : requestId, undefined);
    this.account = account;
    this.#exchange = exchange;
    this.#wire = wireOf(exchange.request);
    exchange.response.once("close", () => this.#measureAndClose());
  }

  override get connection(): Connection {
    return this.method.turns(this.#wire);
  }

  override get peer(): string {
    const { remoteAddress, remotePort } = socketOf(this.#wire) ?? {};
    return `${remoteAddress}:${remotePort}`;
  }

  override get bufferedBytes(): number {
    const { response } = this.#exchange;
    return this.#receivedBytes + (streamOf(response)?.writableLength ?? response.writableLength);
  }

  /** Node's own server ends requests of HTTP/1.1 that do not come whole in time. */
  override get receivingSinceMs(): number | undefined {
    const { request } = this.#exchange;
    return streamOf(request) === undefined || request.complete ? undefined : this.openedAtMs;
  }

  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    // Connect has refused it, for its content type, its compression or its time-out.
    return this.#exchange.response.headersSent ? "INVALID_ARGUMENT" : "CANCELLED";
  }

  override refuse(error: RpcError): void {
    this.#refused = error;
    this.#receivedBytes = 0;
    this.#stopReading(error);
    this.abort(error);
    if (this.#exchange.response.headersSent) this.#exchange.response.destroy();
  }

  /** Notes why the call is refused before a handler is given it. */
  refusedBy(error: RpcError): RpcError {
    return (this.#refused ??= error);
  }

  /** A handler begins. */
  begin(deadlineMs: number | undefined): void {
    this.deadlineMs = deadlineMs;
    this.#receivedBytes = 0;
  }

  /**
   * How much went over the wire, headers included, is known at the end, for HTTP/1.1 has one exchange at a time on a
   * connection. Of HTTP/2 each exchange counts what its session has moved since the one before ended.
   */
  #measureAndClose(): void {
    const before = measured.get(this.#wire) ?? { read: 0, written: 0 };
    const { bytesRead: read, bytesWritten: written } = socketOf(this.#wire) ?? {
      bytesRead: before.read,
      bytesWritten: before.written,
    };
    measured.set(this.#wire, { read, written });
    this.bytesIn = read - before.read;
    this.bytesOut = written - before.written;
    this.close();
  }

  /** Reads the body, and gives its one message without compression. */
  async readMessage({ framed, encoding, bytesMax = Infinity }: BodyFormat): Promise<Buffer> {
    const { maxMessageBytes, path } = this.method;
    if (!framed) {
      const body = new ByteGatherer();
      const expected = Number(this.#exchange.request.headers["content-length"] ?? Infinity);
      const check = (has: string, bytes: number): void => {
        if (bytes > maxMessageBytes) throw tooLong(`${has}${bytes} bytes`, maxMessageBytes);
        if (bytes > bytesMax) throw tooLong(`${has}${bytes} bytes`, bytesMax, `that ${path} takes`);
      };
      if (expected !== Infinity) check("", expected);
      await this.#readBody((piece) => {
        check("at least ", body.length + piece.length);
        body.add(piece, expected);
      });
      return encoding === undefined ? body.bytes() : this.#decompress(body.bytes(), encoding);
    }
    const deframer = new Deframer(maxMessageBytes, encoding !== undefined);
    const messages: Buffer[] = [];
    await this.#readBody((piece) => {
      messages.push(...deframer.write(piece));
      if (messages.length > 1) throw notOneMessage(path, "more than one came");
    });
    if (deframer.partialBytes > 0) throw endedWithin(deframer.partialBytes);
    const [message] = messages;
    if (message === undefined) throw notOneMessage(path, "none came");
    const contents = message.subarray(headerBytes);
    return message[0] === 0 || encoding === undefined ? contents : this.#decompress(contents, encoding);
  }

  /**
   * To stop reading does not destroy the connection, as it does with Node's own iterator: a client that is still sending
   * would never see the answer. What is left of the body is read and dropped for a while.
   */
  async #readBody(add: (piece: Buffer) => void): Promise<void> {
    const { request, response } = this.#exchange;
    response.once("finish", () => {
      if (request.complete) return;
      request.resume();
      const timer = setTimeout(() => request.destroy(), lingerMs);
      request.once("close", () => clearTimeout(timer));
    });
    await new Promise<void>((resolve, reject) => {
      const stop = (error: Error): void => {
        request.off("data", take);
        reject(error);
      };
      const take = (piece: Buffer): void => {
        try {
          add(piece);
          this.#receivedBytes += piece.length;
        } catch (error) {
          stop(error as Error);
        }
      };
      this.#stopReading = stop;
      request.once("end", resolve);
      request.once("error", reject);
      request.once("close", () => reject(new RpcError("CANCELLED", "the request was broken off")));
      request.on("data", take);
    });
  }

  async #decompress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
    const onPiece = (length: number): void => {
      if (this.#refused !== undefined) throw this.#refused;
      this.#receivedBytes += length;
    };
    const plain = await decompressInTurn(this.party, bytes, encoding, {
      maxBytes: this.method.maxMessageBytes,
      onPiece,
    });
    this.#receivedBytes -= bytes.length;
    return plain;
  }
}

// Connect makes messages of bodies, and has no way in to look at them before, nor to bound what it makes of them. So
// each message is read before Connect sees its request, and what Connect is given holds an empty one. It is read first of
// all: what Connect begins for a request, and ends with errors where its caller leaves, costs ten times the reading of a
// few bytes, and callers who send no more than these must not have it.

interface BodyFormat {
  readonly json: boolean;
  /** Whether messages have gRPC's header before them. */
  readonly framed: boolean;
  readonly encoding: Encoding | undefined;
  /** Limit of the method's own on a body without frames; undefined: --max-message-bytes alone. */
  readonly bytesMax?: number;
}

/** Content types with the header that names the compression. Bodies of the first are a message, of the others frames. */
const formats = [
  { types: /^application\/(json|proto)\b/i, header: "content-encoding", framed: false },
  { types: /^application\/connect\+/i, header: "connect-content-encoding", framed: true },
  { types: /^application\/grpc\b/i, header: "grpc-encoding", framed: true },
] as const;

/** What the HTTP port can read of a request's compression. */
export const encodings = ["gzip", "br"] as const;

/** Undefined: Connect refuses requests of other types, and of other compressions. */
function formatOf(headers: IncomingHttpHeaders): BodyFormat | undefined {
  const type = headers["content-type"] ?? "";
  const format = formats.find(({ types }) => types.test(type));
  if (format === undefined) return undefined;
  const named = headers[format.header] ?? "identity";
  const encoding = encodings.find((name) => name === named);
  if (encoding === undefined && named !== "identity") return undefined;
  return { json: /json/i.test(type), framed: format.framed, encoding };
}

export type ByteRequest = UniversalServerRequest & { readonly body: AsyncIterable<Uint8Array> };

/** Keeps the message of a request. */
export type Keep = (message: Message) => void;

/** Puts what was read into the request that Connect is given. */
type Fill = (request: ByteRequest, keep: Keep) => ByteRequest;

/** What reads the message of a method's request in place of Connect. What is wrong with it is told through Connect. */
export function bodyReader(input: DescMessage): (call: HttpCall, headers: IncomingHttpHeaders) => Promise<Fill> {
  const binary = decoderOf(input);
  const json = jsonDecoderOf(input);
  return async (call, headers) => {
    const format = formatOf(headers);
    if (format === undefined) return (request) => request;
    const decode = format.json ? json : binary;
    const read = call.readMessage(format).then(decode);
    await read.catch(() => undefined);
    async function* body(keep: Keep): AsyncIterable<Uint8Array> {
      try {
        keep(await read);
      } catch (error) {
        throw error instanceof RpcError ? toConnectError(call.refusedBy(error)) : error;
      }
      yield emptyMessage(format as BodyFormat);
    }
    return (request, keep) => {
      const header = new Headers(request.header);
      for (const ofBody of ["content-encoding", "content-length"]) header.delete(ofBody);
      return { ...request, header, body: body(keep) };
    };
  };
}

function emptyMessage({ json, framed }: BodyFormat): Uint8Array {
  const message = Buffer.from(json ? "{}" : "");
  if (!framed) return message;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}
