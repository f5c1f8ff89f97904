/** A call on the gRPC port: how its headers, bytes and messages arrive, and how much memory they take. */
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

/** Methods by path, with the leading slash. */
type Methods = ReadonlyMap<string, Method>;

/**
 * Returns a listener for new streams that checks a request's headers (token, timeout, compression) and only then passes
 * the stream to grpc-js's own listener, `serve`. Streams wait until their connection has its turn. A stream that is
 * reset meanwhile is dropped.
 */
export function screened(serve: StreamListener, context: TransportContext, methods: Methods): StreamListener {
  return (stream, headers) => {
    // An error of the stream needs no handling, because a `close` event follows it.
    stream.once("error", () => undefined);
    const leave = context.turns(stream.session ?? stream).begin(() => {
      if (stream.closed || stream.destroyed) return;
      const passed = screen(stream, headers, context, methods);
      if (passed === undefined) return;
      serve(stream, passed);
      // If the stream ended while it waited for its turn, nobody listened to its `end` event, so the event is emitted
      // again.
      if (stream.readableEnded) stream.emit("end");
    });
    countReset(stream, context.resets);
    stream.once("close", () => {
      leave();
      forgetListeners(stream);
    });
  };
}

const ignore = (): void => undefined;

/**
 * Removes the listeners of a closed stream, and with them what they refer to: the whole call. Node keeps its streams in
 * a Map, and each time that V8 enlarges a Map's table, the old table keeps its streams alive until the next garbage
 * collection of old objects. Such a collection stops all calls for 20 ms if half of the last 10,000 calls are alive.
 */
function forgetListeners(stream: ServerHttp2Stream): void {
  // The listeners that wait for this `close` are still called.
  stream.removeAllListeners();
  stream.on("error", ignore);
}

/** Counts a stream that its caller reset. Closes the connection if the caller's address has reset too many. */
export function countReset(stream: ServerHttp2Stream, resets: ResetBudgets): void {
  const { session } = stream;
  // Reading the socket of a destroyed session would throw.
  if (session === undefined || session.destroyed) return;
  const { remoteAddress = "" } = session.socket;
  stream.once("close", () => {
    if ((stream.aborted || stream.rstCode !== 0) && !resets.spend(remoteAddress)) session.destroy();
  });
}

/**
 * Path prefix of health checks. They are served without a token and under any host name, because load balancers have no
 * token.
 */
const openToAll = "/grpc.health.v1.Health/";

/** Account of the token with which each stream was admitted. Streams without a token have no entry. */
const accountOf = new WeakMap<ServerHttp2Stream, Account>();
const withoutToken = nobody();
/** Method that stands for unknown paths. Every role may learn that a path is unknown. */
const unknownMethod = { path: "an unknown method", role: "viewer" } as const;

/**
 * Checks a request's token, timeout and compression. Returns the headers to pass to grpc-js, with a timeout that it
 * accepts. Undefined: the request was refused, and the error is sent.
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
  // Nothing reads the stream any more, so Node resets it and drops its data.
  if (!stream.destroyed) stream.respond(answer, { endStream: true });
  if (method !== undefined) recordRefused(method, headers["x-request-id"]?.toString(), error);
  return undefined;
}

const timeoutUnitsMs = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 } as const;
/** Maximum delay of Node's timers, in milliseconds. A longer timer would fire at once. */
const timeoutMsMax = 2 ** 31 - 1;

/**
 * Checks the header grpc-timeout, because grpc-js accepts invalid ones. Returns an error if the timeout is invalid or
 * 0, a shorter timeout if it exceeds Node's timers, and undefined if it can stay as it is.
 */
function readTimeout(header: string | readonly string[] | undefined): string | RpcError | undefined {
  if (header === undefined) return undefined;
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  if (digits === undefined || unit === undefined) {
    const why = `grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n; got '${String(header)}'`;
    return new RpcError("INVALID_ARGUMENT", why);
  }
  const ms = Number(digits) * timeoutUnitsMs[unit as keyof typeof timeoutUnitsMs];
  if (ms === 0) return new RpcError("DEADLINE_EXCEEDED", "the deadline had already passed when the request arrived");
  return ms > timeoutMsMax ? `${Math.floor(timeoutMsMax / 1000)}S` : undefined;
}

const encodings: ReadonlySet<string> = new Set(["identity", "gzip", "deflate"]);

function unreadable(encoding: string | readonly string[] | undefined): RpcError | undefined {
  if (encoding === undefined || encodings.has(String(encoding))) return undefined;
  const why = `the request's messages are compressed with '${String(encoding)}', and this server reads gzip and deflate`;
  return new RpcError("UNIMPLEMENTED", why);
}

/** Returns an interceptor that opens a GrpcCall for each call of grpc-js. */
export function openCalls(methods: Methods): ServerInterceptor {
  return ({ path }, given) => {
    const method = methods.get(path);
    if (method === undefined) throw new Error(`bug: ${path} is served, but has no limits`);
    const incoming = given as IncomingCall;
    const call = new GrpcCall(method, incoming);
    incoming.decoder = call;
    incoming.metadata.setOpaque(callKey, call);
    // The declared return type is another class, but at run time grpc-js accepts the call that it passed in.
    return given as ServerInterceptingCall;
  };
}

const callKey = "gradus.call";

/**
 * Call object that grpc-js passes to handlers. At the end of every call, even a successful one, grpc-js makes this
 * object emit `cancelled`.
 */
interface Surface {
  readonly metadata: Metadata;
  once(event: "cancelled", listener: () => void): unknown;
}

