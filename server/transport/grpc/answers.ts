/** Writes a handler's answers to a grpc-js stream, no faster than the caller reads them. */
import type { Writable } from "node:stream";
import type { Call } from "../call.ts";

/** Written and not yet taken by HTTP/2: beyond this the handler waits. */
const unsentBytesMax = 1024 ** 2;

/** Resolves when all answers are written, or the caller is gone. `write` turns an answer into bytes. */
export async function writeAnswers<O>(
  stream: Writable,
  answers: AsyncIterable<O>,
  call: Call,
  write: (answer: O) => Buffer,
): Promise<void> {
  let wake: (() => void) | undefined;
  const drained = () => wake?.();
  call.signal.addEventListener("abort", drained);
  for await (const answer of answers) {
    if (call.abortReason !== undefined || call.late) return;
    const bytes = write(answer);
    call.unsentBytes += bytes.length;
    const written = () => {
      call.unsentBytes -= bytes.length;
      if (call.unsentBytes === 0) drained();
    };
    const room = stream.write(bytes, written) && call.unsentBytes <= unsentBytesMax;
    if (!room && call.unsentBytes > 0) await new Promise<void>((resolve) => (wake = resolve));
  }
}
