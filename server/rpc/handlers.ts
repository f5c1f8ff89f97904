/** What a service is to the transports: typed functions that know of no wire. */
import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Logger } from "../logging.ts";

export { RpcError } from "./rpc-error.ts";
export type { CodeName, RpcErrorOptions } from "./rpc-error.ts";

/** One call, as its handler sees it. */
export interface CallContext {
  /** Aborted when the caller is gone, its deadline has passed, or a shutdown has run out of patience. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the server begins to shut down. A stream that has no end of its own must end then; a bidirectional
   * stream need not look, for its requests end by themselves once they fall silent.
   */
  readonly draining: AbortSignal;
  /** From the caller's `x-request-id`, or made here. */
  readonly requestId: string;
  /** Writes the request id in each line. */
  readonly log: Logger;
  /** The caller's address, for logs. */
  readonly peer: string;
  /** When the caller gives up, milliseconds since the epoch; undefined: never. */
  readonly deadlineMs: number | undefined;
}

/** May answer at once, which costs less than a promise does. */
export type UnaryHandler<I, O> = (request: I, context: CallContext) => O | Promise<O>;
export type ServerStreamHandler<I, O> = (request: I, context: CallContext) => AsyncIterable<O>;
/** Requests are read no faster than the handler asks for them. */
export type BidiHandler<I, O> = (requests: AsyncIterable<I>, context: CallContext) => AsyncIterable<O>;

export type HandlerOf<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? UnaryHandler<MessageShape<I>, MessageShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? ServerStreamHandler<MessageShape<I>, MessageShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? BidiHandler<MessageShape<I>, MessageShape<O>>
        : never;

/** A service's handlers by the methods' local names. A method left out answers UNIMPLEMENTED. */
export type ServiceHandlers<S extends DescService> = {
  readonly [K in keyof S["method"]]?: HandlerOf<S["method"][K]>;
};

/** A service with its handlers, their types forgotten: what the transports take. */
export interface Registration {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, unknown>>;
}

/** Pairs a service with handlers of its types. */
export function register<S extends DescService>(service: S, handlers: ServiceHandlers<S>): Registration {
  return { service, handlers };
}
