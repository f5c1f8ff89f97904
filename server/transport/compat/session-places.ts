/**
 * Limits the number of OpenEnv sessions, and shares them fairly among callers. Below SESSIONS_MAX, a caller
 * may have any number of sessions.
 */

/** Maximum number of open sessions. */
const SESSIONS_MAX = 4096;
/**
 * Time without a request, in milliseconds, after which a session may be ended to make room for a new one. It applies
 * only while SESSIONS_MAX sessions are open.
 */
const IDLE_MS_WHEN_FULL = 60_000;

export interface SessionPlace {
  /** Caller who owns the session: the name of its token, or without a token its IP address. */
  readonly caller: string;
  /** Time, by performance.now(), of the last answer. Undefined: the session is answering a request now. */
  idleSinceMs: number | undefined;
  /** Ends the session, so that another one can be opened. */
  giveUp: () => void;
}

export interface SessionPlaces {
  /**
   * Counts a session as open. If SESSIONS_MAX are already open, ends one of them first, or returns false if none may be
   * ended.
   */
  enter(place: SessionPlace): boolean;
  leave(place: SessionPlace): void;
}

export function createPlaces(max = SESSIONS_MAX): SessionPlaces {
  const taken = new Set<SessionPlace>();

  /**
   * Returns the session to end, so that this caller can open a new session. If the caller with the most sessions has at
   * least two more than this caller, its session that has been idle longest is returned. Otherwise it is the longest
   * idle session of all callers, if that has been idle for IDLE_MS_WHEN_FULL.
   */
  const excess = (caller: string): SessionPlace | undefined => {
    const callers = [...Map.groupBy(taken, (place) => place.caller).values()];
    const own = callers.find(([first]) => first?.caller === caller)?.length ?? 0;
    const most = callers.reduce((a, b) => (b.length > a.length ? b : a));
    if (most.length > own + 1) return longestIdle(most, Infinity);
    return longestIdle([...taken], performance.now() - IDLE_MS_WHEN_FULL);
  };
  return {
    enter(place) {
      if (taken.size >= max) {
        const given = excess(place.caller);
        if (given === undefined) return false;
        taken.delete(given);
        given.giveUp();
      }
      taken.add(place);
      return true;
    },
    leave: (place) => void taken.delete(place),
  };
}

/** Returns the session that has been idle for longest, if it has been idle since before `beforeMs`. */
function longestIdle(places: readonly SessionPlace[], beforeMs: number): SessionPlace | undefined {
  const since = ({ idleSinceMs = Infinity }: SessionPlace): number => idleSinceMs;
  const longest = places.reduce((a, b) => (since(b) < since(a) ? b : a));
  return since(longest) < beforeMs ? longest : undefined;
}
