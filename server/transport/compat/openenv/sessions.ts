/**
 * Keeps the sessions that clients make over /mcp. By the session's id, a client calls tools, and may attach a socket,
 * over which it resets the session. Sessions live in the memory of one process.
 */
import { randomUUID } from "node:crypto";
import { RpcError } from "../../../base/rpc.ts";
import type { SessionPlaces } from "../session-places.ts";
import type { Player } from "./play.ts";
import { type Seat, takeSeat } from "./seats.ts";

export interface McpSession {
  readonly seat: Seat;
  readonly player: Player;
  /** Whether a socket is attached. A session has at most one. */
  hasSocket: boolean;
}

export interface Sessions {
  /** Makes a session, and returns its id. Throws RpcError if all places are taken. */
  create(caller: string, player: Player): string;
  /** Returns a session of the caller. Throws RpcError (NOT_FOUND) if the caller has none with this id. */
  find(id: unknown, caller: string): McpSession;
  /** Ends all sessions. */
  close(): void;
}

export const ALL_TAKEN = "all sessions of the server are in use: try again later";

export function createSessions(places: SessionPlaces): Sessions {
  const open = new Map<unknown, McpSession>();
  return {
    create(caller, player) {
      const id = randomUUID();
      const seat = takeSeat(places, caller, () => void open.delete(id));
      if (seat === undefined) throw new RpcError("RESOURCE_EXHAUSTED", ALL_TAKEN, { retryDelayMs: 1000 });
      open.set(id, { seat, player, hasSocket: false });
      return id;
    },
    find(id, caller) {
      const session = open.get(id);
      if (session?.seat.caller === caller) return session;
      const message =
        "session_id: the server has no such session: it was closed, was idle, or the server was restarted";
      throw new RpcError("NOT_FOUND", message, { field: "session_id" });
    },
    close: () => open.forEach(({ seat }) => seat.leave()),
  };
}
