/**
 * A call on the HTTP port, and its incoming side: a body with one message, and how much of the body is kept in memory.
 */
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Account } from "../admission.ts";
import { Call, type Method } from "../call-context.ts";
import { toConnectError } from "../errors.ts";
import { type CodeName, RpcError } from "../../base/rpc.ts";
import { nextTurn } from "../../base/time-slices.ts";
import { decompressInTurn } from "../decompress.ts";
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
import { jsonDecoderOf } from "./json-codec.ts";
import { LONG_JSON_BYTES, type LongJson } from "./long-json.ts";
import { socketOf, streamOf, type Wire, wireOf } from "./versions.ts";

/** One HTTP request with its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Time that a refused request may go on, so that its sender gets to read the error. */
const lingerMs = 2000;

/** Bytes that a connection had read and written when its last exchange ended. */
const measured = new WeakMap<Wire, { readonly read: number; readonly written: number }>();

export class HttpCall extends Call {
  readonly account: Account;
  readonly #exchange: Exchange;
  readonly #wire: Wire;
  /** Bytes of the body and of its decompressed data, until a handler has them. */
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

  /** Only HTTP/2 requests are timed here: Node's own server ends HTTP/1.1 requests that are too slow. */
  override get receivingSinceMs(): number | undefined {
    const { request } = this.#exchange;
    return streamOf(request) === undefined || request.complete ? undefined : this.openedAtMs;
  }

  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    // If headers are sent, Connect has refused the request for its content type, its compression or its timeout.
    return this.#exchange.response.headersSent ? "INVALID_ARGUMENT" : "CANCELLED";
  }

  override refuse(error: RpcError): void {
    this.#refused = error;
    this.#receivedBytes = 0;
    this.#stopReading(error);
    this.abort(error);
    if (this.#exchange.response.headersSent) this.#exchange.response.destroy();
  }

  /** Keeps the reason why the call is refused before a handler gets it. */
  refusedBy(error: RpcError): RpcError {
    return (this.#refused ??= error);
  }

  /** Marks the handler as begun. */
  begin(deadlineMs: number | undefined): void {
    this.deadlineMs = deadlineMs;
    this.#receivedBytes = 0;
  }

  /**
   * Counts the bytes on the wire at the end, headers included: HTTP/1.1 has one exchange at a time on a connection.
   * With HTTP/2, each exchange counts the bytes that its session has moved since the exchange before ended.
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

  /** Reads the body, and returns its one message, decompressed. */
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
   * Reads the body without destroying the connection when reading stops, as Node's own iterator does: a client that is
   * still sending would never see the answer. The rest of the body is read and dropped for a while.
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
      // Node would read two megabytes of each connection in a round of the event loop.
      const waitForTurn = (): void => {
        request.pause();
        void nextTurn().then(() => request.resume());
      };
      const take = (piece: Buffer): void => {
        try {
          add(piece);
          this.#receivedBytes += piece.length;
          if (this.#receivedBytes > LONG_JSON_BYTES) waitForTurn();
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

// Reads a request's message before Connect sees the request, and gives Connect an empty message in its place. Connect
// itself offers no way to look at a body first, nor to limit the message that it makes of one. The message is read
// first of all: the work that Connect begins for a request costs ten times the reading of a few bytes. Callers who send
// only a few bytes and leave must not cause that work.

interface BodyFormat {
  readonly json: boolean;
  /** Whether messages have gRPC's header before them. */
  readonly framed: boolean;
  readonly encoding: Encoding | undefined;
  /** The method's own limit on a body without frames; undefined: only --max-message-bytes applies. */
  readonly bytesMax?: number;
}

/**
 * Content types, each with the header that names the compression. Bodies of the first are one message; bodies of the
 * others are frames.
 */
const formats = [
  { types: /^application\/(json|proto)\b/i, header: "content-encoding", framed: false },
  { types: /^application\/connect\+/i, header: "connect-content-encoding", framed: true },
  { types: /^application\/grpc\b/i, header: "grpc-encoding", framed: true },
] as const;

/** Compressions that the HTTP port reads. */
export const encodings = ["gzip", "br"] as const;

/** Returns undefined for other types and compressions, which Connect refuses. */
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

/** Stores the message of a request. */
export type Keep = (message: Message) => void;

/** Returns the request that Connect gets, with an empty message in place of the body. */
type Fill = (request: ByteRequest, keep: Keep) => ByteRequest;

/**
 * Returns the function that reads the message of a method's request in place of Connect. Errors of the message reach
 * the caller through Connect.
 */
export function bodyReader(
  input: DescMessage,
  longJson: LongJson,
): (call: HttpCall, headers: IncomingHttpHeaders) => Promise<Fill> {
  const binary = decoderOf(input);
  const json = jsonDecoderOf(input);
  const decode = async (call: HttpCall, format: BodyFormat, bytes: Buffer): Promise<Message> => {
    if (!format.json) return binary(bytes);
    if (bytes.length <= LONG_JSON_BYTES) return json(bytes);
    return binary(await longJson.read({ kind: "contract", type: input.typeName, bytes }, call.party));
  };
  return async (call, headers) => {
    const format = formatOf(headers);
    if (format === undefined) return (request) => request;
    const read = call.readMessage(format).then((bytes) => decode(call, format, bytes));
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
      for (const ofBody of ["content-encoding", "content-length"]) request.header.delete(ofBody);
      return { ...request, body: body(keep) };
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
