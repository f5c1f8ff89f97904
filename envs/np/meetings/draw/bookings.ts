/** What a schedule books, in a row of the chart: a room's, or an attendee's. */
import { hatching } from "../../../lib/picture/frame.ts";
import { fillClass, onFill } from "../../../lib/picture/style.ts";
import { path, rect, text } from "../../../lib/picture/svg.ts";
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

/** The bookings of a row as boxes that bear the meeting's number, and perhaps more where there is room. */
export function bookingShapes(
  bookings: readonly Booking[],
  y: number,
  height: number,
  x: ToPixels,
  more?: (booking: Booking) => string,
): readonly Shape[] {
  return bookings.flatMap((booking) => {
    const { meeting, start, end } = booking;
    const width = x(end) - x(start);
    const words = more === undefined ? `${meeting}` : `${meeting}: ${more(booking)}`;
    const label = width > 6.2 * words.length ? words : `${meeting}`;
    return [
      rect(x(start) + 0.5, y + 3, width - 1, height - 6, fillClass(meeting)),
      text(x(start) + width / 2, y + height / 2, onFill(meeting), label),
    ];
  });
}

/** Hatched: where two bookings overlap, where one lies outside the row's time, and each that is wrong as a whole. */
export function troubles(
  bookings: readonly Booking[],
  available: readonly Interval[],
  y: number,
  height: number,
  x: ToPixels,
  isWrong: (booking: Booking) => boolean,
): readonly Shape[] {
  const spans = bookings.flatMap((booking, i) => [
    ...(isWrong(booking) ? [booking] : outside(booking, available)),
    ...bookings.slice(0, i).flatMap((earlier) => overlap(earlier, booking)),
  ]);
  return spans.map(({ start, end }) => path(hatching(x(start), y + 1, x(end) - x(start), height - 2), "gd-hatch"));
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
