/** Long work on the event loop, done in stretches between which others get their turn. */

/**
 * How long the event loop is kept at a stretch, milliseconds. A health check takes about four turns, and a NextBatch a few
 * more: so many stretches longer they take while something goes on in stretches.
 */
const STRETCH_MS = 1;

const waiting: (() => void)[] = [];

/** One turn in each round of the event loop, however many callers have long work: their stretches do not add up. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/**
 * The results of `work` on each item, in order. An item must take no longer than a stretch. If `work` returns promises, the
 * caller awaits them; one that rejects before that does not end the process.
 */
export async function inStretches<I, O>(items: readonly I[], work: (item: I, index: number) => O): Promise<O[]> {
  const results: O[] = [];
  let stretchStart = performance.now();
  for (let index = 0; index < items.length; index++) {
    const result = work(items[index] as I, index);
    if (result instanceof Promise) result.catch(() => undefined);
    results.push(result);
    if (index === items.length - 1 || performance.now() - stretchStart < STRETCH_MS) continue;
    await nextTurn();
    stretchStart = performance.now();
  }
  return results;
}
