/** What a view asks of the server, and what of it is here. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Gradus, gradus, noteFailure, returns } from "./session.ts";

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

/** Asks, and again whenever an input changes, the server comes back or a token is given. Undefined: there is nothing to ask. */
export function useAnswer<T>(ask: Ask<T> | undefined, inputs: readonly unknown[]): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({});
  const [times, setTimes] = useState(0);
  const client = gradus.value;
  // What is asked is fixed by the inputs: as long as they stay, so does this.
  const question = useMemo(() => ({}), [...inputs, client, returns.value, times, ask === undefined]);
  useEffect(() => {
    if (ask === undefined) {
      setKnown({ of: question });
      return undefined;
    }
    const leaving = new AbortController();
    ask(client, { signal: leaving.signal }).then(
      (value) => {
        if (!leaving.signal.aborted) setKnown({ value, of: question });
      },
      (thrown: unknown) => {
        if (leaving.signal.aborted) return;
        const error = noteFailure(thrown);
        setKnown((before) => ({ ...before, error, of: question }));
      },
    );
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
