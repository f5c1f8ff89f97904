/** Interface of a transport, by which the client calls a server: gRPC in Node, or Connect in browsers. */
import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CompletionGroup } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { GroupOutcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";

/** Options of one attempt of a call. */
export interface Attempt {
  /** Timeout in milliseconds. Defaults to none. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Channel that scores groups of completions. Requests may run concurrently. Every failure is a GradusError. */
export interface StepChannel {
  /** Returns the outcome of each group, in the order of the groups. */
  request(groups: readonly CompletionGroup[], attempt: Attempt): Promise<readonly GroupOutcome[]>;
  /** Tells the channel that no more requests follow. Outstanding replies still arrive. */
  end(): void;
  /** Cancels the requests that have no reply yet. */
  cancel(): void;
}

/** Sends calls to one server and returns its replies. Every failure is a GradusError. */
export interface Transport {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageShape<I>,
    attempt: Attempt,
  ): Promise<MessageShape<O>>;
  serverStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageShape<I>,
    attempt: Attempt,
  ): AsyncIterable<MessageShape<O>>;
  /**
   * Opens a channel that scores groups over one StreamSteps call. If unset, the client makes BatchStep calls instead.
   */
  openSteps?(): StepChannel;
  close(): void;
}
