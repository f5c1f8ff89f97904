/** Ends sessions that are idle, or whose place another caller needs. A session is a socket, or was made over /mcp. */
import type { SessionPlace, SessionPlaces } from "../session-places.ts";

/**
 * Time without a request after which the server ends a session, in milliseconds. It is an hour, because a trainer may
 * send nothing while it updates its model.
 */
const IDLE_MS = 60 * 60 * 1000;

export const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;
const MADE_ROOM = "the session was closed to make room for another, because it had been idle longest";
const WAS_IDLE = "the session was closed after an hour without a message";

/**
 * Place of one session among the limited number of sessions that all callers together may have open. A timer ends the
 * session after IDLE_MS without a request.
 */
export interface Seat {
  /** Caller who owns the session: the name of its token, or without a token its IP address. */
  readonly caller: string;
  /** Closes the session's socket with a WebSocket close code. Does nothing if no socket is attached to the session. */
  closeSocket: (code: number, reason: string) => void;
  /** Counts a request of the session as begun. */
  begin(): void;
  /** Counts a request of the session as answered. */
  finish(): void;
  leave(): void;
}

/** Takes a place for a session. Undefined: all places are taken. `left` is called when the session ends. */
export function takeSeat(places: SessionPlaces, caller: string, left: () => void = () => undefined): Seat | undefined {
  let running = 0;
  const end = (code: number, reason: string): void => {
    leave();
    seat.closeSocket(code, reason);
  };
  const place: SessionPlace = {
    caller,
    idleSinceMs: performance.now(),
    giveUp: () => end(TRY_AGAIN_LATER, MADE_ROOM),
  };
  if (!places.enter(place)) return undefined;
  const idle = setTimeout(() => end(GOING_AWAY, WAS_IDLE), IDLE_MS).unref();
  const leave = (): void => {
    clearTimeout(idle);
    places.leave(place);
    left();
  };
  const seat: Seat = {
    caller,
    closeSocket: () => undefined,
    begin: () => {
      running++;
      idle.refresh();
      place.idleSinceMs = undefined;
    },
    finish: () => {
      if (--running === 0) place.idleSinceMs = performance.now();
    },
    leave,
  };
  return seat;
}
