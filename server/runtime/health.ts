/** Tracks whether the server can do its work; health checks report it. */

export type Health = ReturnType<typeof createHealth>;

export function createHealth() {
  const states = new Map<string, string | undefined>();
  const callbacks: ((problem: string | undefined) => void)[] = [];
  const problem = (): string | undefined => states.values().find((found) => found !== undefined);
  return {
    /** The first problem of any part; undefined: the server is healthy. */
    problem,
    /** Each part that was ever set, with its problem. */
    states: (): ReadonlyMap<string, string | undefined> => states,
    /** Sets the problem of a part of the server; undefined: the part works. */
    set: (part: string, found: string | undefined): void => {
      const wasWell = problem() === undefined;
      states.set(part, found);
      if (wasWell !== (problem() === undefined)) for (const callback of callbacks) callback(problem());
    },
    /** Calls back whenever the server becomes healthy or unhealthy. */
    onChange: (callback: (problem: string | undefined) => void): void => void callbacks.push(callback),
  };
}
