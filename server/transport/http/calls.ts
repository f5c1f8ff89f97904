/** Our handlers as connect-node takes them. */
import type { DescMethod, Message } from "@bufbuild/protobuf";
import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HeldBytes } from "../admission.ts";
import { Call, type Host } from "../call.ts";
import { toConnectError } from "../errors.ts";
import {
  type CallContext,
  type CodeName,
  RpcError,
  type ServerStreamHandler,
  type UnaryHandler,
  unimplemented,
  unimplementedStream,
} from "../rpc.ts";

// One HTTP request with its response: what Node leaves to us at its ends.

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What a connection has read and written in the exchanges before. */
const measured = new WeakMap<Socket, { readonly read: number; readonly written: number }>();

/**
 * The call closes with the response. How much went over the wire, headers included, is known then, for HTTP/1.1 has one
 * exchange at a time on a connection. Connect aborts the signal at a deadline, and at the end of every call.
 */
function follow(call: Call, { request, response }: Exchange, signal: AbortSignal): void {
  const { socket } = request;
  response.once("close", () => {
    const before = measured.get(socket) ?? { read: 0, written: 0 };
    const { bytesRead: read, bytesWritten: written } = socket;
    measured.set(socket, { read, written });
    call.bytesIn = read - before.read;
    call.bytesOut = written - before.written;
    call.close();
  });
  if (signal.aborted) call.giveUp();
  else signal.addEventListener("abort", () => call.giveUp(), { once: true });
}

/** How long a request that was refused early may go on, so that its sender gets to read why. */
const lingerMs = 2000;

/**
 * The request's body. To stop reading it does not destroy the connection, as it does with Node's own iterator: a client
 * that is still sending would never see the answer. What is left of the body is read and dropped for a while.
 */
export function bodyOf({ request, response }: Exchange, held: HeldBytes): AsyncIterable<Uint8Array> {
  response.once("finish", () => {
    if (request.complete) return;
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    request.once("close", () => clearTimeout(timer));
  });
  const iterator = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined>;
  return { [Symbol.asyncIterator]: () => boundedBy(held, iterator, response) };
}

/** A body that counts among what open calls hold until it is whole, and fails when the call must let go of it. */
function boundedBy(
  held: HeldBytes,
  body: AsyncIterator<Uint8Array, undefined>,
  response: ServerResponse,
): AsyncIterator<Uint8Array, undefined> {
  let receivedBytes = 0;
  let fail: (error: Error) => void = () => undefined;
  const failure = new Promise<never>((_, reject) => (fail = reject));
  failure.catch(() => undefined);
  const place = held.add({
    get heldBytes() {
      return receivedBytes + response.writableLength;
    },
    refuse: (error) => {
      receivedBytes = 0;
      if (response.headersSent) response.destroy();
      else fail(toConnectError(error));
    },
  });
  response.once("close", () => held.remove(place));
  return {
    next: async () => {
      const piece = await Promise.race([body.next(), failure]);
      receivedBytes = piece.done === true ? 0 : receivedBytes + piece.value.length;
      return piece;
    },
    return: async () => (await body.return?.()) ?? { done: true, value: undefined },
  };
}

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
