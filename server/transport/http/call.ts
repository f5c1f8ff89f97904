/** A call on the HTTP port: how its body with one message arrives, and how much memory it takes. */
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

/**
 * Time, in milliseconds, for which the client of a refused request may go on sending its body. If the connection were
 * closed at once, the client might not see the error.
 */
const lingerMs = 2000;

/** Bytes that a connection had read and written when its last request ended. */
const measured = new WeakMap<Wire, { readonly read: number; readonly written: number }>();

export class HttpCall extends Call {
  readonly account: Account;
  readonly #exchange: Exchange;
  readonly #wire: Wire;
  /** Bytes of the body that are in memory, compressed and decompressed, until the handler begins. */
  #receivedBytes = 0;
  #refused: RpcError | undefined;
  #begun = false;
  /** Stops reading the body. The function that reads it then rejects with this error. */
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

  get headers(): IncomingHttpHeaders {
    return this.#exchange.request.headers;
  }

  override get peer(): string {
    const { remoteAddress, remotePort } = socketOf(this.#wire) ?? {};
    return `${remoteAddress}:${remotePort}`;
  }

  override get bufferedBytes(): number {
    const { response } = this.#exchange;
    return this.#receivedBytes + (streamOf(response)?.writableLength ?? response.writableLength);
  }

  /**
   * Time, by performance.now(), since which an HTTP/2 request has been arriving. Undefined: it has arrived, or it came
   * over HTTP/1.1, where Node itself ends requests that are too slow.
   */
  override get receivingSinceMs(): number | undefined {
    const { request } = this.#exchange;
    return streamOf(request) === undefined || request.complete ? undefined : this.openedAtMs;
  }

  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    // If headers are sent before a handler began, Connect has refused the request because of its content type,
    // compression or timeout.
    return this.#exchange.response.headersSent && !this.#begun ? "INVALID_ARGUMENT" : "CANCELLED";
  }

  override refuse(error: RpcError): void {
    this.#refused = error;
    this.#receivedBytes = 0;
    this.#stopReading(error);
    this.abort(error);
    if (this.#exchange.response.headersSent) this.#exchange.response.destroy();
  }

  /**
   * Records why the call was refused before its handler began, and returns the reason. If a reason was already
   * recorded, that one is kept and returned.
   */
  refusedBy(error: RpcError): RpcError {
    return (this.#refused ??= error);
  }

  /** Marks the handler of this call as begun. */
  begin(deadlineMs: number | undefined): void {
    this.#begun = true;
    this.deadlineMs = deadlineMs;
    this.#receivedBytes = 0;
  }

  /**
   * Closes the call. Counts all bytes, headers included, that the connection sent and received since its previous
   * request ended. Over HTTP/2, where requests overlap, the count may include bytes of other requests.
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

  /** Reads the body, and returns its single message, decompressed. */
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
   * Passes the body to `add`, piece by piece. If reading must stop early, the connection stays open, so that the client
   * can read the error; Node's own iterator would destroy it. The rest of the body is read and dropped for up to
   * lingerMs.
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
      // A long body is read only in turns with other connections. Otherwise Node would read two megabytes of each
      // connection at once.
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

// The next functions read a request's message in place of Connect, which gets an empty message. So the server can limit
// the message before it is decoded. It also saves Connect's work, which is expensive, for callers who send a few bytes
// and leave.

interface BodyFormat {
  readonly json: boolean;
  /** Whether each message follows a header of five bytes, as in gRPC. */
  readonly framed: boolean;
  readonly encoding: Encoding | undefined;
  /**
   * The method's own maximum bytes of a message, for a body that is one message (`framed` is false). Left out: only the
   * option --max-message-bytes limits it.
   */
  readonly bytesMax?: number;
}

/**
 * Content types that the HTTP port reads, each with the header that names the body's compression. A body of the first
 * row is one message. In the other rows each message follows a header of five bytes.
 */
const formats = [
  { types: /^application\/(json|proto)\b/i, header: "content-encoding", framed: false },
  { types: /^application\/connect\+/i, header: "connect-content-encoding", framed: true },
  { types: /^application\/grpc\b/i, header: "grpc-encoding", framed: true },
] as const;

/** Compressions that the HTTP port can read. */
export const encodings = ["gzip", "br"] as const;

/**
 * Returns the format of a request's body. Undefined: the type or compression is unknown, and Connect refuses the
 * request.
 */
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

/** Stores the message of a request, for its handler. */
export type Keep = (message: Message) => void;

/** Returns the request that Connect gets, whose message is empty. Passes the real message to `keep`. */
type Fill = (request: ByteRequest, keep: Keep) => ByteRequest;

/**
 * Returns a function that reads and decodes a request's message in place of Connect. If the message is invalid, Connect
 * gets the error and sends it to the client.
 */
export function bodyReader(
  input: DescMessage,
  longJson: LongJson,
): (call: HttpCall, headers: IncomingHttpHeaders) => Promise<Fill> {
  const binary = decoderOf(input);
  const json = jsonDecoderOf(input);
  const decode = async (call: HttpCall, format: BodyFormat, bytes: Buffer): Promise<Message> => {
    const turn = () => call.activeTurn();
    if (!format.json) return binary(bytes, turn);
    if (bytes.length <= LONG_JSON_BYTES) return json(bytes);
    return binary(await longJson.read({ kind: "contract", type: input.typeName, bytes }, call.party), turn);
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
