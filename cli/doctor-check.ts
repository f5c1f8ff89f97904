/** Defines a check of `gradus doctor`, with functions that make one in each state. */

/**
 * "warning": it works, but with less than possible. "missing": a server does not start, or a requested feature does not
 * work.
 */
export type State = "ok" | "warning" | "missing";

export interface Check {
  readonly name: string;
  readonly state: State;
  readonly found: string;
  /** Instruction that solves the problem. */
  readonly remedy?: string;
}

const inState =
  (state: State) =>
  (name: string, found: string, remedy?: string): Check => ({ name, state, found, ...(remedy && { remedy }) });

export const ok = inState("ok");
export const warning = inState("warning");
export const missing = inState("missing");
