/**
 * Works on up to `limit` inputs at once and yields results as they are ready. Pulls no input it cannot begin. Work that
 * steps aside does not count until it has ended: it waits for something that has limits of its own.
 */
export async function* mapConcurrently<I, O>(
  inputs: AsyncIterable<I>,
  limit: number,
  work: (input: I, stepAside: () => void) => Promise<O>,
): AsyncGenerator<O> {
  const iterator = inputs[Symbol.asyncIterator]();
  const ready: O[] = [];
  let failure: { readonly error: unknown } | undefined;
  let ended = false;
  let pulling = false;
  /** Begun and not yielded; and of these, those that count. */
  let begun = 0;
  let counted = 0;
  let wake = (): void => undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const start = (input: I): void => {
    let counts = true;
    begun++;
    counted++;
    const stepAside = (): void => {
      if (counts) counted--;
      counts = false;
      wake();
    };
    work(input, stepAside).then((value) => {
      if (!counts) counted++;
      counts = true;
      ready.push(value);
      wake();
    }, fail);
  };
  const pull = (): void => {
    pulling = true;
    iterator.next().then((next) => {
      pulling = false;
      if (next.done === true) ended = true;
      else start(next.value);
      wake();
    }, fail);
  };
  try {
    while (!ended || begun > 0) {
      if (failure !== undefined) throw failure.error;
      if (!ended && !pulling && counted < limit) pull();
      if (ready.length > 0) {
        begun--;
        counted--;
        yield ready.shift() as O;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    // Not awaited: an input may be on its way, and it may never come.
    void iterator.return?.();
  }
}

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
