/**
 * A call on the gRPC port, and its incoming side: headers, bytes, messages, and how much of them the call keeps in
 * memory.
 */
import type { Metadata, ServerInterceptingCall, ServerInterceptor } from "@grpc/grpc-js";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Readable } from "node:stream";
import { type Account, nobody } from "../admission.ts";
import { Call, type Method, recordRefused, type TransportContext } from "../call-context.ts";
import { toStatus } from "../errors.ts";
import { type CodeName, codes, RpcError } from "../../base/rpc.ts";
import { decompressInTurn } from "../decompress.ts";
import type { ResetBudgets } from "../reset-budgets.ts";
import type { Connection } from "../connection-turns.ts";
import { Deframer, type Encoding, endedWithin, headerBytes, notOneMessage } from "../wire/frames.ts";
import type { IncomingCall, MessageDecoder, StreamListener } from "./internals.ts";

/** Methods by their paths, with the leading slash. */
type Methods = ReadonlyMap<string, Method>;

/**
 * Checks each request's headers before grpc-js makes a call of it and begins to keep its data. The check and the call
 * take turns, and a stream that was reset by then gets no call.
 */
export function screened(serve: StreamListener, context: TransportContext, methods: Methods): StreamListener {
  return (stream, headers) => {
    // The close event is enough, whatever error breaks the stream.
    stream.once("error", () => undefined);
    const leave = context.turns(stream.session ?? stream).begin(() => {
      if (stream.closed || stream.destroyed) return;
      const passed = screen(stream, headers, context, methods);
      if (passed === undefined) return;
      serve(stream, passed);
      // A stream without a message may have ended while it waited, when nobody listened for the end.
      if (stream.readableEnded) stream.emit("end");
    });
    stream.once("close", leave);
    countReset(stream, context.resets);
  };
}

/** Counts a stream that its caller resets, and ends the session when the budget of the caller's address is spent. */
export function countReset(stream: ServerHttp2Stream, resets: ResetBudgets): void {
  const { session } = stream;
  // Reading the socket of a destroyed session throws.
  if (session === undefined || session.destroyed) return;
  const { remoteAddress = "" } = session.socket;
  stream.once("close", () => {
    if ((stream.aborted || stream.rstCode !== 0) && !resets.spend(remoteAddress)) session.destroy();
  });
}

/** Health checks need no token and no allowed host: a load balancer calls by address and has no token. */
const openToAll = "/grpc.health.v1.Health/";

/** Accounts of the streams that were admitted with a token. */
const accountOf = new WeakMap<ServerHttp2Stream, Account>();
const withoutToken = nobody();
/** Stands for a method that does not exist; every role may learn that it does not. */
const unknownMethod = { path: "an unknown method", role: "viewer" } as const;

/**
 * Answers a request that is refused by its headers, and returns undefined; else returns the headers to continue with.
 */
function screen(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  context: TransportContext,
  methods: Methods,
): IncomingHttpHeaders | undefined {
  const path = String(headers[":path"]);
  const { ":authority": host = headers.host, origin, authorization } = headers;
  const method = methods.get(path);
  const admitted = path.startsWith(openToAll)
    ? withoutToken
    : context.admission.admit({ host, origin, authorization }, method ?? unknownMethod);
  const refused = admitted instanceof RpcError ? admitted : undefined;
  if (!(admitted instanceof RpcError) && admitted.token !== undefined) accountOf.set(stream, admitted);
  const timeout = refused === undefined ? readTimeout(headers["grpc-timeout"]) : undefined;
  const error = refused ?? (timeout instanceof RpcError ? timeout : unreadable(headers["grpc-encoding"]));
  if (error === undefined) return typeof timeout === "string" ? { ...headers, "grpc-timeout": timeout } : headers;
  const { code, details, metadata } = toStatus(error);
  const status = { "grpc-status": code, "grpc-message": encodeURI(details), ...metadata.toHttp2Headers() };
  const answer = { ":status": 200, "content-type": "application/grpc+proto", ...status };
  // Nothing reads the stream, so Node resets the stream and drops its data.
  if (!stream.destroyed) stream.respond(answer, { endStream: true });
  if (method !== undefined) recordRefused(method, headers["x-request-id"]?.toString(), error);
  return undefined;
}

