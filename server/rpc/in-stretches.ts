/**
 * How long the event loop is kept at a stretch before others get their turn, milliseconds. A health check takes about
 * four turns, so that it takes four times as long while something goes on in stretches.
 */
const STRETCH_MS = 3;

/** The results of `work` on each item, in order. Others get their turn every few milliseconds. */
export async function inStretches<I, O>(items: readonly I[], work: (item: I, index: number) => O): Promise<O[]> {
  const results: O[] = [];
  let stretchStart = performance.now();
  for (const [index, item] of items.entries()) {
    results.push(work(item, index));
    if (performance.now() - stretchStart < STRETCH_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    stretchStart = performance.now();
  }
  return results;
}
