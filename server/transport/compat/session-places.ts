/** Divides the places for OpenEnv sessions among callers: while places are free, one caller may have all of them. */

/** Maximum number of open sessions. */
const SESSIONS_MAX = 4096;
/** If all places are taken, a session that was idle this long may lose its place, in milliseconds. */
const IDLE_MS_WHEN_FULL = 60_000;

export interface SessionPlace {
  /** The name of a token, or an address. */
  readonly caller: string;
  /** Time, by performance.now(), of the last answer; undefined: the session is answering a request now. */
  idleSinceMs: number | undefined;
  /** Ends the session, because another session takes its place. */
  giveUp: () => void;
}

export interface SessionPlaces {
  /** Returns false if all places are taken and no session has to give up its place. */
  enter(place: SessionPlace): boolean;
  leave(place: SessionPlace): void;
}

export function createPlaces(max = SESSIONS_MAX): SessionPlaces {
  const taken = new Set<SessionPlace>();

  /**
   * Returns the place to take for a caller: from a caller that has more places even then, else from a session that is
   * idle for long.
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

/** Returns the place that is idle longest, if its last request was answered before a time. */
function longestIdle(places: readonly SessionPlace[], beforeMs: number): SessionPlace | undefined {
  const since = ({ idleSinceMs = Infinity }: SessionPlace): number => idleSinceMs;
  const longest = places.reduce((a, b) => (since(b) < since(a) ? b : a));
  return since(longest) < beforeMs ? longest : undefined;
}
