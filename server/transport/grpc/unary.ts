/** Calls with one request and one answer: the hot path. */
import type { Message } from "@bufbuild/protobuf";
import type { handleUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type { Call } from "../call.ts";
import type { RawUnary, UnaryHandler } from "../../rpc/handlers.ts";
import { authorizationOf, toStatus } from "./methods.ts";
import type { GrpcMethod, Request } from "./methods.ts";

type Handler = UnaryHandler<Message, Message>;

export function unaryCalls(method: GrpcMethod, handler: Handler): handleUnaryCall<Request, Buffer> {
  return (incoming, respond) => {
    const call = method.begin(incoming);
    const refused = call.enter(authorizationOf(incoming));
    if (refused === undefined) void answer(method, handler, incoming.request, call, respond);
    else respond(toStatus(refused));
  };
}

async function answer(
  method: GrpcMethod,
  handler: Handler,
  request: Request,
  call: Call,
  respond: sendUnaryData<Buffer>,
): Promise<void> {
  try {
    const bytes = method.takeBytes(request, call);
    if (bytes === undefined || method.raw === undefined) {
      respond(null, method.write(await handler(method.take(request, call), call), call));
    } else respond(null, await answerBytes(method, method.raw, handler, bytes, call));
    call.settle("OK");
  } catch (thrown) {
    const failure = call.failure(thrown);
    respond(toStatus(failure));
    call.settle(failure.code);
  }
}

/** By the raw handler, or by the handler of messages where it declines. */
async function answerBytes(
  method: GrpcMethod,
  raw: RawUnary,
  handler: Handler,
  request: Uint8Array,
  call: Call,
): Promise<Buffer> {
  const answered = await raw.answer(request, call);
  if (answered.kind === "declined") return method.write(await handler(method.read(answered.request), call), call);
  const { buffer, byteOffset, byteLength } = answered.response;
  call.bytesOut += byteLength;
  return Buffer.from(buffer, byteOffset, byteLength);
}
