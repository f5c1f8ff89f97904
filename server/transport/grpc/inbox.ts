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
import { constants } from "node:http2";
import type { ServerHttp2Stream } from "node:http2";
import type { Readable } from "node:stream";
import { codes, RpcError } from "../../rpc/rpc-error.ts";
import type { CodeName } from "../../rpc/rpc-error.ts";
import type { Call, Caller } from "../call.ts";
import type { HeldBytes, Holder } from "../held-bytes.ts";
import { headerBytes, MessageDecoder, MessageTooLong } from "./message-decoder.ts";
import { toStatus } from "./status.ts";

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