const timeoutUnitsMs = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 } as const;
/** Node's timers take no longer delay: a longer one would fire at once. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Returns the timeout in the form that grpc-js accepts; undefined: the header can stay. The check is strict, because
 * grpc-js accepts anything that begins like a timeout.
 */
function readTimeout(header: string | readonly string[] | undefined): string | RpcError | undefined {
  if (header === undefined) return undefined;
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  if (digits === undefined || unit === undefined) {
    const why = `grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n; got '${String(header)}'`;
    return new RpcError("INVALID_ARGUMENT", why);
  }
  const ms = Number(digits) * timeoutUnitsMs[unit as keyof typeof timeoutUnitsMs];
  if (ms === 0) return new RpcError("DEADLINE_EXCEEDED", "the deadline had passed when the request came");
  return ms > timeoutMsMax ? `${Math.floor(timeoutMsMax / 1000)}S` : undefined;
}

const encodings: ReadonlySet<string> = new Set(["identity", "gzip", "deflate"]);

function unreadable(encoding: string | readonly string[] | undefined): RpcError | undefined {
  if (encoding === undefined || encodings.has(String(encoding))) return undefined;
  const why = `the request's messages are compressed with '${String(encoding)}', and this server reads gzip and deflate`;
  return new RpcError("UNIMPLEMENTED", why);
}

/** Opens one GrpcCall for each call that grpc-js makes. */
export function openCalls(methods: Methods): ServerInterceptor {
  return ({ path }, given) => {
    const method = methods.get(path);
    if (method === undefined) throw new Error(`${path} is served, but its limits are not known`);
    const incoming = given as IncomingCall;
    const call = new GrpcCall(method, incoming);
    incoming.decoder = call;
    incoming.metadata.setOpaque(callKey, call);
    // The type demands the class that wraps such calls, but grpc-js itself returns the call that it got.
    return given as ServerInterceptingCall;
  };
}

const callKey = "gradus.call";

/**
 * Call object that grpc-js gives to handlers. `grpc-js` emits `cancelled` at the end of every call, once everything is
 * sent.
 */
interface Surface {
  readonly metadata: Metadata;
  once(event: "cancelled", listener: () => void): unknown;
}

/** Returns the GrpcCall of the call object that a handler gets. */
export function callOf({ metadata }: Pick<Surface, "metadata">): GrpcCall {
  return metadata.getOpaque(callKey) as GrpcCall;
}

/** Returns the GrpcCall and marks its handler as begun. */
export function begin(surface: Surface): GrpcCall {
  const call = callOf(surface);
  call.begin(surface);
  return call;
}

// Data that follows the headers.

/** Maximum size, in bytes, of requests that are read before a handler takes them. Enough to keep a handler busy. */
const readAheadBytes = 1024 ** 2;

/**
 * A refused call with few unread answers gets its error after them, and has this long to read them: its caller is busy,
 * and does read. Without the error the caller would not know that a retry is allowed.
 */
const lastAnswersBytes = 64 * 1024;
const lastAnswersMs = 5_000;

export class GrpcCall extends Call implements MessageDecoder {
  /** Bytes of answers that HTTP/2 has not taken yet. */
  unsentBytes = 0;
  #unreadBytes = 0;
  readonly connection: Connection;
  readonly account: Account;
  readonly #incoming: IncomingCall;
  readonly #deframer: Deframer;
  /** Whether a handler has the call. */
  #begun = false;
  #messages = 0;
  /** Bytes of complete messages, decompressed as far as they are. */
  #receivedBytes = 0;
  /** Time at which the incomplete message began to arrive. */
  #partialSinceMs = 0;
  #refused: RpcError | undefined;

