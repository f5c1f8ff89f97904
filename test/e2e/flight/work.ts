/** Messages between a flight and its client processes: the work to send, and the report on it. */

/** One message of a stream. */
export interface Unit {
  readonly taskId: string;
  readonly groupId: string;
  readonly samples: readonly { readonly index: number; readonly text: string }[];
}

/** A client process: its streams, each over a connection of its own. */
export interface Work {
  readonly timeoutSeconds: number;
  readonly streams: readonly { readonly address: string; readonly units: readonly Unit[] }[];
}

/** Report of a process on its completions. */
export interface Told {
  /** Messages that failed, and why, each reason once. */
  readonly failed: number;
  readonly reasons: readonly string[];
  /**
   * Number of completions by their effect on the run: "recorded", "duplicate" and so on, or "unscored" without a
   * reward.
   */
  readonly statuses: Readonly<Record<string, number>>;
}
