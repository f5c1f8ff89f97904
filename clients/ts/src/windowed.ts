/** Processes a stream of items, with a bounded number of them at a time. */
import { abortedError } from "./errors.ts";

export type Items<T> = Iterable<T> | AsyncIterable<T>;

function iterate<T>(items: Items<T>): Iterator<T> | AsyncIterator<T> {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
}

/** Returns a wake-up signal that can be used again. A waiter must check the state again after each wake-up. */
function bell(): { readonly ring: () => void; readonly rung: () => Promise<void> } {
  let ring = (): void => undefined;
  let rung = new Promise<void>((resolve) => (ring = resolve));
  return {
    ring: () => ring(),
    rung: async () => {
      await rung;
      rung = new Promise((resolve) => (ring = resolve));
    },
  };
}

/**
 * Yields the results of `work` as they arrive, in any order. At most `window` items are in work or wait to be read, so
 * a slow reader or a slow server slows the source down. Throws the first error of the source, of `work`, or of the
 * signal. The caller must then stop the remaining work.
 */
export async function* windowed<Item, Result extends object>(
  items: Items<Item>,
  window: number,
  work: (item: Item, index: number) => Promise<Result>,
  signal?: AbortSignal,
): AsyncGenerator<Result, void, undefined> {
  const source = iterate(items);
  const results: Result[] = [];
  const { ring, rung } = bell();
  const state = { taken: 0, working: 0, taking: false, exhausted: false, errors: [] as unknown[] };
  const fail = (error: unknown): void => {
    state.errors.push(error);
    ring();
  };
  const start = async (item: Item): Promise<void> => {
    state.working++;
    results.push(await work(item, state.taken++));
    state.working--;
    take();
    ring();
  };
  const take = (): void => {
    if (state.taking || state.exhausted || state.errors.length > 0 || state.working + results.length >= window) return;
    state.taking = true;
    void takeOne().catch(fail);
  };
  const takeOne = async (): Promise<void> => {
    const next = await source.next();
    state.taking = false;
    if (next.done === true) state.exhausted = true;
    else start(next.value).catch(fail);
    take();
    ring();
  };
  const abort = (): void => fail(abortedError(signal as AbortSignal));
  if (signal?.aborted) throw abortedError(signal);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      if (state.errors.length > 0) throw state.errors[0];
      const result = results.shift();
      take();
      if (result !== undefined) yield result;
      else if (state.exhausted && state.working === 0 && results.length === 0) return;
      else await rung();
    }
  } finally {
    state.exhausted = true;
    signal?.removeEventListener("abort", abort);
    // Do not wait for the source to return, because a generator in the middle of a wait answers only after that wait.
    void Promise.resolve(source.return?.()).catch(() => undefined);
  }
}
