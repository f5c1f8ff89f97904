/**
 * Tracks requests of this process to models that wait for a reply, so that a waiting person is told for which model.
 */

/** An address that has not replied yet. */
export interface Silence {
  /** Without the path, for example "http://localhost:8000". */
  readonly address: string;
  /** Time, by performance.now(), of its last whole reply, or of the first request since then. */
  sinceMs: number;
  /** Number of waiting requests. */
  waiting: number;
  /** Maximum time, in milliseconds, that one of them may take. */
  readonly limitMs: number;
}

const silences = new Map<string, Silence>();

/** Records a request. Call the returned function at its end, with whether a whole reply came. */
export function noteRequest(address: string, limitMs: number): (replied: boolean) => void {
  const silence = silences.get(address) ?? { address, sinceMs: performance.now(), waiting: 0, limitMs };
  silences.set(address, silence);
  silence.waiting++;
  return (replied) => {
    silence.waiting--;
    if (replied) silence.sinceMs = performance.now();
    // The next request begins a new silence.
    if (replied && silence.waiting === 0) silences.delete(address);
  };
}

/** Returns the address that has not replied for the longest time; undefined: no request waits. */
export function longestSilence(): Readonly<Silence> | undefined {
  return [...silences.values()].filter(({ waiting }) => waiting > 0).sort((a, b) => a.sinceMs - b.sinceMs)[0];
}
