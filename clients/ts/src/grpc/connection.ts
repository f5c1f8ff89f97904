/** The connection of a client: made when it is first used, and left where it may have died without a word. */
import type { Client } from "@grpc/grpc-js";
import type { GradusError } from "../errors.ts";

export interface Connection {
  readonly client: () => Client;
  /** A reply came. */
  readonly heard: () => void;
  /**
   * A call failed that began then, by performance.now(). One that ran out of time while no server said a word leaves its
   * connection: the next call has another, and those that are on the old one go on. Gives whether it was left.
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
