/** What gradus doctor says of one thing. */

/** "warning": it works, and less than it could. "missing": a server does not start, or what was asked for does not work. */
export type State = "ok" | "warning" | "missing";

export interface Check {
  readonly name: string;
  readonly state: State;
  readonly found: string;
  /** How to get what is missing. */
  readonly remedy?: string;
}
