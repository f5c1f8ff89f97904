/** Whether the server can do its work: what health checks tell. */

export interface Health {
  /** Says what is wrong with a part of the server; undefined: nothing any more. */
  set(part: string, problem: string | undefined): void;
  /** The first of the problems there are. */
  problem(): string | undefined;
  /** Calls back whenever the server becomes well or unwell. */
  onChange(callback: (problem: string | undefined) => void): void;
}

export function createHealth(): Health {
  const problems = new Map<string, string>();
  const callbacks: ((problem: string | undefined) => void)[] = [];
  const problem = (): string | undefined => problems.values().next().value;
  return {
    problem,
    set: (part, found) => {
      const wasWell = problems.size === 0;
      if (found === undefined) problems.delete(part);
      else problems.set(part, found);
      if (wasWell !== (problems.size === 0)) for (const callback of callbacks) callback(problem());
    },
    onChange: (callback) => void callbacks.push(callback),
  };
}
