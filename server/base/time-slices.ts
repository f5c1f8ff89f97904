/** Splits long work on the event loop into stretches, between which other work can run. */

/**
 * Maximum time of one stretch of long work, in milliseconds. A health check takes about four turns of the event loop,
 * and a NextBatch some more. Long work lengthens each of these turns by up to one stretch.
 */
export const STRETCH_MS = 1;

const waiting: (() => void)[] = [];

/**
 * Resolves when the caller may run its next stretch. Each round of the event loop lets one caller run, so the stretches
 * of several callers do not add up.
 */
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
 * Returns the results of `work` on each item, in order. Work on one item must take no longer than a stretch. If `work`
 * returns promises, they are not awaited here; a promise that rejects before its caller awaits it does not end the
 * process.
 */
export async function mapInSlices<I, O>(items: readonly I[], work: (item: I, index: number) => O): Promise<O[]> {
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

/** Returns a function that does pieces of work in order, for at most one stretch in each round of the event loop. */
export function createSliced(): (work: () => void) => void {
  const works: (() => void)[] = [];
  const round = (): void => {
    const until = performance.now() + STRETCH_MS;
    do works.shift()?.();
    while (works.length > 0 && performance.now() < until);
    if (works.length > 0) setImmediate(round);
  };
  return (work) => {
    works.push(work);
    if (works.length === 1) setImmediate(round);
  };
}
