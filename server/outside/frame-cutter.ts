/**
 * Cuts what comes over a pipe, in pieces of any length, into frames. `lengthOf`: how long the frame is that begins here, as
 * far as it can be told yet; it throws where it is none. A large frame is put together once, when all of it is there.
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
