/**
 * Draws a schedule as a Gantt chart of rooms and people, so that a person sees a room or person that is needed twice at
 * once.
 */
import type { Picture, Shape } from "../../envs/picture.ts";
import { isWithin, legendOf, noteOf, notesOf } from "../lib/picture.ts";
import { fillClass, hatching, onFill, path, rect, segment, text } from "../lib/svg.ts";
import { clockTime, type Interval, type Meeting, type MeetingsInstance } from "../../envs/np/meetings/generate.ts";
import type { Schedule } from "../../envs/np/meetings/verify.ts";

// The functions below draw the bookings of a schedule in the rows of the chart. A row shows a room or an attendee.

/** Booking: an entry of a schedule whose meeting and room exist. */
interface Booking extends Interval {
  readonly meeting: number;
  readonly room: number;
  readonly attendees: readonly number[];
}

/** Maximum number of bookings drawn. No task has a longer schedule, and more would only enlarge the picture. */
const DRAWN_MAX = 80;

function drawnBookings({ meetings, rooms }: MeetingsInstance, schedule: Schedule): readonly Booking[] {
  return schedule
    .filter(({ meeting, room }) => isWithin(meeting, meetings.length) && isWithin(room, rooms.length))
    .slice(0, DRAWN_MAX)
    .map(({ meeting, room, start }) => {
      const { minutes, attendees } = meetings[meeting] as Meeting;
      return { meeting, room, attendees, start, end: start + minutes };
    });
}

type ToPixels = (minutes: number) => number;

/** Row of the chart, for a room or an attendee. */
interface Row {
  readonly y: number;
  readonly height: number;
  readonly bookings: readonly Booking[];
  /** Intervals in which the row's room or attendee is available, by rising start. */
  readonly available: readonly Interval[];
  /** Number of seats of a room. Unset for an attendee. */
  readonly seats?: number;
}

/** Maximum number of lanes in a row, in which concurrent bookings lie above each other. Further bookings overlap. */
const LANES_MAX = 4;

/**
 * Draws a row's bookings as boxes with the meeting's number, with concurrent ones above each other. Hatches conflicts:
 * two bookings at once, an unavailable time, or too few seats.
 */
function rowShapes(row: Row, x: ToPixels): { readonly shapes: readonly Shape[]; readonly hasTrouble: boolean } {
  const { y, height, bookings, seats } = row;
  const lanes = lanesOf(bookings);
  const lane = (height - 6) / Math.max(1, ...lanes.map((each) => each + 1));
  const boxes = bookings.map(({ meeting, start, end }, i) =>
    rect(x(start) + 0.5, y + 3 + (lanes[i] as number) * lane, x(end) - x(start) - 1, lane, fillClass(meeting)),
  );
  const wrong = troubles(row);
  const hatches = wrong.flatMap(({ start, end }) => hatching(x(start), y + 1, x(end) - x(start), height - 2));
  const isCovered = (i: number): boolean =>
    bookings.some((other, j) => j > i && lanes[j] === lanes[i] && overlap(other, bookings[i] as Booking).length > 0);
  const labels = bookings.flatMap((booking, i) => {
    const { meeting, start, end, attendees } = booking;
    const letter = lane >= 12 ? 6.2 : 4.4;
    const fits = (words: string): boolean => x(end) - x(start) > letter * words.length;
    const words = seats === undefined ? `${meeting}` : `${meeting}: ${attendees.length} of ${seats} seats`;
    const shown = lane >= 12 && fits(words) ? words : `${meeting}`;
    if (isCovered(i) || !fits(shown)) return [];
    const className = lane >= 12 ? onFill(meeting) : `${onFill(meeting)} gd-tiny`;
    return [text((x(start) + x(end)) / 2, y + 3 + ((lanes[i] as number) + 0.5) * lane, className, shown)];
  });
  const hatch = hatches.length === 0 ? [] : [path(hatches, "gd-hatch")];
  return { shapes: [...boxes, ...hatch, ...labels], hasTrouble: wrong.length > 0 };
}

/** Returns the lane of each booking: the first lane that is free for the whole booking, or the last one. */
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

/**
 * Returns the intervals with a conflict, by rising start: overlapping bookings, bookings outside the available time,
 * and bookings with too few seats.
 */
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

/** Returns the parts of a booking outside all of the intervals, which must be in rising order. */
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

const LEFT = 92;
const AXIS = 780;
const ROW = 30;
const TOP = 26;
const GAP = 22;

/** Span of the chart's day, in minutes since midnight, and the conversion from minutes to pixels. */
interface Chart {
  readonly start: number;
  readonly end: number;
  readonly x: (minutes: number) => number;
}

/** Available time of a room, in minutes since midnight. Rooms are always available. */
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

/** Returns the rows of the chart: rooms above attendees. */
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

/** Draws the intervals in which the row's room or attendee is available. */
function bandShapes({ y, height, available }: Row, { start, end, x }: Chart): readonly Shape[] {
  return available.map((interval) => {
    const from = x(Math.max(start, interval.start));
    return rect(from, y + 1, x(Math.min(end, interval.end)) - from, height - 2, "gd-band");
  });
}

/** Returns a chart of whole hours that contains everyone's available time and all bookings. */
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
    // Label only every other hour if the day is longer than about fifteen hours.
    ...hours
      .filter((_, i) => hours.length <= 16 || i % 2 === 0)
      .map((hour) => text(x(hour), TOP - 15, "gd-label", clockTime(hour))),
  ];
}

/** Draws the meetings that are not held, in as many lines as needed. Their width shows their duration. */
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

/** Returns notes about entries of the schedule that the chart does not show. */
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
