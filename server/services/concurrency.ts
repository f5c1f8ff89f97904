/** Works on up to `limit` inputs at once and yields results as they are ready. Pulls no input it cannot begin. */
export async function* mapConcurrently<I, O>(
  inputs: AsyncIterable<I>,
  limit: number,
  work: (input: I) => Promise<O>,
): AsyncGenerator<O> {
  type Settled = { readonly kind: "input"; readonly next: IteratorResult<I> } | Output;
  type Output = { readonly kind: "output"; readonly self: Promise<Settled>; readonly value: O };
  const iterator = inputs[Symbol.asyncIterator]();
  const running = new Set<Promise<Settled>>();
  const pull = (): Promise<Settled> => iterator.next().then((next) => ({ kind: "input", next }));
  const start = (input: I): void => {
    const self: Promise<Settled> = work(input).then((value) => ({ kind: "output", self, value }));
    running.add(self);
  };
  let pulling: Promise<Settled> | undefined = pull();
  try {
    while (pulling !== undefined || running.size > 0) {
      const settled = await Promise.race(
        pulling !== undefined && running.size < limit ? [...running, pulling] : running,
      );
      if (settled.kind === "output") {
        running.delete(settled.self);
        yield settled.value;
      } else if (settled.next.done === true) pulling = undefined;
      else {
        start(settled.next.value);
        pulling = pull();
      }
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
