/** Places for sessions, which callers share: while some are free a caller may have all of them. */

/** Sessions at a time. */
const SESSIONS_MAX = 4096;
/** While all places are taken, a session in which so long nothing was asked may lose its place, milliseconds. */
const IDLE_MS_WHEN_FULL = 60_000;

export interface Place {
  /** A token's name or an address. */
  readonly caller: string;
  /** When the last request was answered, by performance.now(); undefined: one is being answered. */
  idleSinceMs: number | undefined;
  /** Ends the session, because another takes its place. */
  giveUp: () => void;
}

export interface Places {
  /** False: all places are taken, and no session has to give its place up. */
  enter(place: Place): boolean;
  leave(place: Place): void;
}

export function createPlaces(max = SESSIONS_MAX): Places {
  const taken = new Set<Place>();

  /** The place that is given up for a caller: of one who has more even then, else one that is idle for long. */
  const excess = (caller: string): Place | undefined => {
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

/** The place that is idle longest, if its last request was answered before a time. */
function longestIdle(places: readonly Place[], beforeMs: number): Place | undefined {
  const since = ({ idleSinceMs = Infinity }: Place): number => idleSinceMs;
  const longest = places.reduce((a, b) => (since(b) < since(a) ? b : a));
  return since(longest) < beforeMs ? longest : undefined;
}
