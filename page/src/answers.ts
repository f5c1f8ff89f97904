/** What a view asks of the server, and what of it is here. */
import { useEffect, useState } from "preact/hooks";
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
  readonly waiting: boolean;
}

export type Ask<T> = (gradus: Gradus, options: { readonly signal: AbortSignal }) => Promise<T>;

/** Asks, and again whenever an input changes, the server comes back or a token is given. Undefined: there is nothing to ask. */
export function useAnswer<T>(ask: Ask<T> | undefined, inputs: readonly unknown[]): Answer<T> {
  const [known, setKnown] = useState<Known<T>>({ waiting: true });
  const [asked, setAsked] = useState(0);
  const client = gradus.value;
  useEffect(() => {
    if (ask === undefined) {
      setKnown({ waiting: false });
      return undefined;
    }
    const leaving = new AbortController();
    setKnown((before) => ({ ...before, waiting: true }));
    ask(client, { signal: leaving.signal }).then(
      (value) => {
        if (!leaving.signal.aborted) setKnown({ value, waiting: false });
      },
      (thrown: unknown) => {
        if (leaving.signal.aborted) return;
        const error = noteFailure(thrown);
        setKnown((before) => ({ ...before, error, waiting: false }));
      },
    );
    return () => leaving.abort();
    // What is asked is fixed by the inputs.
  }, [...inputs, client, returns.value, asked, ask === undefined]);
  return {
    value: known.value,
    error: known.error,
    waiting: known.waiting,
    again: () => setAsked((count) => count + 1),
  };
}
