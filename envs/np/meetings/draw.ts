/** A schedule as a Gantt chart of rooms and of people, so that a person sees who or what is needed twice at once. */
import { legendOf, notesOf } from "../../lib/picture/picture.ts";
import type { Picture } from "../../lib/picture/picture.ts";
import { path, rect, segment, text } from "../../lib/picture/svg.ts";
import type { Shape } from "../../lib/picture/svg.ts";
import { isWithin, noteOf } from "../../lib/picture/tally.ts";
import { clockTime } from "./clock.ts";
import { drawnBookings, rowShapes } from "./draw/bookings.ts";
import type { Booking, Row } from "./draw/bookings.ts";
import type { Interval, Meeting, MeetingsInstance } from "./instance.ts";
import type { Schedule } from "./parse.ts";
import { fillClass, onFill } from "../../lib/picture/style.ts";

const LEFT = 92;
const AXIS = 780;
const ROW = 30;
const TOP = 26;
const GAP = 22;

/** Minutes and rows as pixels. */
interface Chart {
  readonly start: number;
  readonly end: number;
  readonly x: (minutes: number) => number;
}

/** A room is there at any hour. */
const ALWAYS: readonly Interval[] = [{ start: 0, end: 48 * 60 }];

export function draw(instance: MeetingsInstance, schedule?: Schedule, best?: Schedule): Picture {
  const { meetings, rooms, availability } = instance;
  const bookings = drawnBookings(instance, schedule ?? []);
  const chart = chartOf(instance, bookings);
  const rows = rowsOf(instance, bookings);
  const bottom = TOP + (rooms.length + availability.length) * ROW + GAP;
  const held = new Set(bookings.map(({ meeting }) => meeting));
  const idle = [...meetings.keys()].filter((meeting) => !held.has(meeting));
  const inBest = new Set(best?.map(({ meeting }) => meeting));
  const waiting = idleShapes(instance, idle, inBest, chart, bottom + GAP);
  const drawn = rows.map(({ name, row }) => ({ name, row, ...rowShapes(row, chart.x) }));
  return {
    width: LEFT + AXIS + 10,
    height: waiting.bottom,
    shapes: [
      ...gridShapes(chart, bottom),
      ...drawn.flatMap(({ name, row, shapes }) => [
        text(LEFT - 8, row.y + ROW / 2 + 4, "gd-end", name),
        ...bandShapes(row, chart),
        ...shapes,
      ]),
      ...waiting.shapes,
    ],
    legend: legendOf(
      [bookings.length > 0, "box", "gd-f0", "meeting held, with its number"],
      [true, "box", "gd-band", "room, or time when an attendee is available"],
      [drawn.some(({ hasTrouble }) => hasTrouble), "hatch", "gd-hatch", "two at once, not available, or too few seats"],
      [idle.some((meeting) => inBest.has(meeting)), "box", "gd-best", "held in a best schedule"],
    ),
    notes: notesOf(...problems(instance, schedule ?? [], bookings)),
  };
}

/** The rooms' rows above the attendees'. */
function rowsOf({ rooms, availability }: MeetingsInstance, bookings: readonly Booking[]) {
  const roomRows = rooms.map((seats, room): { readonly name: string; readonly row: Row } => {
    const own = bookings.filter((booking) => booking.room === room);
    return {
      name: `room ${room} (${seats})`,
      row: { y: TOP + room * ROW, height: ROW, bookings: own, available: ALWAYS, seats },
    };
  });
  const attendeesTop = TOP + rooms.length * ROW + GAP;
  const attendeeRows = availability.map((available, attendee): { readonly name: string; readonly row: Row } => {
    const own = bookings.filter(({ attendees }) => attendees.includes(attendee));
    return {
      name: `attendee ${attendee}`,
      row: { y: attendeesTop + attendee * ROW, height: ROW, bookings: own, available },
    };
  });
  return [...roomRows, ...attendeeRows];
}

