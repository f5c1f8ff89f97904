/** Reads the body of an HTTP reply up to a maximum size, and describes errors of requests. */

/**
 * Returns the whole body of a reply. Throws if the body has more than `bytesMax` bytes. The error's text calls the
 * reply `what`, e.g. "the reply".
 */
export async function readBounded(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
  what: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > bytesMax) throw new Error(`${what} has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * Returns the message of the innermost cause of an error. For a lost connection, that message says most. If the message
 * is empty, returns the error's code.
 */
export function wordsOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  const { message = "", code = "" } = innermost as { readonly message?: string; readonly code?: string };
  return message === "" ? String(code) : message;
}
