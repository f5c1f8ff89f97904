/** What a view asks of the server, and what of it is here. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Gradus, gradus, lostSince, noteFailure, returns } from "./session.ts";

export interface Answer<T> {
  /** Undefined: not yet here. While another is on its way, or could not be had, the one before. */
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly waiting: boolean;
  readonly again: () => void;
}

interface Known<T> {
  readonly value?: T;
  readonly error?: Error;
  /** What this is the answer to. */
  readonly of?: object;
}

export type Ask<T> = (gradus: Gradus, options: { readonly signal: AbortSignal }) => Promise<T>;

/** How often a list asks for what is new while it is looked at. */
export const LIST_MS = 5_000;

export interface Refreshing {
  /** Milliseconds between an answer and the next question; undefined: it is asked once. */
  readonly everyMs: number | undefined;
  /** True: the reader has moved on in the list, which would jump under them. */
  readonly holds?: () => boolean;
}

const once: Refreshing = { everyMs: undefined };

/**
 * Asks, and again whenever an input changes, the server comes back or a token is given; with `refreshing` every so often
 * as well, while the page is visible. Undefined: there is nothing to ask.
 */
export function useAnswer<T>(
  ask: Ask<T> | undefined,
  inputs: readonly unknown[],
  { everyMs, holds = () => false }: Refreshing = once,
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({});
  const [times, setTimes] = useState(0);
  const client = gradus.value;
  // What is asked is fixed by the inputs: as long as they stay, so does this.
  const question = useMemo(() => ({}), [...inputs, client, returns.value, times, ask === undefined]);
  const holding = useRef(holds);
  holding.current = holds;
  useEffect(() => {
    if (ask === undefined) {
      setKnown({ of: question });
      return undefined;
    }
    const leaving = new AbortController();
    const { signal } = leaving;
    const asked = async (isAgain: boolean) => {
      try {
        const value = await ask(client, { signal });
        if (!signal.aborted && !(isAgain && holding.current())) setKnown({ value, of: question });
      } catch (thrown) {
        if (signal.aborted) return;
        const error = noteFailure(thrown);
        setKnown((before) => ({ ...before, error, of: question }));
      }
    };
    void keepAsking(asked, signal, everyMs, () => holding.current());
    return () => leaving.abort();
  }, [question]);
  return {
    value: known.value,
    error: known.error,
    // From the moment on that an input is another, and not only once the question has gone out.
    waiting: ask !== undefined && known.of !== question,
    again: () => setTimes((count) => count + 1),
  };
}

/** Asks once, and then every so often while the page is visible and the reader is not held up by it. */
async function keepAsking(
  ask: (isAgain: boolean) => Promise<void>,
  signal: AbortSignal,
  everyMs: number | undefined,
  holds: () => boolean,
): Promise<void> {
  await ask(false);
  while (everyMs !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, everyMs));
    if (signal.aborted) return;
    if (!document.hidden && lostSince.peek() === undefined && !holds()) await ask(true);
  }
}
