/** Our handlers as grpc-js takes them. Messages are read and written here, so that it sees bytes only. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { handleUnaryCall, Metadata, MethodDefinition, sendUnaryData } from "@grpc/grpc-js";
import { Call, type Host } from "../call.ts";
import { toStatus } from "../errors.ts";
import { RpcError, type UnaryHandler } from "../rpc.ts";
import { decoderOf, encoderOf } from "../wire/codecs.ts";
import { type Inbox, inboxOf } from "./inbox.ts";

/** The parts of a grpc-js server call that all its kinds have. */
export interface GrpcCall {
  readonly metadata: Metadata;
  once(event: "cancelled", listener: () => void): unknown;
}

/**
 * A request, read as soon as it has come. grpc-js holds on to what it was given until the call is closed: the bytes
 * would be held beside the message, and either would live long enough to make garbage collection expensive. So the
 * bytes are dropped at once, and the message is taken out by its handler.
 */
export interface Request {
  readonly byteLength: number;
  /** Undefined: the bytes were no such message, or it was taken. */
  message: Message | undefined;
}

/** A method with what each of its calls needs. */
export interface GrpcMethod {
  readonly method: DescMethod;
  readonly path: string;
  begin(incoming: GrpcCall): Call;
  /** Logs and counts a call that ended before its request was whole. */
  missed(inbox: Inbox): void;
  /** A request's bytes as they have come. */
  readonly receive: (bytes: Buffer) => Request;
  /** Takes the message out of a request. */
  take(request: Request, call: Call): Message;
  write(message: Message, call: Call): Buffer;
}

export function grpcMethod(host: Host, method: DescMethod): GrpcMethod {
  const path = `${method.parent.typeName}/${method.name}`;
  const meter = host.meter(path);
  const log = host.log.child({ method: path });
  const decode = decoderOf(method.input);
  const encode = encoderOf(method.output);
  const newCall = (inbox: Inbox): Call => {
    const { requestId, deadlineMs } = inbox;
    return (inbox.call = new Call({ host, meter, log, requestId, deadlineMs, caller: inbox }));
  };
  return {
    method,
    path: `/${path}`,
    begin: (incoming) => {
      const call = newCall(inboxOf(incoming));
      // grpc-js says "cancelled" at the end of every call, once all is sent.
      incoming.once("cancelled", () => call.close());
      // It has said so already, to nobody, where the deadline passed before the request was whole.
      if (call.late) process.nextTick(() => call.close());
      return call;
    },
    missed: (inbox) => newCall(inbox).close(),
    receive: (bytes) => ({ byteLength: bytes.byteLength, message: readOrNothing(decode, bytes) }),
    take: (request, call) => {
      const { message, byteLength } = request;
      request.message = undefined;
      call.bytesIn += byteLength;
      if (message === undefined) throw notAMessage(method, byteLength);
      return message;
    },
    write: (message, call) => {
      const bytes = encode(message);
      call.bytesOut += bytes.byteLength;
      return bytes;
    },
  };
}

/** The token that came with a call, as an HTTP header's value. */
export function authorizationOf(incoming: GrpcCall): string | undefined {
  return incoming.metadata.get("authorization")[0]?.toString();
}

/** The caller's fault, not ours: grpc-js would call it INTERNAL. */
function notAMessage({ input }: DescMethod, byteLength: number): RpcError {
  return new RpcError("INVALID_ARGUMENT", `the request's ${byteLength} bytes are not a ${input.typeName} message`);
}

function readOrNothing(decode: (bytes: Uint8Array) => Message, bytes: Uint8Array): Message | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

const same = (bytes: Buffer): Buffer => bytes;

/** How grpc-js is told of a method. Answers it gets as bytes; the server has no use for the client's half. */
export function definitionOf(ours: GrpcMethod): MethodDefinition<Request, Buffer> {
  const { method, path } = ours;
  const requestStream = method.methodKind === "bidi_streaming" || method.methodKind === "client_streaming";
  const responseStream = method.methodKind === "bidi_streaming" || method.methodKind === "server_streaming";
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: () => Buffer.alloc(0),
    requestDeserialize: ours.receive,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

// Calls with one request and one answer: the hot path.

type Handler = UnaryHandler<Message, Message>;

export function unaryCalls(method: GrpcMethod, handler: Handler): handleUnaryCall<Request, Buffer> {
  return (incoming, respond) => {
    const call = method.begin(incoming);
    const refused = call.enter(authorizationOf(incoming));
    if (refused === undefined) answer(method, handler, incoming.request, call, respond);
    else respond(toStatus(refused));
  };
}

/** Without a turn of the event loop where the handler answers at once. */
function answer(
  method: GrpcMethod,
  handler: Handler,
  request: Request,
  call: Call,
  respond: sendUnaryData<Buffer>,
): void {
  const succeed = (response: Message): void => {
    respond(null, method.write(response, call));
    call.settle("OK");
  };
  const fail = (thrown: unknown): void => {
    const failure = call.failure(thrown);
    respond(toStatus(failure));
    call.settle(failure.code);
  };
  try {
    const response = handler(method.take(request, call), call);
    if (response instanceof Promise) response.then(succeed).catch(fail);
    else succeed(response);
  } catch (thrown) {
    fail(thrown);
  }
}
