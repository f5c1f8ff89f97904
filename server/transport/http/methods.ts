/** Our handlers as connect-node takes them. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { createContextKey } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";
import { Call } from "../call.ts";
import type { Host } from "../call.ts";
import type { CallContext, ServerStreamHandler, UnaryHandler } from "../../rpc/handlers.ts";
import { toConnectError } from "./connect-error.ts";
import { follow } from "./exchange.ts";
import type { Exchange } from "./exchange.ts";
import { RpcError } from "../../rpc/rpc-error.ts";
import type { CodeName } from "../../rpc/rpc-error.ts";
import { unimplemented, unimplementedStream } from "../unimplemented.ts";

/** The HTTP exchange that a call came with. */
export const exchangeKey = createContextKey<Exchange | undefined>(undefined);

/** A handler as connect-node's router takes it. */
export type Implementation = (request: never, context: HandlerContext) => unknown;

export function implementationOf(host: Host, method: DescMethod, handler: unknown): Implementation {
  const begin = beginner(host, method);
  switch (method.methodKind) {
    case "unary":
      return unaryCalls(begin, (handler ?? unimplemented(method)) as UnaryHandler<Message, Message>);
    case "server_streaming":
      return streamCalls(begin, (handler ?? unimplementedStream(method)) as ServerStreamHandler<Message, Message>);
    case "bidi_streaming":
      return streamCalls(begin, refusedOverHttp1(method));
    case "client_streaming":
      throw new Error(`${method.parent.typeName}/${method.name}: no transport serves client streams`);
  }
}

type Begin = (context: HandlerContext) => Call;

function beginner(host: Host, method: DescMethod): Begin {
  const path = `${method.parent.typeName}/${method.name}`;
  const meter = host.meter(path);
  const log = host.log.child({ method: path });
  return ({ requestHeader, timeoutMs, signal, values }) => {
    const exchange = values.get(exchangeKey);
    if (exchange === undefined) throw new Error("a call came by another way than the HTTP port's listener");
    const { socket } = exchange.request;
    const requestId = requestHeader.get("x-request-id") ?? undefined;
    const leftMs = timeoutMs();
    const deadlineMs = leftMs === undefined ? undefined : Date.now() + leftMs;
    const caller = { peer: `${socket.remoteAddress}:${socket.remotePort}`, endedBy: "CANCELLED" } as const;
    const call = new Call({ host, meter, log, requestId, deadlineMs, caller });
    follow(call, exchange, signal);
    return call;
  };
}

function unaryCalls(begin: Begin, handler: UnaryHandler<Message, Message>): Implementation {
  return async (request: Message, context: HandlerContext) => {
    const call = enter(begin, context);
    try {
      const answer = await handler(request, call);
      call.settle("OK");
      return answer;
    } catch (thrown) {
      const failure = call.failure(thrown);
      call.settle(failure.code);
      throw toConnectError(failure);
    }
  };
}

function streamCalls(begin: Begin, handler: ServerStreamHandler<Message, Message>): Implementation {
  return async function* (request: Message, context: HandlerContext) {
    const call = enter(begin, context);
    // Where the caller is gone, Connect returns this generator rather than throw into it.
    let code: CodeName = "CANCELLED";
    try {
      yield* handler(request, call);
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

/** Begins a call, or throws why it may not begin. */
function enter(begin: Begin, context: HandlerContext): Call {
  const call = begin(context);
  const refused = call.enter(context.requestHeader.get("authorization") ?? undefined);
  if (refused !== undefined) throw toConnectError(refused);
  return call;
}

/** HTTP/1.1 answers after the request has ended, so that a client which waits for an answer would wait for ever. */
function refusedOverHttp1({ name }: DescMethod): (request: unknown, context: CallContext) => AsyncIterable<never> {
  const message = `${name} streams in both directions, which HTTP/1.1 cannot: use the gRPC port, or BatchStep here`;
  const next = () => Promise.reject(new RpcError("UNIMPLEMENTED", message));
  return () => ({ [Symbol.asyncIterator]: () => ({ next }) });
}
