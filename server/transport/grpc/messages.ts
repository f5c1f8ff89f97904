/** A call on the gRPC port, and what comes in for it: bytes, messages, and how much of either it keeps. */
import { constants } from "node:http2";
import type { Readable } from "node:stream";
import { Call, type Method } from "../call.ts";
import { toStatus } from "../errors.ts";
import { type CodeName, codes, RpcError } from "../rpc.ts";
import type { Connection } from "../turns.ts";
import { decompress, Deframer, type Encoding, endedWithin, headerBytes, notOneMessage } from "../wire/frames.ts";
import type { IncomingCall, MessageDecoder } from "./internals.ts";

/** Enough to keep a handler busy. */
const readAheadBytes = 1024 ** 2;

/**
 * A call that is refused while few answers are on their way is told why behind them, and has so long to read them: it is
 * busy, and not one that does not read. Without being told it would not know that it may come again.
 */
const lastAnswersBytes = 64 * 1024;
const lastAnswersMs = 5_000;

export class GrpcCall extends Call implements MessageDecoder {
  /** Of the bytes that were answered, those that HTTP/2 has not taken. */
  unsentBytes = 0;
  #unreadBytes = 0;
  readonly connection: Connection;
  readonly #incoming: IncomingCall;
  readonly #deframer: Deframer;
  /** A handler was given the call. */
  #begun = false;
  #messages = 0;
  /** Of whole messages, decompressed as far as they are. */
  #receivedBytes = 0;
  /** When the message that has begun did. */
  #partialSinceMs = 0;
  #refused: RpcError | undefined;

