/** Our handlers as grpc-js takes them. Messages are read and written here, so that it sees bytes only. */
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
import {
  type BidiHandler,
  RpcError,
  type ServerStreamHandler,
  shuttingDown,
  type UnaryHandler,
} from "../../base/rpc.ts";
import { cutterOf, decoderOf, encoderOf } from "../wire/codec.ts";
import { begin, type GrpcCall } from "./call.ts";

/**
 * A request, read as soon as it has come. grpc-js holds on to what it was given until the call is closed: the bytes
 * would be held beside the message, and either would live long enough to make garbage collection expensive. So the
 * bytes are dropped at once, and the message is taken out by its handler.
 */
export interface Request {
  readonly byteLength: number;
  /** Or why the bytes are none; undefined: it was taken. */
  message: Message | RpcError | undefined;
}

/** What writes a method's answers. */
interface Answers {
  readonly write: (message: Message, call: GrpcCall) => Buffer;
  /** The pieces that an answer is written in, where it is long; else only itself. */
  readonly cut: (message: Message) => readonly Message[];
}

/** What grpc-js is told of a method, and its handler as grpc-js calls it. */
export interface Implementation {
  readonly definition: MethodDefinition<Request, Buffer>;
  readonly handle: UntypedHandleCall;
}

/** register() has checked the handler against the service's types. */
export function implementationOf(
  { path, streamsRequests }: Method,
  description: DescMethod,
  handler: unknown,
): Implementation {
  const { input, output, methodKind } = description;
  const decode = decoderOf(input);
  const encode = encoderOf(output);
  const definition = {
    path: `/${path}`,
    requestStream: streamsRequests,
    responseStream: methodKind === "bidi_streaming" || methodKind === "server_streaming",
    requestDeserialize: (bytes: Buffer) => ({ byteLength: bytes.byteLength, message: readOrFailure(decode, bytes) }),
    responseSerialize: asItIs,
    // The client's half, of which a server has no use.
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: asItIs,
  };
  const write = (message: Message, call: GrpcCall): Buffer => {
    const bytes = encode(message);
    call.bytesOut += bytes.byteLength;
    return bytes;
  };
  return { definition, handle: handlerOf({ write, cut: cutterOf(output) }, description, handler) };
}

const asItIs = (bytes: Buffer): Buffer => bytes;

/** What is wrong with a message is thrown where its handler takes it: grpc-js would call it INTERNAL. */
function readOrFailure(decode: (bytes: Uint8Array) => Message, bytes: Uint8Array): Message | RpcError {
  try {
    return decode(bytes);
  } catch (error) {
    return error as RpcError;
  }
}

function take(request: Request, call: GrpcCall): Message {
  const { message, byteLength } = request;
  request.message = undefined;
  call.bytesIn += byteLength;
  if (message === undefined) throw new Error("a request is taken twice");
  if (message instanceof RpcError) throw message;
  return message;
}

function handlerOf(ours: Answers, method: DescMethod, handler: unknown): UntypedHandleCall {
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

// Calls with one request and one answer: the hot path.

function unaryCalls(ours: Answers, handler: UnaryHandler<Message, Message>): handleUnaryCall<Request, Buffer> {
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

/** Without a turn of the event loop where the handler answers at once. */
function answer(
  { write, cut }: Answers,
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
  /** Of a handler that took its time: many may become ready in one round, and be long. */
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
    const response = call.run(() => handler(take(request, call), call));
    if (response instanceof Promise) response.then(succeedInTurn).catch(fail);
    else send(write(response, call));
  } catch (thrown) {
    fail(thrown);
  }
}

// Calls whose answers, or both requests and answers, are streams.

function serverStreamCalls(
  { write }: Answers,
  handler: ServerStreamHandler<Message, Message>,
): handleServerStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(incoming, begin(incoming), async (call) => {
      await call.run(() => writeAnswers(incoming, handler(take(incoming.request, call), call), call, write));
    });
}

function bidiCalls(
  { write }: Answers,
  handler: BidiHandler<Message, Message>,
): handleBidiStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(incoming, begin(incoming), async (call) => {
      const requests = readRequests(incoming, call);
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

/** Written and not yet taken by HTTP/2: beyond this the handler waits. */
const unsentBytesMax = 1024 ** 2;

/** Resolves when all answers are written, no faster than the caller reads them, or the caller is gone. */
async function writeAnswers(
  stream: Writable,
  answers: AsyncIterable<Message>,
  call: GrpcCall,
  write: Answers["write"],
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
  /** Whether the requests were ended by a shutdown rather than by the caller. */
  cut(): boolean;
  /** Forgets the stream. */
  close(): void;
}

/**
 * While shutting down, a stream that has been silent for so long has nothing on its way to us: its requests end, its
 * handler answers what it has, and nothing is lost.
 */
const silenceMs = 500;

/**
 * Requests as they are asked for. Node's own iterator destroys the stream when a loop over it ends, and with it the
 * answers still to be written. What is wrong with a request reaches the handler.
 */
function readRequests(stream: Readable, call: GrpcCall): Requests {
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
        return { done: false, value: take(request, call) };
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
