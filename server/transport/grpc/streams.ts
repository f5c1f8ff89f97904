/** Calls whose answers, or both requests and answers, are streams. */
import type { Message } from "@bufbuild/protobuf";
import type { handleBidiStreamingCall, handleServerStreamingCall } from "@grpc/grpc-js";
import type { Writable } from "node:stream";
import type { Call } from "../call.ts";
import { shuttingDown } from "../gate.ts";
import type { BidiHandler, ServerStreamHandler } from "../../rpc/handlers.ts";
import { writeAnswers } from "./answers.ts";
import { inboxOf } from "./inbox.ts";
import { authorizationOf } from "./methods.ts";
import type { GrpcCall, GrpcMethod, Request } from "./methods.ts";
import { requestsOf } from "./requests.ts";
import { toStatus } from "./status.ts";

export function serverStreamCalls(
  method: GrpcMethod,
  handler: ServerStreamHandler<Message, Message>,
): handleServerStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(method, incoming, async (call) => {
      const answers = handler(method.take(incoming.request, call), call);
      await writeAnswers(incoming, answers, call, (answer) => method.write(answer, call));
    });
}

export function bidiCalls(
  method: GrpcMethod,
  handler: BidiHandler<Message, Message>,
): handleBidiStreamingCall<Request, Buffer> {
  return (incoming) =>
    void stream(method, incoming, async (call) => {
      const inbox = inboxOf(incoming);
      const taken = inbox.limitReadAhead(incoming);
      const take = (request: Request): Message => {
        taken();
        return method.take(request, call);
      };
      const requests = requestsOf(incoming, call, { take, checkEnd: () => inbox.checkEnd() });
      try {
        await writeAnswers(incoming, handler(requests, call), call, (answer) => method.write(answer, call));
      } finally {
        requests.close();
      }
      if (requests.cut()) throw shuttingDown();
    });
}

async function stream(
  method: GrpcMethod,
  incoming: GrpcCall & Writable,
  run: (call: Call) => Promise<void>,
): Promise<void> {
  const call = method.begin(incoming);
  const refused = call.enter(authorizationOf(incoming));
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
