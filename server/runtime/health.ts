/** Whether the server can do its work: what health checks tell. */

export type Health = ReturnType<typeof createHealth>;

export function createHealth() {
  const states = new Map<string, string | undefined>();
  const callbacks: ((problem: string | undefined) => void)[] = [];
  const problem = (): string | undefined => states.values().find((found) => found !== undefined);
  return {
    /** The first of the problems there are. */
    problem,
    /** Each part that was ever spoken of, with what is wrong with it. */
    states: (): ReadonlyMap<string, string | undefined> => states,
    /** Says what is wrong with a part of the server; undefined: nothing any more. */
    set: (part: string, found: string | undefined): void => {
      const wasWell = problem() === undefined;
      states.set(part, found);
      if (wasWell !== (problem() === undefined)) for (const callback of callbacks) callback(problem());
    },
    /** Calls back whenever the server becomes well or unwell. */
    onChange: (callback: (problem: string | undefined) => void): void => void callbacks.push(callback),
  };
}
