/** Independent exact methods on meeting scheduling, to check the solver against. */
import type { MeetingsInstance } from "../../../../envs/np/meetings/generate.ts";

interface Place {
  readonly room: number;
  readonly start: number;
  readonly end: number;
}

/** All places in which a meeting could be held if it were alone, with starts that are multiples of a step. */
function placesOf({ meetings, availability, rooms }: MeetingsInstance, meeting: number, step: number): Place[] {
  const { attendees, minutes } = meetings[meeting]!;
  const places: Place[] = [];
  for (let start = 0; start + minutes <= 24 * 60; start += step) {
    const end = start + minutes;
    const all = attendees.every((a) => availability[a]!.some((free) => free.start <= start && end <= free.end));
    if (!all) continue;
    for (const [room, seats] of rooms.entries()) if (seats >= attendees.length) places.push({ room, start, end });
  }
  return places;
}

/**
 * The most that can attend: meeting by meeting, in every place or in none. Starts are multiples of a step of which all times are multiples, for then one of the best schedules has such starts.
 */
export function mostAttended(instance: MeetingsInstance, step: number): number {
  const { meetings } = instance;
  const sizes = meetings.map(({ attendees }) => attendees.length);
  const places = meetings.map((_, meeting) => placesOf(instance, meeting, step));
  const order = [...meetings.keys()].sort((a, b) => sizes[b]! - sizes[a]! || places[a]!.length - places[b]!.length);
  const taken: (Place & { readonly meeting: number })[] = [];
  const clashes = (meeting: number, { room, start, end }: Place): boolean =>
    taken.some(
      (other) =>
        start < other.end &&
        other.start < end &&
        (room === other.room ||
          meetings[other.meeting]!.attendees.some((a) => meetings[meeting]!.attendees.includes(a))),
    );
  let best = 0;
  const extend = (at: number, value: number): void => {
    best = Math.max(best, value);
    // Only meetings that still fit alone can follow.
    const open = order.slice(at).filter((meeting) => places[meeting]!.some((place) => !clashes(meeting, place)));
    if (value + open.reduce((sum, meeting) => sum + sizes[meeting]!, 0) <= best) return;
    const meeting = order[at]!;
    for (const place of places[meeting]!) {
      if (clashes(meeting, place)) continue;
      taken.push({ ...place, meeting });
      extend(at + 1, value + sizes[meeting]!);
      taken.pop();
    }
    extend(at + 1, value);
  };
  extend(0, 0);
  return best;
}
