/** A task as the search sees it, and what it changes as it goes. */
import { commonIntervals, type Interval, type MeetingsInstance, type Placement } from "../generate.ts";

export interface Job {
  readonly attendees: readonly number[];
  /** How many attend. */
  readonly size: number;
  readonly minutes: number;
  /** In which all attendees can be met for long enough, by rising start. */
  readonly intervals: readonly Interval[];
}

export interface Model {
  readonly jobs: readonly Job[];
  readonly rooms: readonly number[];
  /** By size: how many rooms seat so many. */
  readonly roomsAtLeast: readonly number[];
  readonly availability: readonly (readonly Interval[])[];
  /** By attendee: the meetings that need them, the shortest first. */
  readonly meetingsOf: readonly (readonly number[])[];
  /** Meetings, the most attended per minute first. */
  readonly byAttendance: readonly number[];
  /** Sizes from which on fewer rooms will do, and the smallest. */
  readonly seatsFrom: readonly number[];
  /** When the first meeting can start and the last can end. */
  readonly dayStart: number;
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

// Where a meeting may come next, when those before it are placed and no meeting starts before the last of them.

/** What has been placed, in order of starts. */
export interface Schedule {
  readonly model: Model;
  readonly placements: Placement[];
  readonly ends: number[];
  readonly isPlaced: boolean[];
  /** By attendee. */
  readonly busyUntil: number[];
}

export function emptySchedule(model: Model): Schedule {
  const isPlaced = model.jobs.map(() => false);
  return { model, placements: [], ends: [], isPlaced, busyUntil: model.availability.map(() => 0) };
}

/** The start of the last placement; 0: there is none. */
export function lastStart({ placements }: Schedule): number {
  return placements.at(-1)?.start ?? 0;
}

/** The earliest start at which the attendees are free and there are rooms enough, without saying which; or none. */
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

/** For each number of seats, the earliest start in a room that has so many. */
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

/** From when on all attendees are free, and no earlier than the last start. */
function freeFrom(schedule: Schedule, meeting: number): number {
  let from = lastStart(schedule);
  for (const attendee of (schedule.model.jobs[meeting] as Job).attendees) {
    from = Math.max(from, schedule.busyUntil[attendee] as number);
  }
  return from;
}

/** The first time from one on at which an interval still has so many minutes. */
function startWithin(intervals: readonly Interval[], minutes: number, from: number): number | undefined {
  for (const { start, end } of intervals) if (Math.max(start, from) + minutes <= end) return Math.max(start, from);
  return undefined;
}

/** Whether for each size up to this one there are more rooms that seat it than meetings of it being held. */
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
