/** Adapts Gradus's handlers to the connect-node library. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { toConnectError } from "../errors.ts";
import {
  type CallContext,
  type CodeName,
  RpcError,
  type ServerStreamHandler,
  type UnaryHandler,
} from "../../base/rpc.ts";
import type { HttpCall } from "./call.ts";

/** Key under which Connect's context stores the call that a request opened. */
export const callKey = createContextKey<HttpCall | undefined>(undefined);
/**
 * Key under which Connect's context stores the request's message, which the server has decoded itself. Connect gets an
 * empty message in its place.
 */
export const messageKey = createContextKey<Message | undefined>(undefined);

/** A handler in the form that connect-node's router takes. */
export type Implementation = (request: never, context: HandlerContext) => unknown;

export function implementationOf(method: DescMethod, handler: unknown): Implementation {
  switch (method.methodKind) {
    case "unary":
      return unaryCalls(handler as UnaryHandler<Message, Message>);
    case "server_streaming":
      return streamCalls(handler as ServerStreamHandler<Message, Message>);
    case "bidi_streaming":
      return streamCalls(refusedOverHttp1(method));
    case "client_streaming":
      throw new Error(`${method.parent.typeName}/${method.name}: no transport serves client streams`);
  }
}

/**
 * Marks the call of a request as begun, with its deadline. Throws a ConnectError if the call is refused, e.g. because
 * its deadline has passed.
 */
function begin({ values, signal, timeoutMs }: HandlerContext): HttpCall {
  const call = values.get(callKey);
  if (call === undefined) throw new Error("a call did not come through the HTTP port's listener");
  const leftMs = timeoutMs();
  call.begin(leftMs === undefined ? undefined : Date.now() + leftMs);
  // Connect aborts this signal at the deadline, and also at the end of every call.
  if (signal.aborted) call.giveUp();
  else signal.addEventListener("abort", () => call.giveUp(), { once: true });
  const expired = leftMs !== undefined && leftMs <= 0;
  const refused = expired ? call.refusedBy(new RpcError("DEADLINE_EXCEEDED", PASSED)) : call.enter();
  if (refused !== undefined) throw toConnectError(refused);
  return call;
}

const PASSED = "the deadline had already passed when the request arrived";

function unaryCalls(handler: UnaryHandler<Message, Message>): Implementation {
  return async (request: Message, context: HandlerContext) => {
    const call = begin(context);
    try {
      await call.turn();
      const answer = await call.run(() => handler(context.values.get(messageKey) ?? request, call));
      // Connect encodes and sends the answer at once, so the call waits for its connection's turn before it returns the
      // answer.
      await call.turn();
      call.settle("OK");
      return answer;
    } catch (thrown) {
      const failure = call.failure(thrown);
      call.settle(failure.code);
      throw toConnectError(failure);
    }
  };
}

function streamCalls(handler: ServerStreamHandler<Message, Message>): Implementation {
  return async function* (request: Message, context: HandlerContext) {
    const call = begin(context);
    // If the client is gone, Connect ends this generator by `return` instead of throwing into it. So CANCELLED is the
    // status unless another one is set.
    let code: CodeName = "CANCELLED";
    try {
      await call.turn();
      for await (const answer of handler(context.values.get(messageKey) ?? request, call)) {
        await call.turn();
        yield answer;
      }
      if (call.abortReason !== undefined) throw call.abortReason;
      code = "OK";
    } catch (thrown) {
      const failure = call.failure(thrown);
      ({ code } = failure);
      throw toConnectError(failure);
    } finally {
      call.settle(code);
    }
  };
}

/**
 * Returns a handler that refuses bidirectional streams over HTTP/1.1. There, a client gets answers only after its last
 * request, so a client that waits for an answer before its next request would wait for ever.
 */
function refusedOverHttp1({ name }: DescMethod): (request: unknown, context: CallContext) => AsyncIterable<never> {
  const message = `${name} streams in both directions, which HTTP/1.1 cannot: use the gRPC port, or BatchStep`;
  const next = () => Promise.reject(new RpcError("UNIMPLEMENTED", message));
  return () => ({ [Symbol.asyncIterator]: () => ({ next }) });
}
