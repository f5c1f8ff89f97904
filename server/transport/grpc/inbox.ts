/**
 * What comes in for one call, in place of grpc-js's decoder: it knows what the call holds in memory, can end it, and
 * sees how those calls end that no handler saw. grpc-js has no way in for this, so it is put in a private field; an
 * upgrade that moves it fails in test/server/transport/grpc/inbox.test.ts.
 */
import type {
  Metadata,
  ServerInterceptingCall,
  ServerInterceptingCallInterface,
  ServerInterceptor,
} from "@grpc/grpc-js";
import { constants, type ServerHttp2Stream } from "node:http2";
import type { Readable } from "node:stream";
import type { HeldBytes, Holder } from "../admission.ts";
import type { Call, Caller } from "../call.ts";
import { toStatus } from "../errors.ts";
import { type CodeName, codes, RpcError } from "../rpc.ts";

// Takes gRPC messages out of the data frames of a call, in place of grpc-js's own decoder. That one keeps every piece
// of a message until the last is there and copies them then, when they are in no cache any more: of a message of 1 MB
// that is a fifth of all that the server does (docs/decisions/0008-wire.md). Here each piece is copied as it comes,
// and a message that came whole is not copied at all.

/** One byte that says whether the message is compressed, four with its length. */
const headerBytes = 5;
/** A length is only a claim: room for more than this is made as the bytes come. */
const firstRoomBytes = 2 ** 21;

export class MessageTooLong extends Error {
  readonly bytes: number;
  constructor(bytes: number) {
    super(`a message of ${bytes} bytes`);
    this.bytes = bytes;
  }
}

export class MessageDecoder {
  readonly #maxBytes: number;
  /** Of a message that has begun: header and contents, in a buffer that may have to grow. */
  #room: Buffer | undefined;
  #filled = 0;
  /** Of that message with its header, as soon as the header is whole; until then the header's. */
  #size = headerBytes;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of a message whose end has not come. */
  get partialBytes(): number {
    return this.#filled;
  }

  /** Lets go of the message that has begun. */
  drop(): void {
    this.#room = undefined;
    this.#filled = 0;
  }

  /** The messages that end in this piece, each with its header. Throws MessageTooLong. */
  write(data: Buffer): Buffer[] {
    const messages: Buffer[] = [];
    let at = 0;
    while (at < data.length) {
      const whole = this.#filled === 0 ? this.#wholeAt(data, at) : undefined;
      if (whole !== undefined) messages.push(whole);
      at += whole?.length ?? this.#gather(data, at, messages);
    }
    return messages;
  }

