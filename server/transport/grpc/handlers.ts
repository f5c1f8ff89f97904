/**
 * Adapts Gradus's handlers to the grpc-js library. Messages are encoded and decoded here, so that grpc-js handles only
 * bytes.
 */
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
import { cutterOf, type Decode, decoderOf, encoderOf } from "../wire/codec.ts";
import { begin, type GrpcCall } from "./call.ts";

/**
 * A request message, still encoded. It is decoded only when the scheduler (connection-turns.ts) lets its call run. The
 * bytes are then removed from this object, because grpc-js keeps it until the call ends, which would make garbage
 * collection expensive.
 */
export interface Request {
  /** Bytes of the request. Undefined: they were decoded and removed. */
  bytes: Buffer | undefined;
}

/** Functions that decode and encode a method's messages. */
interface Messages {
  readonly read: Decode<Message>;
  readonly write: (message: Message, call: GrpcCall) => Buffer;
  /**
   * Splits a response with a long list into several messages, which are encoded one by one. A short response stays one
   * message.
   */
  readonly cut: (message: Message) => readonly Message[];
}

/** A method as grpc-js registers it: its definition and its handler. */
export interface Implementation {
  readonly definition: MethodDefinition<Request, Buffer>;
  readonly handle: UntypedHandleCall;
}

/** Adapts a handler to grpc-js. `register` has already checked, at compile time, that the handler fits the method. */
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
    // Only clients serialize requests and deserialize responses, so grpc-js never calls these two functions here.
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

function take(request: Request, call: GrpcCall, read: Messages["read"]): Message | Promise<Message> {
  const { bytes } = request;
  request.bytes = undefined;
  if (bytes === undefined) throw new Error("a request was read twice");
  call.bytesIn += bytes.byteLength;
  return read(bytes, () => call.activeTurn());
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

// Functions that serve calls with one request and one response. Most calls are of this kind.

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

/**
 * Maximum bytes of a long response that are copied before other calls get a turn. Copying them takes about a
 * millisecond, because the target buffer is new memory.
 */
const COPIED_IN_A_TURN = 2 * 2 ** 20;

/**
 * Runs the handler of a unary call, and sends its response. A response that the handler returns without a promise is
 * sent in the same turn of the event loop.
 */
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
  /**
   * Encodes and sends the response of an asynchronous handler. It waits for the turn of the call's connection before
   * each piece, because many long responses may become ready at once.
   */
  const succeedInTurn = async (response: Message): Promise<void> => {
    const written: Buffer[] = [];
    for (const piece of cut(response)) {
      await call.turn();
      if (call.closed) return call.settle("OK");
      written.push(write(piece, call));
    }
    if (written.length === 1) return send(written[0] as Buffer);
    const whole = Buffer.allocUnsafeSlow(written.reduce((sum, { length }) => sum + length, 0));
    let [end, turnEnd] = [0, COPIED_IN_A_TURN];
    for (const piece of written) {
      if (end > turnEnd) {
        await call.turn();
        turnEnd = end + COPIED_IN_A_TURN;
      }
      end += piece.copy(whole, end);
    }
    if (!call.closed) return send(whole);
    call.settle("OK");
  };
  const fail = (thrown: unknown): void => {
    const failure = call.failure(thrown);
    respond(toStatus(failure));
    call.settle(failure.code);
  };
  try {
    const message = take(request, call, read);
    const handle = (taken: Message) => call.run(() => handler(taken, call));
    const response = message instanceof Promise ? message.then(handle) : handle(message);
    if (response instanceof Promise) response.then(succeedInTurn).catch(fail);
    else send(write(response, call));
  } catch (thrown) {
    fail(thrown);
  }
}

// Functions that serve calls which stream responses, or both requests and responses.

function serverStreamCalls(
  { read, write }: Messages,
  handler: ServerStreamHandler<Message, Message>,
): handleServerStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(incoming, begin(incoming), async (call) => {
      const request = await take(incoming.request, call, read);
      await call.run(() => writeAnswers(incoming, handler(request, call), call, write));
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
  // For a stream, grpc-js takes the status from the `error` event.
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

/** Maximum bytes of a stream's responses that HTTP/2 has not taken from the server. With more, the handler waits. */
const unsentBytesMax = 1024 ** 2;

/**
 * Writes the responses of a stream no faster than the client reads them. Resolves when all are written or the deadline
 * has passed. Throws if the call was aborted.
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
  /**
   * Returns whether a shutdown of the server ended the stream of requests. False: the client ended the stream, or the
   * stream is still open.
   */
  cut(): boolean;
  /** Stops listening for a shutdown of the server. Called when the stream is over. */
  close(): void;
}

/**
 * During a shutdown, the server ends a stream of requests after this time without a request, in milliseconds. By then
 * no request can still be on its way, so nothing is lost.
 */
const silenceMs = 500;

/**
 * Returns the requests of a stream. Each is read only when the handler asks for it. Node's own iterator is not used: at
 * its end it would destroy the stream, with responses not yet written. An invalid request makes the iteration throw.
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
        return { done: false, value: await take(request, call, read) };
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