export function callOf({ metadata }: Pick<Surface, "metadata">): GrpcCall {
  return metadata.getOpaque(callKey) as GrpcCall;
}

/** Returns the GrpcCall that belongs to grpc-js's call object, and marks the call's handler as begun. */
export function begin(surface: Surface): GrpcCall {
  const call = callOf(surface);
  call.begin(surface);
  return call;
}

// The rest of this file handles the messages of a call, after its headers.

/**
 * Maximum bytes of a stream's requests that are read before its handler asks for them. They keep the handler busy while
 * further requests arrive.
 */
const readAheadBytes = 1024 ** 2;

/**
 * Maximum bytes of responses that the client has not read when the server ends a call. With more, the stream is reset
 * at once. Otherwise the server waits until they are read, so that the client gets the error, which alone says that it
 * may retry.
 */
const lastAnswersBytes = 64 * 1024;
/**
 * Maximum time, in milliseconds, that the server waits for the client to read the last responses of a call that it
 * ends.
 */
const lastAnswersMs = 5_000;

/**
 * One call on the gRPC port. It replaces grpc-js's decoder of messages, counts the bytes in memory, and can be ended
 * with an error at any time.
 */
export class GrpcCall extends Call implements MessageDecoder {
  /** Bytes of streamed responses that the handler has written and that Node's HTTP/2 has not taken yet. */
  unsentBytes = 0;
  #unreadBytes = 0;
  readonly connection: Connection;
  readonly account: Account;
  readonly #incoming: IncomingCall;
  readonly #deframer: Deframer;
  /** Whether the call's handler has begun. */
  #begun = false;
  #messages = 0;
  /**
   * Total bytes of the request messages that have arrived completely. A message counts with its decompressed size once
   * it is decompressed.
   */
  #receivedBytes = 0;
  /** Time, by performance.now(), at which the incomplete message began to arrive. 0: no message is incomplete. */
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
    // This check runs before the check of grpc-js, whose error messages speak of streams even for unary calls.
    if (!this.method.streamsRequests) incoming.stream.prependOnceListener("end", () => this.#checkOneMessage());
    if (isEncoded) this.#decompressInTurn(incoming.incomingEncoding as Encoding);
  }

  /** Marks the handler of this call as begun. */
  begin(incoming: Surface): void {
    this.#begun = true;
    incoming.once("cancelled", () => this.close());
    // If the deadline passed before the request was complete, grpc-js emitted `cancelled` before anybody listened.
    if (this.late) process.nextTick(() => this.close());
  }

  /** Counts the bytes of a unary call's response as unread by the client, until the call is closed. */
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
    // Later data of a refused call is dropped, so it takes no memory.
    if (this.#refused !== undefined) return 0;
    const { readableLength, writableLength } = this.#incoming.stream;
    // Both `unsentBytes` and the HTTP/2 stream count unsent bytes, so the larger count is used and not the sum.
    const unsentBytes = Math.max(writableLength, this.unsentBytes);
    return this.#deframer.partialBytes + this.#waitingBytes + readableLength + unsentBytes;
  }

  override get receivingSinceMs(): number | undefined {
    if (this.#refused !== undefined) return undefined;
    if (!this.method.streamsRequests) return this.#begun ? undefined : this.openedAtMs;
    // If the stream is paused, the rest of the message waits for this server, so the client is not too slow.
    const waitsForUs = this.#deframer.partialBytes === 0 || this.#incoming.stream.isPaused();
    return waitsForUs ? undefined : this.#partialSinceMs;
  }

  /** Bytes of messages that the handler has not taken yet. */
  get #waitingBytes(): number {
    return Math.max(0, this.#receivedBytes - this.bytesIn);
  }

  /** Status of a call that ended before its handler did. */
  protected override get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    const { sentTrailers, sentHeaders } = this.#incoming.stream;
    const status = Number(sentTrailers?.["grpc-status"] ?? sentHeaders?.["grpc-status"]);
    return (Object.keys(codes) as CodeName[]).find((name) => codes[name] === status) ?? "CANCELLED";
  }

  override refuse(error: RpcError): void {
    const { stream } = this.#incoming;
    this.#end(error);
    // A caller that reads no answers cannot get the error, so the stream is reset with a code that clients report as
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
    // If a stream is ended while a write is in progress, Node never closes it. So the handler sends the status when its
    // write is done.
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
   * Throws if the client ended its stream of requests within a message. Call it at the end of the requests, because
   * `grpc-js` ignores an incomplete last message.
   */
  checkEnd(): void {
    const { partialBytes } = this.#deframer;
    if (partialBytes > 0) throw endedWithin(partialBytes);
  }

  #checkOneMessage(): void {
    // A stream that the client reset also emits `end`.
    if (this.#messages > 0 || this.#refused !== undefined || this.#incoming.stream.aborted) return;
    const { partialBytes } = this.#deframer;
    this.#end(partialBytes > 0 ? endedWithin(partialBytes) : notOneMessage(this.method.path, "none came"));
  }

  /**
   * Limits how many bytes grpc-js reads ahead on a stream of requests. Otherwise grpc-js would read 16 messages ahead,
   * each perhaps megabytes long. Returns a function to call each time that the handler has taken a message.
   */
  limitReadAhead(requests: Readable): () => void {
    const incoming = this.#incoming;
    const startRead = incoming.startRead.bind(incoming);
    const start = (): void => {
      // The time while the stream was paused does not count as slow sending.
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

  /** Decompresses messages one at a time, up to the size limit, because a few kilobytes can become gigabytes. */
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

/** Error that stops the decompression of a message whose call is already over. Its client already has a status. */
class CallIsOver extends Error {}
