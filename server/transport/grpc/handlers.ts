/** Adapts our handlers to grpc-js. This file reads and writes messages, so that grpc-js sees only bytes. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  MethodDefinition,
  sendUnaryData,
  UntypedHandleCall,
} from "@grpc/grpc-js";
import type { Readable, Writable } from "node:stream";
import type { Method } from "../call-context.ts";
import { toStatus } from "../errors.ts";
import { type BidiHandler, type ServerStreamHandler, shuttingDown, type UnaryHandler } from "../../base/rpc.ts";
import { cutterOf, decoderOf, encoderOf } from "../wire/codec.ts";
import { begin, type GrpcCall } from "./call.ts";

/**
 * A request, whose bytes become a message in its call's turn: messages that arrive together would otherwise be read in
 * one round of the event loop. `grpc-js` keeps its request until the call is closed. The bytes would live long enough
 * to make garbage collection expensive, so the handler takes them out.
 */
export interface Request {
  /** Undefined: the handler has taken them. */
  bytes: Buffer | undefined;
}

/** Reader and writers of a method's messages. */
interface Messages {
  /** Throws RpcError for bytes that are no message. */
  readonly read: (bytes: Uint8Array) => Message;
  readonly write: (message: Message, call: GrpcCall) => Buffer;
  /** Returns the pieces in which a long answer is written; a short answer is its own only piece. */
  readonly cut: (message: Message) => readonly Message[];
}

/** A method's definition for grpc-js, and its handler as grpc-js calls it. */
export interface Implementation {
  readonly definition: MethodDefinition<Request, Buffer>;
  readonly handle: UntypedHandleCall;
}

/**
 * Adapts a handler to grpc-js. The handler's type is not checked here: register() has checked it against the service.
 */
export function implementationOf(
  { path, streamsRequests }: Method,
  description: DescMethod,
  handler: unknown,
): Implementation {
  const { input, output, methodKind } = description;
  const encode = encoderOf(output);
  const definition = {
    path: `/${path}`,
    requestStream: streamsRequests,
    responseStream: methodKind === "bidi_streaming" || methodKind === "server_streaming",
    requestDeserialize: (bytes: Buffer) => ({ bytes }),
    responseSerialize: asItIs,
    // The client's half of the definition, which a server never calls.
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: asItIs,
  };
  const write = (message: Message, call: GrpcCall): Buffer => {
    const bytes = encode(message);
    call.bytesOut += bytes.byteLength;
    return bytes;
  };
  return {
    definition,
    handle: handlerOf({ read: decoderOf(input), write, cut: cutterOf(output) }, description, handler),
  };
}

const asItIs = (bytes: Buffer): Buffer => bytes;

function take(request: Request, call: GrpcCall, read: Messages["read"]): Message {
  const { bytes } = request;
  request.bytes = undefined;
  if (bytes === undefined) throw new Error("a request was read twice");
  call.bytesIn += bytes.byteLength;
  return read(bytes);
}

function handlerOf(ours: Messages, method: DescMethod, handler: unknown): UntypedHandleCall {
  switch (method.methodKind) {
    case "unary":
      return unaryCalls(ours, handler as UnaryHandler<Message, Message>);
    case "server_streaming":
      return serverStreamCalls(ours, handler as ServerStreamHandler<Message, Message>);
    case "bidi_streaming":
      return bidiCalls(ours, handler as BidiHandler<Message, Message>);
    case "client_streaming":
      throw new Error(`${method.parent.typeName}/${method.name}: no transport serves client streams`);
  }
}

// Adapts calls with one request and one answer: the hot path.

function unaryCalls(ours: Messages, handler: UnaryHandler<Message, Message>): handleUnaryCall<Request, Buffer> {
  return (incoming, respond) => {
    const call = begin(incoming);
    call.inTurn(() => {
      if (call.closed) return;
      const refused = call.enter();
      if (refused === undefined) answer(ours, handler, incoming.request, call, respond);
      else respond(toStatus(refused));
    });
  };
}

/** Answers a call; if the handler returns without a promise, it answers in the same turn of the event loop. */
function answer(
  { read, write, cut }: Messages,
  handler: UnaryHandler<Message, Message>,
  request: Request,
  call: GrpcCall,
  respond: sendUnaryData<Buffer>,
): void {
  const send = (bytes: Buffer): void => {
    call.answered(bytes);
    respond(null, bytes);
    call.settle("OK");
  };
  /** Sends the answer of an asynchronous handler in turns: many answers may become ready in one round, and be long. */
  const succeedInTurn = async (response: Message): Promise<void> => {
    const written: Buffer[] = [];
    for (const piece of cut(response)) {
      await call.turn();
      if (call.closed) return call.settle("OK");
      written.push(write(piece, call));
    }
    send(written.length === 1 ? (written[0] as Buffer) : Buffer.concat(written));
  };
  const fail = (thrown: unknown): void => {
    const failure = call.failure(thrown);
    respond(toStatus(failure));
    call.settle(failure.code);
  };
  try {
    const response = call.run(() => handler(take(request, call, read), call));
    if (response instanceof Promise) response.then(succeedInTurn).catch(fail);
    else send(write(response, call));
  } catch (thrown) {
    fail(thrown);
  }
}

