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
