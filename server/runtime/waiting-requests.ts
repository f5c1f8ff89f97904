/** Requests of this process to models that wait for a reply, so that a person who waits is told for whom. */

/** An address that owes replies. */
export interface Silence {
  /** Without its path, e.g. "http://localhost:8000". */
  readonly address: string;
  /** When its last whole reply came, or when the first request since then began, by performance.now(). */
  sinceMs: number;
  /** Requests that wait. */
  waiting: number;
  /** Milliseconds that one of them may take. */
  readonly limitMs: number;
}

const silences = new Map<string, Silence>();

/** Notes a request. Call the result at its end, with whether a whole reply came. */
export function noteRequest(address: string, limitMs: number): (replied: boolean) => void {
  const silence = silences.get(address) ?? { address, sinceMs: performance.now(), waiting: 0, limitMs };
  silences.set(address, silence);
  silence.waiting++;
  return (replied) => {
    silence.waiting--;
    if (replied) silence.sinceMs = performance.now();
    // The next request begins a silence of its own.
    if (replied && silence.waiting === 0) silences.delete(address);
  };
}

/** The address that has owed a reply for the longest; undefined: no request waits. */
export function longestSilence(): Readonly<Silence> | undefined {
  return [...silences.values()].filter(({ waiting }) => waiting > 0).sort((a, b) => a.sinceMs - b.sinceMs)[0];
}
