/** What comes back of a request over HTTP: its body, no more of it than there may be, and what is said where there is none. */

/** The whole body. `what` names it where it is too long. */
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

/** Of a lost connection the innermost cause says the most. */
export function wordsOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  const { message = "", code = "" } = innermost as { readonly message?: string; readonly code?: string };
  return message === "" ? String(code) : message;
}
