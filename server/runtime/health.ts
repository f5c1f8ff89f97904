/** Whether the server can do its work: what health checks tell. */

export interface Health {
  /** Says what is wrong with a part of the server; undefined: nothing any more. */
  set(part: string, problem: string | undefined): void;
  /** The first of the problems there are. */
  problem(): string | undefined;
  /** Each part that was ever spoken of, with what is wrong with it. */
  states(): ReadonlyMap<string, string | undefined>;
  /** Calls back whenever the server becomes well or unwell. */
  onChange(callback: (problem: string | undefined) => void): void;
}

export function createHealth(): Health {
  const states = new Map<string, string | undefined>();
  const callbacks: ((problem: string | undefined) => void)[] = [];
  const problem = (): string | undefined => states.values().find((found) => found !== undefined);
  return {
    problem,
    states: () => states,
    set: (part, found) => {
      const wasWell = problem() === undefined;
      states.set(part, found);
      if (wasWell !== (problem() === undefined)) for (const callback of callbacks) callback(problem());
    },
    onChange: (callback) => void callbacks.push(callback),
  };
}
