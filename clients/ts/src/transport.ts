/** What the client asks of a way to reach a server. */
import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CompletionGroup } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { GroupOutcome } from "../../../proto/gen/gradus/v1/outcome_pb.js";

/** How one attempt at a call goes. */
export interface Attempt {
  /** Milliseconds until it is given up; undefined: never. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Scores groups, one request at a time or many at once; fails with a GradusError. */
export interface StepChannel {
  /** The outcome of each group, in their order. */
  request(groups: readonly CompletionGroup[], attempt: Attempt): Promise<readonly GroupOutcome[]>;
  /** No requests follow; replies that are due still come. */
  end(): void;
  /** Gives up what has no reply yet. */
  cancel(): void;
}

/** A way to reach a server. Every failure is a GradusError. */
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
  /** Opens a channel for one stream of steps. Left out: BatchStep calls are made instead. */
  openSteps?(): StepChannel;
  close(): void;
}
