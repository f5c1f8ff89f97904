/** Represents a meetings task, and a partial schedule, in the form that the search needs. */
import { commonIntervals, type Interval, type MeetingsInstance, type Placement } from "../generate.ts";

export interface Job {
  readonly attendees: readonly number[];
  readonly size: number;
  readonly minutes: number;
  /** Intervals in which all attendees are available, and which are long enough for the meeting, by rising start. */
  readonly intervals: readonly Interval[];
}

export interface Model {
  readonly jobs: readonly Job[];
  readonly rooms: readonly number[];
  /** At index k: number of rooms with at least k seats. */
  readonly roomsAtLeast: readonly number[];
  readonly availability: readonly (readonly Interval[])[];
  /** Meetings of each attendee, the shortest first. */
  readonly meetingsOf: readonly (readonly number[])[];
  /** Meetings, with the most attendees per minute first. */
  readonly byAttendance: readonly number[];
  /**
   * Values of `seats` for which the search computes a bound on attendance: 1, and for each room the number of its seats
   * plus 1.
   */
  readonly seatsFrom: readonly number[];
  /** Earliest possible start of a meeting, in minutes since midnight. */
  readonly dayStart: number;
  /** Latest possible end of a meeting, in minutes since midnight. */
  readonly dayEnd: number;
}

export function modelOf({ meetings, availability, rooms }: MeetingsInstance): Model {
  const jobs = meetings.map(({ attendees, minutes }) => {
    const intervals = commonIntervals(availability, attendees).filter(({ start, end }) => end - start >= minutes);
    return { attendees, size: attendees.length, minutes, intervals };
  });
  const sizeMax = Math.max(...rooms, ...jobs.map(({ size }) => size));
  const roomsAtLeast = Array.from({ length: sizeMax + 1 }, (_, size) => rooms.filter((seats) => seats >= size).length);
  const jobOf = (meeting: number): Job => jobs[meeting] as Job;
  const meetingsOf = availability.map((_, attendee) =>
    [...jobs.keys()]
      .filter((meeting) => jobOf(meeting).attendees.includes(attendee))
      .sort((a, b) => jobOf(a).minutes - jobOf(b).minutes || a - b),
  );
  const byAttendance = [...jobs.keys()].sort(
    (a, b) => jobOf(b).size * jobOf(a).minutes - jobOf(a).size * jobOf(b).minutes || a - b,
  );
  const seatsFrom = [1, ...new Set(rooms.map((seats) => seats + 1))].filter((seats) => seats <= sizeMax);
  const intervals = jobs.flatMap((job) => job.intervals);
  const dayStart = Math.min(...intervals.map(({ start }) => start));
  const dayEnd = Math.max(...intervals.map(({ end }) => end));
  return { jobs, rooms, roomsAtLeast, availability, meetingsOf, byAttendance, seatsFrom, dayStart, dayEnd };
}

// The functions below return where and when a meeting may come next. No meeting starts before the last one placed.

/** Meetings placed so far, in the order of starts. */
export interface Schedule {
  readonly model: Model;
  readonly placements: Placement[];
  readonly ends: number[];
  readonly isPlaced: boolean[];
  /** End of each attendee's last meeting, in minutes since midnight. */
  readonly busyUntil: number[];
}

export function emptySchedule(model: Model): Schedule {
  const isPlaced = model.jobs.map(() => false);
  return { model, placements: [], ends: [], isPlaced, busyUntil: model.availability.map(() => 0) };
}

/** Returns the start of the last placement, or 0 if there is none. */
export function lastStart({ placements }: Schedule): number {
  return placements.at(-1)?.start ?? 0;
}

/**
 * Returns the earliest start at which the attendees are free and enough rooms are free, without choosing a room.
 * Returns an empty list if there is no such start.
 */
export function countedOption(schedule: Schedule, meeting: number): readonly Placement[] {
  const { model, ends } = schedule;
  const { size, intervals, minutes } = model.jobs[meeting] as Job;
  let start = startWithin(intervals, minutes, freeFrom(schedule, meeting));
  while (start !== undefined && !hasRoom(schedule, size, start)) {
    const from = start;
    const nextEnd = ends.reduce((next, end) => (end > from && end < next ? end : next), Infinity);
    start = startWithin(intervals, minutes, nextEnd);
  }
  return start === undefined ? [] : [{ meeting, room: -1, start }];
}

/** Returns one option for each size of room that seats the meeting: the earliest start in a room of that size. */
export function roomOptions(schedule: Schedule, meeting: number): readonly Placement[] {
  const { model, placements, ends } = schedule;
  const { size, intervals, minutes } = model.jobs[meeting] as Job;
  const free = freeFrom(schedule, meeting);
  const bySeats = new Map<number, Placement>();
  for (const [room, seats] of model.rooms.entries()) {
    if (seats < size) continue;
    const roomFree = placements.reduce((from, placed, i) => (placed.room === room ? (ends[i] as number) : from), 0);
    const start = startWithin(intervals, minutes, Math.max(free, roomFree));
    if (start === undefined || start >= (bySeats.get(seats)?.start ?? Infinity)) continue;
    bySeats.set(seats, { meeting, room, start });
  }
  return [...bySeats.values()];
}

/** Returns the earliest time from which all attendees are free. Not before the start of the last placed meeting. */
function freeFrom(schedule: Schedule, meeting: number): number {
  let from = lastStart(schedule);
  for (const attendee of (schedule.model.jobs[meeting] as Job).attendees) {
    from = Math.max(from, schedule.busyUntil[attendee] as number);
  }
  return from;
}

/**
 * Returns the first time, at or after `from`, at which an interval still has enough minutes left. Returns undefined if
 * there is none.
 */
function startWithin(intervals: readonly Interval[], minutes: number, from: number): number | undefined {
  for (const { start, end } of intervals) if (Math.max(start, from) + minutes <= end) return Math.max(start, from);
  return undefined;
}

/**
 * Returns whether a room for `size` people is free at this time, judged by counts. For each size up to `size`, more
 * rooms of at least that size must exist than meetings of at least that size are running.
 */
function hasRoom({ model, placements, ends }: Schedule, size: number, time: number): boolean {
  for (let seats = size; seats > 0; seats--) {
    let held = 0;
    for (let i = 0; i < ends.length; i++) {
      const { meeting } = placements[i] as Placement;
      if ((ends[i] as number) > time && (model.jobs[meeting] as Job).size >= seats) held++;
    }
    if (held >= (model.roomsAtLeast[seats] as number)) return false;
  }
  return true;
}
