/** Calls with one request and one answer: the hot path. */
import type { Message } from "@bufbuild/protobuf";
import type { handleUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type { Call } from "../call.ts";
import type { UnaryHandler } from "../../rpc/handlers.ts";
import { authorizationOf } from "./methods.ts";
import type { GrpcMethod, Request } from "./methods.ts";
import { toStatus } from "./status.ts";

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
