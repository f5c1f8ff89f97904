/** What a schedule books, in a row of the chart: a room's, or an attendee's. */
import { fillClass, onFill } from "../../../lib/picture/style.ts";
import { hatching, path, rect, text } from "../../../lib/picture/svg.ts";
import type { Shape } from "../../../lib/picture/svg.ts";
import { isWithin } from "../../../lib/picture/tally.ts";
import type { Interval, Meeting, MeetingsInstance } from "../instance.ts";
import type { Schedule } from "../parse.ts";

/** A meeting that exists, in a room that exists. */
export interface Booking extends Interval {
  readonly meeting: number;
  readonly room: number;
  readonly attendees: readonly number[];
}

/** More are no schedule of any task; they would only make the picture large. */
const DRAWN_MAX = 80;

export function drawnBookings({ meetings, rooms }: MeetingsInstance, schedule: Schedule): readonly Booking[] {
  return schedule
    .filter(({ meeting, room }) => isWithin(meeting, meetings.length) && isWithin(room, rooms.length))
    .slice(0, DRAWN_MAX)
    .map(({ meeting, room, start }) => {
      const { minutes, attendees } = meetings[meeting] as Meeting;
      return { meeting, room, attendees, start, end: start + minutes };
    });
}

type ToPixels = (minutes: number) => number;

/** A row of the chart. */
export interface Row {
  readonly y: number;
  readonly height: number;
  readonly bookings: readonly Booking[];
  /** When the row's room or attendee can be had, by rising start. */
  readonly available: readonly Interval[];
  /** Of a room: how many it seats. */
  readonly seats?: number;
}

/** More bookings at once are drawn over each other. */
const LANES_MAX = 4;

/**
 * A row's bookings as boxes with the meeting's number, those at the same time one above the other. Hatched is what
 * cannot be: two at once, a time that is not available, too few seats.
 */
export function rowShapes(row: Row, x: ToPixels): { readonly shapes: readonly Shape[]; readonly hasTrouble: boolean } {
  const { y, height, bookings, seats } = row;
  const lanes = lanesOf(bookings);
  const lane = (height - 6) / Math.max(1, ...lanes.map((each) => each + 1));
  const boxes = bookings.map(({ meeting, start, end }, i) =>
    rect(x(start) + 0.5, y + 3 + (lanes[i] as number) * lane, x(end) - x(start) - 1, lane, fillClass(meeting)),
  );
  const wrong = troubles(row);
  const hatches = wrong.flatMap(({ start, end }) => hatching(x(start), y + 1, x(end) - x(start), height - 2));
  const labels = bookings.map((booking, i) => {
    const { meeting, start, end, attendees } = booking;
    const words = seats === undefined ? `${meeting}` : `${meeting}: ${attendees.length} of ${seats} seats`;
    const fits = lane >= 12 && x(end) - x(start) > 6.2 * words.length;
    const className = lane >= 12 ? onFill(meeting) : `${onFill(meeting)} gd-tiny`;
    return text(
      (x(start) + x(end)) / 2,
      y + 3 + ((lanes[i] as number) + 0.5) * lane,
      className,
      fits ? words : `${meeting}`,
    );
  });
  const hatch = hatches.length === 0 ? [] : [path(hatches, "gd-hatch")];
  return { shapes: [...boxes, ...hatch, ...labels], hasTrouble: wrong.length > 0 };
}

/** By booking: the first lane that is free all its time. */
function lanesOf(bookings: readonly Booking[]): readonly number[] {
  const lanes: number[] = [];
  for (const [i, booking] of bookings.entries()) {
    const taken = new Set(lanes.filter((_, j) => j < i && overlap(bookings[j] as Booking, booking).length > 0));
    let lane = 0;
    while (taken.has(lane) && lane < LANES_MAX - 1) lane++;
    lanes.push(lane);
  }
  return lanes;
}

/** When two bookings overlap, or one lies outside the row's time; all of each that has too few seats. By rising start. */
function troubles({ bookings, available, seats = Infinity }: Row): readonly Interval[] {
  const spans = bookings.flatMap((booking, i) => [
    ...(booking.attendees.length > seats ? [booking] : outside(booking, available)),
    ...bookings.slice(0, i).flatMap((earlier) => overlap(earlier, booking)),
  ]);
  const apart: Interval[] = [];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    const last = apart.at(-1);
    if (last === undefined || start > last.end) apart.push({ start, end });
    else apart[apart.length - 1] = { start: last.start, end: Math.max(last.end, end) };
  }
  return apart;
}

function overlap(one: Interval, other: Interval): readonly Interval[] {
  const [start, end] = [Math.max(one.start, other.start), Math.min(one.end, other.end)];
  return start < end ? [{ start, end }] : [];
}

/** The parts of a booking in none of the intervals, which rise. */
function outside(booking: Interval, available: readonly Interval[]): readonly Interval[] {
  const rest: Interval[] = [];
  let from = booking.start;
  for (const { start, end } of available) {
    if (end <= from || start >= booking.end) continue;
    if (start > from) rest.push({ start: from, end: start });
    from = Math.max(from, end);
  }
  if (from < booking.end) rest.push({ start: from, end: booking.end });
  return rest;
}