  #wholeAt(data: Buffer, at: number): Buffer | undefined {
    const left = data.length - at;
    this.#size = left < headerBytes ? headerBytes : this.#sizeFrom(data, at);
    return left < this.#size ? undefined : data.subarray(at, at + this.#size);
  }

  /** How many bytes were taken. */
  #gather(data: Buffer, at: number, messages: Buffer[]): number {
    const taken = Math.min(this.#size - this.#filled, data.length - at);
    const room = this.#roomFor(this.#filled + taken);
    data.copy(room, this.#filled, at, at + taken);
    this.#filled += taken;
    if (this.#filled === headerBytes) this.#size = this.#sizeFrom(room, 0);
    if (this.#filled === this.#size) {
      messages.push(room.subarray(0, this.#size));
      this.drop();
    }
    return taken;
  }

  #roomFor(bytes: number): Buffer {
    const before = this.#room;
    if (before !== undefined && bytes <= before.length) return before;
    const wanted = Math.max(firstRoomBytes, 2 * (before?.length ?? 0));
    this.#room = Buffer.allocUnsafeSlow(Math.max(bytes, Math.min(this.#size, wanted)));
    before?.copy(this.#room, 0, 0, this.#filled);
    return this.#room;
  }

  #sizeFrom(header: Buffer, at: number): number {
    const bytes = header.readUInt32BE(at + 1);
    if (bytes > this.#maxBytes) throw new MessageTooLong(bytes);
    return headerBytes + bytes;
  }
}

/** Enough to keep a handler busy. */
const readAheadBytes = 1024 ** 2;

/** The parts of grpc-js's call that are used here; those it does not document are private. */
export interface Incoming extends ServerInterceptingCallInterface {
  readonly stream: ServerHttp2Stream;
  readonly metadata: Metadata;
  readonly incomingEncoding: string;
  decoder: { write(data: Buffer): Buffer[] };
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
}

export interface InboxOptions {
  readonly maxMessageBytes: number;
  readonly held: HeldBytes;
  /** Is told of a call that ended before a handler was given it. */
  readonly missed: (path: string, inbox: Inbox) => void;
}

/** Gives each call its inbox. */
export function giveInboxes(options: InboxOptions): ServerInterceptor {
  return ({ path }, given) => {
    const incoming = given as Incoming;
    incoming.decoder = new Inbox(path, incoming, options);
    // The type asks for the class that wraps such calls, where grpc-js itself returns what it got.
    return given as ServerInterceptingCall;
  };
}

/** The inbox of a call that a handler was given. */
export function inboxOf(given: unknown): Inbox {
  const { call } = given as { readonly call: { readonly decoder: Inbox } };
  return call.decoder;
}

export class Inbox extends MessageDecoder implements Holder, Caller {
  /** Set as soon as a handler is given the call. */
  call: Call | undefined;
  readonly #path: string;
  readonly #incoming: Incoming;
  readonly #options: InboxOptions;
  readonly #place: number;
  /** Of whole messages, decompressed. */
  #receivedBytes = 0;
  #refused: RpcError | undefined;

  constructor(path: string, incoming: Incoming, options: InboxOptions) {
    super(options.maxMessageBytes);
    this.#path = path;
    this.#incoming = incoming;
    this.#options = options;
    this.#place = options.held.add(this);
    incoming.stream.once("close", () => this.#close());
    if (incoming.incomingEncoding !== "identity") this.#decompressInTurn();
  }

  get requestId(): string | undefined {
    return this.#incoming.metadata.get("x-request-id")[0]?.toString();
  }

  /** Unix time; undefined: the caller set none. */
  get deadlineMs(): number | undefined {
    const deadline = Number(this.#incoming.getDeadline());
    return deadline === Infinity ? undefined : deadline;
  }

  get peer(): string {
    return this.#incoming.getPeer();
  }

  get heldBytes(): number {
    // What else comes of such a call is dropped.
    if (this.#refused !== undefined) return 0;
    const { readableLength, writableLength } = this.#incoming.stream;
    // What HTTP/2 was given and has not sent is counted by those who stream answers too.
    const unsentBytes = Math.max(writableLength, this.call?.unsentBytes ?? 0);
    return this.partialBytes + this.#waitingBytes + readableLength + unsentBytes;
  }

  /** Of messages that no handler has taken. */
  get #waitingBytes(): number {
    return Math.max(0, this.#receivedBytes - (this.call?.bytesIn ?? 0));
  }

  /** To be asked once the caller has ended its requests; grpc-js passes over what came of a last message. */
  checkEnd(): void {
    if (this.partialBytes === 0) return;
    throw new RpcError(
      "INVALID_ARGUMENT",
      `the requests ended within a message, after ${this.partialBytes} bytes of it`,
    );
  }

  /**
   * Makes grpc-js read no further ahead on a stream of requests than some bytes, where it reads 16 messages, of which
   * each may have megabytes. The function that it returns is to be called when a message was taken.
   */
  limitReadAhead(requests: Readable): () => void {
    const incoming = this.#incoming;
    const start = incoming.startRead.bind(incoming);
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

  refuse(error: RpcError): void {
    const { stream } = this.#incoming;
    this.#end(error);
    // A caller that reads no answers cannot be told why. Clients call such a reset RESOURCE_EXHAUSTED too.
    if (stream.writableLength > 0) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #end(error: RpcError): void {
    this.#refused = error;
    this.drop();
    this.call?.abort(error);
    this.#incoming.sendStatus(toStatus(error));
    this.#tell();
  }

  override write(data: Buffer): Buffer[] {
    try {
      const messages = super.write(data);
      for (const { length } of messages) this.#receivedBytes += length - headerBytes;
      return messages;
    } catch (error) {
      if (!(error instanceof MessageTooLong)) throw error;
      const { maxMessageBytes } = this.#options;
      const message = `the message has ${error.bytes} bytes, more than the ${maxMessageBytes} of --max-message-bytes`;
      this.#end(new RpcError("RESOURCE_EXHAUSTED", message));
      return [];
    }
  }

  /** How the call ended, if not by our handler. */
  get endedBy(): CodeName {
    if (this.#refused !== undefined) return this.#refused.code;
    const { sentTrailers, sentHeaders } = this.#incoming.stream;
    const status = Number(sentTrailers?.["grpc-status"] ?? sentHeaders?.["grpc-status"]);
    return (Object.keys(codes) as CodeName[]).find((name) => codes[name] === status) ?? "CANCELLED";
  }

  /** grpc-js decompresses at once whatever has come, and a few kilobytes can become gigabytes. */
  #decompressInTurn(): void {
    const incoming = this.#incoming;
    const decompress = incoming.decompressMessage.bind(incoming);
    let before: Promise<unknown> = Promise.resolve();
    incoming.decompressMessage = (message, encoding) => {
      const turn = before.then(async () => {
        if (incoming.stream.closed) throw new Error("the call is over");
        const bytes = await decompress(message, encoding);
        this.#receivedBytes += bytes.length - (message.length - headerBytes);
        return bytes;
      });
      before = turn;
      return turn;
    };
  }

  #close(): void {
    this.#options.held.remove(this.#place);
    this.#tell();
  }

  #tell(): void {
    if (this.call === undefined) this.#options.missed(this.#path, this);
  }
}