  constructor(method: Method, incoming: IncomingCall) {
    const deadline = Number(incoming.getDeadline());
    const requestId = incoming.metadata.get("x-request-id")[0]?.toString();
    super(method, requestId, deadline === Infinity ? undefined : deadline);
    this.#incoming = incoming;
    this.account = accountOf.get(incoming.stream) ?? withoutToken;
    this.connection = method.turns(incoming.stream.session ?? this);
    const { traces } = method;
    if (traces !== undefined) this.trace(traces, (name) => incoming.metadata.get(name)[0]?.toString());
    const isEncoded = incoming.incomingEncoding !== "identity";
    this.#deframer = new Deframer(method.maxMessageBytes, isEncoded);
    incoming.stream.once("close", () => this.close());
    // Runs before grpc-js's own listener, whose errors speak of streams even for unary calls.
    if (!this.method.streamsRequests) incoming.stream.prependOnceListener("end", () => this.#checkOneMessage());
    if (isEncoded) this.#decompressInTurn(incoming.incomingEncoding as Encoding);
  }

  /** Marks the handler as begun. */
  begin(incoming: Surface): void {
    this.#begun = true;
    incoming.once("cancelled", () => this.close());
    // If the deadline passed before the request was complete, grpc-js has emitted `cancelled` already, when nobody
    // listened.
    if (this.late) process.nextTick(() => this.close());
  }

  /** Counts the one answer as unread. The caller has read the answer when the call is closed. */
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
    // Further data of a refused call is dropped.
    if (this.#refused !== undefined) return 0;
    const { readableLength, writableLength } = this.#incoming.stream;
    // Handlers of answer streams count the bytes that HTTP/2 has and has not sent, so the larger of the two counts is
    // used.
    const unsentBytes = Math.max(writableLength, this.unsentBytes);
    return this.#deframer.partialBytes + this.#waitingBytes + readableLength + unsentBytes;
  }

  override get receivingSinceMs(): number | undefined {
    if (this.#refused !== undefined) return undefined;
    if (!this.method.streamsRequests) return this.#begun ? undefined : this.openedAtMs;
    // If the handler is busy, the stream is paused and the message waits for us.
    const waitsForUs = this.#deframer.partialBytes === 0 || this.#incoming.stream.isPaused();
    return waitsForUs ? undefined : this.#partialSinceMs;
  }

  /** Bytes of messages that no handler has taken. */
  get #waitingBytes(): number {
    return Math.max(0, this.#receivedBytes - this.bytesIn);
  }

  /** Status of a call that its handler did not end. */
  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    const { sentTrailers, sentHeaders } = this.#incoming.stream;
    const status = Number(sentTrailers?.["grpc-status"] ?? sentHeaders?.["grpc-status"]);
    return (Object.keys(codes) as CodeName[]).find((name) => codes[name] === status) ?? "CANCELLED";
  }

  override refuse(error: RpcError): void {
    const { stream } = this.#incoming;
    this.#end(error);
    // A caller that reads no answers cannot get the reason, so the stream is reset. Clients report such a reset as
    // RESOURCE_EXHAUSTED too.
    const reset = (): void => {
      if (stream.writableLength > 0) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    };
    if (stream.writableLength > lastAnswersBytes) reset();
    else setTimeout(reset, lastAnswersMs).unref();
  }

  #end(error: RpcError): void {
    this.#refused = error;
    this.#deframer.drop();
    this.abort(error);
    // Node never ends a stream that is ended during a write. So the handler, which knows when the write is done, sends
    // the status.
    if (this.#begun && this.#incoming.stream.writableLength > 0) return;
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

  /**
   * Throws if the request ended within a message; call this when the caller has ended its requests. `grpc-js` ignores an
   * incomplete last message.
   */
  checkEnd(): void {
    const { partialBytes } = this.#deframer;
    if (partialBytes > 0) throw endedWithin(partialBytes);
  }

  #checkOneMessage(): void {
    // A stream that its caller reset ends too.
    if (this.#messages > 0 || this.#refused !== undefined || this.#incoming.stream.aborted) return;
    const { partialBytes } = this.#deframer;
    this.#end(partialBytes > 0 ? endedWithin(partialBytes) : notOneMessage(this.method.path, "none came"));
  }

  /**
   * Limits how far grpc-js reads ahead on a stream of requests to some bytes. Without this, grpc-js reads 16 messages
   * ahead, and each may have megabytes. Returns a function to call whenever a message was taken.
   */
  limitReadAhead(requests: Readable): () => void {
    const incoming = this.#incoming;
    const startRead = incoming.startRead.bind(incoming);
    const start = (): void => {
      // The time during which the call was not read does not count against its caller.
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

  /** Decompresses messages one at a time, each up to the size limit: a few kilobytes can become gigabytes. */
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
      const bytes = await decompressInTurn(this.party, contents, encoding, { maxBytes: maxMessageBytes, onPiece });
      this.#receivedBytes -= contents.length;
      return bytes;
    } catch (error) {
      if (error instanceof RpcError) this.#end(error);
      throw error;
    }
  }
}

/** Ends the decompression of a call that is over; its caller has its answer already. */
class CallIsOver extends Error {}
