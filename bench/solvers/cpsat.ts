/** OR-Tools CP-SAT in a Python process of its own: the scripts in cpsat/, a line in and a line out for each instance. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface Theirs {
  /** null: not proven within the limit. */
  readonly value: number | null;
  /** Of the search alone, without making the model: what it says itself, or its CPU time if that is less. */
  readonly seconds: number;
}

export interface CpSat {
  solve(instance: unknown): Promise<Theirs>;
  stop(): void;
}

/** Starts the script of an environment, which gives up on an instance after so many seconds; unset: never. */
export function startCpSat(python: string, environment: string, limit: string | undefined): CpSat {
  const script = new URL(`cpsat/${environment.replace("np/", "")}.py`, import.meta.url).pathname;
  const run = spawn(python, limit === undefined ? [script] : [script, limit], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: run.stdout })[Symbol.asyncIterator]();
  return {
    async solve(instance) {
      run.stdin.write(`${JSON.stringify(instance)}\n`);
      const line = await lines.next();
      if (line.done === true) throw new Error(`${script} ended`);
      return JSON.parse(line.value) as Theirs;
    },
    stop: () => void run.stdin.end(),
  };
}