  constructor(method: Method, incoming: IncomingCall) {
    const deadline = Number(incoming.getDeadline());
    const requestId = incoming.metadata.get("x-request-id")[0]?.toString();
    super(method, requestId, deadline === Infinity ? undefined : deadline);
    this.#incoming = incoming;
    this.connection = method.turns(incoming.stream.session ?? this);
    const isEncoded = incoming.incomingEncoding !== "identity";
    this.#deframer = new Deframer(method.maxMessageBytes, isEncoded);
    incoming.stream.once("close", () => this.close());
    // Before grpc-js's own listener, which speaks of streams in the errors of calls that are none.
    if (!this.method.streamsRequests) incoming.stream.prependOnceListener("end", () => this.#checkOneMessage());
    if (isEncoded) this.#decompressInTurn(incoming.incomingEncoding as Encoding);
  }

  /** A handler begins. `cancelled` is grpc-js's event at the end of every call, once all is sent. */
  begin(incoming: { once(event: "cancelled", listener: () => void): unknown }): void {
    this.#begun = true;
    incoming.once("cancelled", () => this.close());
    // It has said so already, to nobody, where the deadline passed before the request was whole.
    if (this.late) process.nextTick(() => this.close());
  }

  /** The one answer was written. It is read once the call is closed. */
  answered({ byteLength }: Buffer): void {
    if (this.closed) return;
    this.#unreadBytes = byteLength;
    this.connection.wrote(byteLength);
  }

  override close(): void {
    super.close();
    if (this.#unreadBytes > 0) this.connection.wrote(-this.#unreadBytes);
    this.#unreadBytes = 0;
  }

  override get peer(): string {
    return this.#incoming.getPeer();
  }

  override get bufferedBytes(): number {
    // What else comes of such a call is dropped.
    if (this.#refused !== undefined) return 0;
    const { readableLength, writableLength } = this.#incoming.stream;
    // What HTTP/2 was given and has not sent is counted by those who stream answers too.
    const unsentBytes = Math.max(writableLength, this.unsentBytes);
    return this.#deframer.partialBytes + this.#waitingBytes + readableLength + unsentBytes;
  }

  override get receivingSinceMs(): number | undefined {
    if (this.#refused !== undefined) return undefined;
    if (!this.method.streamsRequests) return this.#begun ? undefined : this.openedAtMs;
    // One that is not read because its handler is busy waits for us.
    const waitsForUs = this.#deframer.partialBytes === 0 || this.#incoming.stream.isPaused();
    return waitsForUs ? undefined : this.#partialSinceMs;
  }

  /** Of messages that no handler has taken. */
  get #waitingBytes(): number {
    return Math.max(0, this.#receivedBytes - this.bytesIn);
  }

  /** How the call ended, if not by our handler. */
  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    const { sentTrailers, sentHeaders } = this.#incoming.stream;
    const status = Number(sentTrailers?.["grpc-status"] ?? sentHeaders?.["grpc-status"]);
    return (Object.keys(codes) as CodeName[]).find((name) => codes[name] === status) ?? "CANCELLED";
  }

  override refuse(error: RpcError): void {
    const { stream } = this.#incoming;
    // Node never ends a stream that is ended while it writes: the handler, which knows when it has, sends the status.
    if (this.#begun && stream.writableLength > 0) this.#drop(error);
    else this.#end(error);
    // A caller that reads no answers cannot be told why. Clients call such a reset RESOURCE_EXHAUSTED too.
    const reset = (): void => {
      if (stream.writableLength > 0) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    if (stream.writableLength > lastAnswersBytes) reset();
    else setTimeout(reset, lastAnswersMs).unref();
  }

  #drop(error: RpcError): void {
    this.#refused = error;
    this.#deframer.drop();
    this.abort(error);
  }

  #end(error: RpcError): void {
    this.#drop(error);
    this.#incoming.sendStatus(toStatus(error));
    if (!this.#begun) this.close();
  }

  write(data: Buffer): Buffer[] {
    if (this.#refused !== undefined) return [];
    try {
      const messages = this.#deframer.write(data);
      for (const { length } of messages) this.#receivedBytes += length - headerBytes;
      this.#messages += messages.length;
      if (this.#deframer.partialBytes === 0) this.#partialSinceMs = 0;
      else if (messages.length > 0 || this.#partialSinceMs === 0) this.#partialSinceMs = performance.now();
      if (this.#messages <= 1 || this.method.streamsRequests) return messages;
      this.#end(notOneMessage(this.method.path, "more than one came"));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.#end(error);
    }
    return [];
  }

  /** Asked once the caller has ended its requests; grpc-js passes over what came of a last message. */
  checkEnd(): void {
    const { partialBytes } = this.#deframer;
    if (partialBytes > 0) throw endedWithin(partialBytes);
  }

  #checkOneMessage(): void {
    // A stream that its caller broke off ends too.
    if (this.#messages > 0 || this.#refused !== undefined || this.#incoming.stream.aborted) return;
    const { partialBytes } = this.#deframer;
    this.#end(partialBytes > 0 ? endedWithin(partialBytes) : notOneMessage(this.method.path, "none came"));
  }

  /**
   * Makes grpc-js read no further ahead on a stream of requests than some bytes, where it reads 16 messages, of which
   * each may have megabytes. The function that it returns is to be called when a message was taken.
   */
  limitReadAhead(requests: Readable): () => void {
    const incoming = this.#incoming;
    const startRead = incoming.startRead.bind(incoming);
    const start = (): void => {
      // Time that the call was not read does not count against its caller.
      if (this.#partialSinceMs > 0) this.#partialSinceMs = performance.now();
      startRead();
    };
    let waits = false;
    incoming.startRead = () => {
      waits = requests.readableLength > 0 && this.#waitingBytes > readAheadBytes;
      if (!waits) start();
    };
    return () => {
      if (!waits) return;
      waits = false;
      start();
    };
  }

  /** Each message ends at the limit, and one is decompressed at a time: a few kilobytes can become gigabytes. */
  #decompressInTurn(encoding: Encoding): void {
    let before: Promise<unknown> = Promise.resolve();
    this.#incoming.decompressMessage = (message) => {
      const contents = message.subarray(headerBytes);
      if (message.readUInt8(0) === 0) return contents;
      const turn = before.then(() => this.#decompress(contents, encoding));
      before = turn.catch(() => undefined);
      return turn;
    };
  }

  async #decompress(contents: Buffer, encoding: Encoding): Promise<Buffer> {
    const { maxMessageBytes } = this.method;
    const onPiece = (bytes: number): void => {
      if (this.#refused !== undefined || this.#incoming.stream.closed) throw new CallIsOver();
      this.#receivedBytes += bytes;
    };
    try {
      onPiece(0);
      const bytes = await decompress(contents, encoding, { maxBytes: maxMessageBytes, onPiece });
      this.#receivedBytes -= contents.length;
      return bytes;
    } catch (error) {
      if (error instanceof RpcError) this.#end(error);
      throw error;
    }
  }
}

/** Whoever waits for its message has been answered. */
class CallIsOver extends Error {}
