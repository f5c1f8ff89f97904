/** Tracks which parts of the server (e.g. a store) have a problem. Health checks report the result. */

/**
 * Parts of the server besides its stores, each with the reason that a readiness check gives while the part has a
 * problem.
 */
export const OTHER_PARTS: Readonly<Record<string, string>> = {
  keys: "its task keys differ from those of the other replicas: the log names them",
  mounts: "an environment is still being mounted: the log names it",
  pools: "a pool is older than the one that a run draws from: the log names it",
  resources: "a resource is down here, and works on another server of the store: the log names it",
};

export type Health = ReturnType<typeof createHealth>;

export function createHealth() {
  const states = new Map<string, string | undefined>();
  const callbacks: ((problem: string | undefined) => void)[] = [];
  const problem = (): string | undefined => states.values().find((found) => found !== undefined);
  return {
    /** Returns the first problem of any part. Undefined: the server is healthy. */
    problem,
    /** Returns all parts whose state was ever set, each with its problem; undefined: the part works. */
    states: (): ReadonlyMap<string, string | undefined> => states,
    /** Sets the problem of a part of the server. Undefined: the part works. */
    set: (part: string, found: string | undefined): void => {
      const wasWell = problem() === undefined;
      states.set(part, found);
      if (wasWell !== (problem() === undefined)) for (const callback of callbacks) callback(problem());
    },
    /**
     * Registers a callback for when the server becomes unhealthy, with the problem, or healthy again, with undefined.
     */
    onChange: (callback: (problem: string | undefined) => void): void => void callbacks.push(callback),
  };
}
