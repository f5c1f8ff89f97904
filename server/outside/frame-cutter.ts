/**
 * Returns a function that cuts the chunks of a byte stream into messages (frames). `lengthOf` returns the length of the
 * first frame from its first bytes, or throws if they are invalid.
 *
 * Chunks of a large frame are joined only once, when all have arrived.
 */
export function frameCutter(
  lengthOf: (start: Buffer) => number,
  onFrame: (frame: Buffer) => void,
): (chunk: Buffer) => void {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let wanted = 1;
  return (chunk) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) return;
    let rest = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    for (;;) {
      wanted = lengthOf(rest);
      if (rest.length < wanted) break;
      onFrame(rest.subarray(0, wanted));
      rest = rest.subarray(wanted);
    }
    waiting = rest.length === 0 ? [] : [rest];
    bytes = rest.length;
  };
}
