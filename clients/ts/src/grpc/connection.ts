/**
 * Connection of a client, which the first call opens. The client replaces a connection that may have died without
 * notice.
 */
import type { Client } from "@grpc/grpc-js";
import type { GradusError } from "../errors.ts";

export interface Connection {
  readonly client: () => Client;
  /** Records that a reply arrived. */
  readonly heard: () => void;
  /**
   * Records that a call failed which began at `begunAt` (performance.now()). If the call timed out and no reply arrived
   * in the meantime, the connection is replaced: the next call opens another one, and calls on the old one go on.
   * Returns whether it was replaced.
   */
  readonly failed: (used: Client, begunAt: number, error: GradusError) => boolean;
  readonly close: () => void;
}

export function connection(make: () => Client): Connection {
  let current: Client | undefined;
  let left: readonly Client[] = [];
  let heardAt = Number.NEGATIVE_INFINITY;
  return {
    client: () => (current ??= make()),
    heard: () => {
      heardAt = performance.now();
    },
    failed: (used, begunAt, { code }) => {
      if (code !== "DEADLINE_EXCEEDED" || heardAt >= begunAt || used !== current) return false;
      left = [...left, used];
      current = undefined;
      return true;
    },
    close: () => {
      for (const each of [...left, ...(current === undefined ? [] : [current])]) each.close();
      left = [];
      current = undefined;
    },
  };
}
