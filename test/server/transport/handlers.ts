/** Handlers that tests put behind the transports. */
import { ConnectError } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import { StepResponseSchema, StreamStepsResponseSchema } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type { StepRequest, StreamStepsRequest } from "../../../proto/gen/gradus/v1/environment_pb.js";

/** Answers a step with its own sample_index. */
export function echo({ sampleIndex }: StepRequest) {
  return create(StepResponseSchema, { outcome: { sampleIndex } });
}

/** Answers each request of a stream with its request_id. */
export async function* echoAll(requests: AsyncIterable<StreamStepsRequest>) {
  for await (const { requestId } of requests) yield create(StreamStepsResponseSchema, { requestId });
}

/** Returns a promise, and the function that resolves it. */
export function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Requests of a stream with ids 0, 1, …; `before` is awaited before each. */
export async function* requestsOf(count: number, before: (index: number) => Promise<void> = async () => undefined) {
  for (let index = 0; index < count; index += 1) {
    await before(index);
    yield { requestId: String(index) };
  }
}

/** Returns the request ids of answers, in the order in which they came. */
export async function idsOf(answers: AsyncIterable<{ readonly requestId: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { requestId } of answers) ids.push(requestId);
  return ids;
}

/** Returns the error of a call that is expected to fail, for its catch. */
export function failureOf(reason: unknown): ConnectError {
  return ConnectError.from(reason);
}
