/**
 * Tracks this process's requests to models that wait for a reply, so that the CLI can show which model a user waits
 * for.
 */

/** Address of a model that has requests without a reply. */
export interface Silence {
  /** Address without the path, for example "http://localhost:8000". */
  readonly address: string;
  /** Time, by performance.now(), of the address's last complete reply. Without one, the time of the first request. */
  sinceMs: number;
  /** Number of requests that wait for a reply. */
  waiting: number;
  /** Maximum time, in milliseconds, that a request may take. */
  readonly limitMs: number;
}

const silences = new Map<string, Silence>();

/**
 * Records that a request begins. Call the returned function when it ends; `replied` says whether a complete reply came.
 */
export function noteRequest(address: string, limitMs: number): (replied: boolean) => void {
  const silence = silences.get(address) ?? { address, sinceMs: performance.now(), waiting: 0, limitMs };
  silences.set(address, silence);
  silence.waiting++;
  return (replied) => {
    silence.waiting--;
    if (replied) silence.sinceMs = performance.now();
    // The address is forgotten, so that the time counts anew from the next request.
    if (replied && silence.waiting === 0) silences.delete(address);
  };
}

/** Returns the address that has been silent for the longest time. Undefined: no request waits. */
export function longestSilence(): Readonly<Silence> | undefined {
  return [...silences.values()].filter(({ waiting }) => waiting > 0).sort((a, b) => a.sinceMs - b.sinceMs)[0];
}
