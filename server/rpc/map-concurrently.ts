/**
 * Splits inputs into parts, works on up to `limit` parts at once, and yields results in the order in which they become
 * ready. Reads an input only when one of its parts can begin. A part that has called `stepAside` does not count towards
 * the limit, because it only waits for a resource with a limit of its own.
 */
export async function* mapConcurrently<I, P, O>(
  inputs: AsyncIterable<I>,
  partsOf: (input: I) => readonly P[],
  limit: number,
  work: (part: P, stepAside: () => void) => Promise<O>,
): AsyncGenerator<readonly O[]> {
  const iterator = inputs[Symbol.asyncIterator]();
  /** Parts that were read but not begun. */
  const waiting: P[] = [];
  const ready: O[] = [];
  let failure: { readonly error: unknown } | undefined;
  let ended = false;
  let pulling = false;
  /** Number of parts whose work was begun and whose results were not yielded yet. */
  let begun = 0;
  /** Number of begun parts that count towards the limit, i.e. have not called `stepAside`. */
  let counted = 0;
  let wake = (): void => undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  const start = (part: P): void => {
    let counts = true;
    begun++;
    counted++;
    const stepAside = (): void => {
      if (counts) counted--;
      counts = false;
      wake();
    };
    work(part, stepAside).then((value) => {
      if (!counts) counted++;
      counts = true;
      ready.push(value);
      wake();
    }, fail);
  };
  const pull = (): void => {
    pulling = true;
    const taken = iterator.next().then((next) => {
      pulling = false;
      if (next.done === true) ended = true;
      else waiting.push(...partsOf(next.value));
      wake();
    });
    taken.catch(fail);
  };
  try {
    while (!ended || begun > 0 || waiting.length > 0) {
      if (failure !== undefined) throw failure.error;
      const room = Math.max(0, limit - counted);
      waiting.splice(0, room).forEach(start);
      if (!ended && !pulling && counted < limit) pull();
      if (ready.length > 0) {
        const outputs = ready.splice(0);
        begun -= outputs.length;
        counted -= outputs.length;
        yield outputs;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    // `return` is not awaited, because it may wait for an input that never arrives.
    void iterator.return?.();
  }
}
