/** Result of a check of `gradus doctor`, and functions that make such results. */

/**
 * State of a thing that `gradus doctor` checks. "warning": it works, but not as well as possible. "missing": a server
 * would not start, or a requested feature would not work.
 */
export type State = "ok" | "warning" | "missing";

export interface Check {
  readonly name: string;
  readonly state: State;
  readonly found: string;
  /** Instruction for the user that solves the problem. */
  readonly remedy?: string;
}

const inState =
  (state: State) =>
  (name: string, found: string, remedy?: string): Check => ({ name, state, found, ...(remedy && { remedy }) });

export const ok = inState("ok");
export const warning = inState("warning");
export const missing = inState("missing");
