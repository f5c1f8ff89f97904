/** Writes a handler's answers to a grpc-js stream, no faster than the caller reads them. */
import type { Writable } from "node:stream";
import type { Call } from "../call.ts";

/** Written and not yet taken by HTTP/2: beyond this the handler waits. */
const pendingBytesMax = 1024 ** 2;

/** Resolves when all answers are written, or the caller is gone. `write` turns an answer into bytes. */
export async function writeAnswers<O>(
  stream: Writable,
  answers: AsyncIterable<O>,
  call: Call,
  write: (answer: O) => Buffer,
): Promise<void> {
  let pendingBytes = 0;
  let wake: (() => void) | undefined;
  const drained = () => wake?.();
  call.signal.addEventListener("abort", drained);
  for await (const answer of answers) {
    if (call.abortReason !== undefined || call.late) return;
    const bytes = write(answer);
    pendingBytes += bytes.length;
    const written = () => {
      pendingBytes -= bytes.length;
      if (pendingBytes === 0) drained();
    };
    const room = stream.write(bytes, written) && pendingBytes <= pendingBytesMax;
    if (!room && pendingBytes > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
}
