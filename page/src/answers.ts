/** Sends the requests of views to the server, repeats them to refresh lists, and tracks which are running or failed. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Gradus, gradus, lostSince, noteFailure, returns } from "./connection.ts";

export interface Answer<T> {
  /**
   * Result of the request. Undefined before the first one. The previous result stays while a new request is running or
   * has failed.
   */
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly waiting: boolean;
  readonly again: () => void;
}

interface Known<T> {
  readonly value?: T;
  readonly error?: Error;
  /** Object that identifies the request to which this result belongs. */
  readonly of?: object;
}

export type Ask<T> = (gradus: Gradus, options: { readonly signal: AbortSignal }) => Promise<T>;

/** Time between two refreshes of a visible list, in milliseconds. */
export const LIST_MS = 5_000;

export interface Refreshing {
  /** Milliseconds between a result and the next request. Undefined: the request is sent once. */
  readonly everyMs: number | undefined;
  /**
   * Returns true to prevent refreshes, e.g. while the reader has scrolled down and a refresh would make the list jump.
   */
  readonly holds?: () => boolean;
}

const once: Refreshing = { everyMs: undefined };

/**
 * Sends a request for a view. Repeats it when an input changes, when the server is reachable again, or when a token is
 * given.
 *
 * With `everyMs`, also repeats it at intervals while the page is visible. If `ask` is undefined, nothing is sent.
 */
export function useAnswer<T>(
  ask: Ask<T> | undefined,
  inputs: readonly unknown[],
  { everyMs, holds = () => false }: Refreshing = once,
): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({});
  const [times, setTimes] = useState(0);
  const client = gradus.value;
  // Object that identifies the request. It is replaced whenever the request must be sent again.
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
    // This is true as soon as an input changes, even before the new request is sent.
    waiting: ask !== undefined && known.of !== question,
    again: () => setTimes((count) => count + 1),
  };
}

/** Sends the request once, then at an interval while the page is visible and `holds` returns false. */
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
