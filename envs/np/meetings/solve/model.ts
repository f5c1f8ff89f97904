/** A task as the search sees it, and what it changes as it goes. */
import { commonIntervals } from "../instance.ts";
import type { Interval, MeetingsInstance } from "../instance.ts";

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