/** When the row's room or attendee can be had. */
function bandShapes({ y, height, available }: Row, { start, end, x }: Chart): readonly Shape[] {
  return available.map((interval) => {
    const from = x(Math.max(start, interval.start));
    return rect(from, y + 1, x(Math.min(end, interval.end)) - from, height - 2, "gd-band");
  });
}

/** The span of the day in whole hours that holds everyone's time and all that is booked. */
function chartOf({ availability, meetings }: MeetingsInstance, bookings: readonly Booking[]): Chart {
  const times: readonly Interval[] = [...availability.flat(), ...bookings];
  const longest = Math.max(60, ...meetings.map(({ minutes }) => minutes));
  const first = times.reduce((least, { start }) => Math.min(least, start), times[0]?.start ?? 9 * 60);
  const last = times.reduce((most, { end }) => Math.max(most, end), first + longest);
  const [start, end] = [Math.floor(first / 60) * 60, Math.ceil(last / 60) * 60];
  return { start, end, x: (minutes) => LEFT + (AXIS * (minutes - start)) / (end - start) };
}

function gridShapes({ start, end, x }: Chart, bottom: number): readonly Shape[] {
  const hours = Array.from({ length: (end - start) / 60 + 1 }, (_, i) => start + 60 * i);
  return [
    path(
      hours.map((hour) => segment(x(hour), TOP - 6, x(hour), bottom)),
      "gd-grid",
    ),
    // Every hour's label has room for a day of sixteen hours.
    ...hours
      .filter((_, i) => hours.length <= 16 || i % 2 === 0)
      .map((hour) => text(x(hour), TOP - 15, "gd-label", clockTime(hour))),
  ];
}

/** The meetings that are not held, as wide as they are long, in as many lines as they take. */
function idleShapes(
  { meetings }: MeetingsInstance,
  idle: readonly number[],
  inBest: ReadonlySet<number>,
  { x, start }: Chart,
  top: number,
): { readonly shapes: readonly Shape[]; readonly bottom: number } {
  if (idle.length === 0) return { shapes: [], bottom: top - GAP + 4 };
  const shapes: Shape[] = [text(LEFT - 8, top + ROW / 2 + 4, "gd-end gd-soft", "not held")];
  let [at, y] = [LEFT, top];
  for (const meeting of idle) {
    const { minutes, attendees } = meetings[meeting] as Meeting;
    const label = `${meeting}: ${attendees.join(" ")}`;
    const width = Math.max(x(start + minutes) - LEFT, 8 + 6 * label.length);
    if (at > LEFT && at + width > LEFT + AXIS) [at, y] = [LEFT, y + ROW];
    shapes.push(
      rect(at, y + 2, width - 2, ROW - 4, fillClass(meeting)),
      text(at + width / 2, y + ROW / 2, onFill(meeting), label),
    );
    if (inBest.has(meeting)) shapes.push(rect(at - 2.5, y - 0.5, width + 3, ROW + 1, "gd-best"));
    at += width + 10;
  }
  return { shapes, bottom: y + ROW + 4 };
}

/** What the chart does not show. */
function problems(
  { meetings, rooms }: MeetingsInstance,
  schedule: Schedule,
  bookings: readonly Booking[],
): readonly (string | undefined)[] {
  const real = schedule.filter(
    ({ meeting, room }) => isWithin(meeting, meetings.length) && isWithin(room, rooms.length),
  );
  const repeated = real.filter(({ meeting }, i) => real.slice(0, i).some((earlier) => earlier.meeting === meeting));
  return [
    noteOf(
      "Meetings that do not exist",
      schedule.map(({ meeting }) => meeting).filter((m) => !isWithin(m, meetings.length)),
    ),
    noteOf(
      "Rooms that do not exist",
      schedule.map(({ room }) => room).filter((r) => !isWithin(r, rooms.length)),
    ),
    noteOf(
      "Listed more than once",
      repeated.map(({ meeting }) => `meeting ${meeting}`),
    ),
    real.length > bookings.length
      ? `Only the first ${bookings.length} of ${real.length} entries are drawn.`
      : undefined,
  ];
}
