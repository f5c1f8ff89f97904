/**
 * People with breaks in their day, meetings of some of them, and rooms of which few seat the largest meetings, so that
 * rooms bind: at the papers' counts of rooms (FORGE A.5.5) they would not.
 */
import type { Generator } from "../../environment.ts";
import type { Rng } from "../../lib/rng.ts";
import { sample } from "../../lib/sample.ts";
import { commonIntervals } from "./instance.ts";
import type { Interval, Meeting, MeetingsInstance } from "./instance.ts";

/** All times are quarters of an hour from 09:00 to 17:00. */
const QUARTER = 15;
const DAY: Interval = { start: 9 * 60, end: 17 * 60 };
const BREAK_QUARTERS = [2, 6] as const;
/** A meeting that could never be held is drawn again, so often. */
const DRAWS_MAX = 50;

export const generator: Generator<MeetingsInstance> = {
  draw(parameters, rng) {
    const own = parameters as Readonly<Record<Name, number>>;
    const meetingCount = rng.int(own.meetings_min, own.meetings_max);
    const people = rng.int(own.attendees_min, own.attendees_max);
    const availability = Array.from({ length: people }, () => drawDay(rng, rng.int(own.breaks_min, own.breaks_max)));
    const rooms = drawRooms(rng, own);
    const meetings: Meeting[] = [];
    for (let draws = 0; meetings.length < meetingCount; draws++) {
      if (draws === DRAWS_MAX * meetingCount) return undefined;
      const attendees = sample(people, drawSize(rng, own.size_max), rng);
      const minutes = QUARTER * rng.int(own.quarters_min, own.quarters_max);
      const fits = ({ start, end }: Interval): boolean => end - start >= minutes;
      if (!commonIntervals(availability, attendees).some(fits)) continue;
      meetings.push({ attendees: attendees.toSorted((a, b) => a - b), minutes });
    }
    return { meetings, availability, rooms };
  },
};

/** A working day without some breaks, which may run into each other. */
function drawDay(rng: Rng, breaks: number): readonly Interval[] {
  let day: readonly Interval[] = [DAY];
  for (let i = 0; i < breaks; i++) {
    const minutes = QUARTER * rng.int(...BREAK_QUARTERS);
    const start = DAY.start + QUARTER * rng.int(0, (DAY.end - DAY.start - minutes) / QUARTER);
    day = day.flatMap((interval) => without(interval, { start, end: start + minutes }));
  }
  return day;
}

function without({ start, end }: Interval, taken: Interval): readonly Interval[] {
  const before = { start, end: Math.min(end, taken.start) };
  const after = { start: Math.max(start, taken.end), end };
  return [before, after].filter((interval) => interval.start < interval.end);
}

/** From 2 to a largest size, those in the middle more often: small meetings fit anywhere, and large ones exclude all. */
function drawSize(rng: Rng, max: number): number {
  return Math.floor((rng.int(2, max) + rng.int(2, max)) / 2);
}

/** Seats by room: at least one seats the largest meetings, and the others from 2 to at most half as many. */
function drawRooms(rng: Rng, own: Readonly<Record<Name, number>>): readonly number[] {
  const count = rng.int(own.rooms_min, own.rooms_max);
  const large = rng.int(1, Math.min(count, own.large_rooms_max));
  const smallMax = Math.max(2, Math.floor(own.size_max / 2));
  const seats = Array.from({ length: count }, (_, room) => (room < large ? own.size_max : rng.int(2, smallMax)));
  return rng.shuffle(seats);
}

type Name =
  `${"meetings" | "attendees" | "rooms" | "quarters" | "breaks"}_${"min" | "max"}` | "large_rooms_max" | "size_max";
