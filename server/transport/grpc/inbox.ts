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
import { codes, RpcError } from "../../rpc/rpc-error.ts";
import type { CodeName } from "../../rpc/rpc-error.ts";
import type { Call, Caller } from "../call.ts";
import type { HeldBytes, Holder } from "../held-bytes.ts";
import { headerBytes, MessageDecoder, MessageTooLong } from "./message-decoder.ts";
import { toStatus } from "./status.ts";

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
    const { readableLength, writableLength } = this.#incoming.stream;
    const { bytesIn: takenBytes, unsentBytes } = this.call ?? { bytesIn: 0, unsentBytes: 0 };
    const waitingBytes = Math.max(0, this.#receivedBytes - takenBytes);
    return this.partialBytes + waitingBytes + unsentBytes + readableLength + writableLength;
  }

  /** A caller that reads nothing could not be told: its stream is reset, which clients call RESOURCE_EXHAUSTED too. */
  refuse(error: RpcError): void {
    const { stream } = this.#incoming;
    this.#refused = error;
    this.call?.abort(error);
    if (stream.headersSent) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else this.#incoming.sendStatus(toStatus(error));
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
      this.refuse(new RpcError("RESOURCE_EXHAUSTED", message));
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
    const { held, missed } = this.#options;
    held.remove(this.#place);
    if (this.call === undefined) missed(this.#path, this);
  }
}