// Calls whose answers, or both requests and answers, are streams.

function serverStreamCalls(
  { read, write }: Messages,
  handler: ServerStreamHandler<Message, Message>,
): handleServerStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(incoming, begin(incoming), async (call) => {
      await call.run(() => writeAnswers(incoming, handler(take(incoming.request, call, read), call), call, write));
    });
}

function bidiCalls(
  { read, write }: Messages,
  handler: BidiHandler<Message, Message>,
): handleBidiStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(incoming, begin(incoming), async (call) => {
      const requests = readRequests(incoming, call, read);
      try {
        await call.run(() => writeAnswers(incoming, handler(requests, call), call, write));
      } finally {
        requests.close();
      }
      if (requests.cut()) throw shuttingDown();
    });
}

async function stream(incoming: Writable, call: GrpcCall, run: (call: GrpcCall) => Promise<void>): Promise<void> {
  await call.turn();
  if (call.closed) return;
  const refused = call.enter();
  // grpc-js reads a stream's status from the error that the stream emits.
  if (refused !== undefined) return void incoming.emit("error", toStatus(refused));
  try {
    await run(call);
    incoming.end();
    call.settle("OK");
  } catch (thrown) {
    const failure = call.failure(thrown);
    incoming.emit("error", toStatus(failure));
    call.settle(failure.code);
  }
}

/** Maximum number of bytes that are written and not yet taken by HTTP/2; above it the handler waits. */
const unsentBytesMax = 1024 ** 2;

/**
 * Writes answers no faster than the caller reads them. Resolves when all are written or the deadline has passed; throws
 * if the call was aborted.
 */
async function writeAnswers(
  stream: Writable,
  answers: AsyncIterable<Message>,
  call: GrpcCall,
  write: Messages["write"],
): Promise<void> {
  let wake: (() => void) | undefined;
  const drained = () => wake?.();
  call.signal.addEventListener("abort", drained);
  for await (const answer of answers) {
    await call.turn();
    if (call.abortReason !== undefined) throw call.abortReason;
    if (call.late) return;
    const bytes = write(answer, call);
    call.unsentBytes += bytes.length;
    const written = () => {
      call.unsentBytes -= bytes.length;
      if (call.unsentBytes === 0) drained();
    };
    const room = stream.write(bytes, written) && call.unsentBytes <= unsentBytesMax;
    if (!room && call.unsentBytes > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
}

interface Requests extends AsyncIterable<Message> {
  /** Whether a shutdown ended the requests, rather than the caller. */
  cut(): boolean;
  /** Stops listening for the shutdown. */
  close(): void;
}

/**
 * During a shutdown, a stream that was silent this long has no request on its way to us, in milliseconds. Its requests
 * end, its handler answers the requests that it has, and nothing is lost.
 */
const silenceMs = 500;

/**
 * Reads requests on demand. Node's own iterator destroys the stream, with all unwritten answers, when a loop over it
 * ends. Errors of a request are thrown to the handler.
 */
function readRequests(stream: Readable, call: GrpcCall, read: Messages["read"]): Requests {
  let ended = false;
  let cut = false;
  let wake: (() => void) | undefined;
  const changed = () => wake?.();
  const taken = call.limitReadAhead(stream);
  const { signal, draining } = call;
  stream.on("readable", changed);
  stream.once("end", () => {
    ended = true;
    changed();
  });
  signal.addEventListener("abort", changed);
  draining.addEventListener("abort", changed);

  const silence = () => {
    cut = true;
    changed();
  };
  const change = async () => {
    const timer = draining.aborted ? setTimeout(silence, silenceMs) : undefined;
    await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(timer);
  };
  const next = async (): Promise<IteratorResult<Message, undefined>> => {
    for (;;) {
      if (call.abortReason !== undefined) throw call.abortReason;
      const request = stream.read() as Request | null;
      if (request !== null) {
        await call.turn();
        taken();
        return { done: false, value: take(request, call, read) };
      }
      if (ended) call.checkEnd();
      if (ended || cut) return { done: true, value: undefined };
      await change();
    }
  };
  return {
    cut: () => cut,
    close: () => draining.removeEventListener("abort", changed),
    [Symbol.asyncIterator]: () => ({ next }),
  };
}
