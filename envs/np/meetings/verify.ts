/** What holds of a schedule: facts only. */
import type { Facts } from "../../environment.ts";
import { clockTime } from "./clock.ts";
import { attendance } from "./instance.ts";
import type { Meeting, MeetingsInstance, Placement } from "./instance.ts";
import type { Schedule } from "./parse.ts";

/**
 * Feasible if every meeting comes at most once, in a room that seats it, at a time when all its attendees can be met,
 * and no room or attendee is needed twice at once. Else the first entry that is wrong by itself, or the first that
 * clashes with one before it. No meeting at all is feasible, of value 0.
 */
export function verify(instance: MeetingsInstance, schedule: Schedule): Facts {
  const violation = entryProblem(instance, schedule) ?? clashProblem(instance, schedule);
  if (violation !== undefined) return { kind: "infeasible", violation };
  const held = schedule.map(({ meeting }) => meeting);
  return { kind: "feasible", objective: attendance(instance, held) };
}

function entryProblem(instance: MeetingsInstance, schedule: Schedule): string | undefined {
  const { meetings, rooms } = instance;
  const isHeld = new Uint8Array(meetings.length);
  for (const { meeting, room, start } of schedule) {
    if (!(meeting >= 0 && meeting < meetings.length)) {
      return `meeting ${meeting} does not exist: meetings are 0 to ${meetings.length - 1}`;
    }
    if (!(room >= 0 && room < rooms.length)) {
      return `room ${room} does not exist: rooms are 0 to ${rooms.length - 1}`;
    }
    if (isHeld[meeting] === 1) return `meeting ${meeting} is listed twice`;
    isHeld[meeting] = 1;
    const { attendees, minutes } = meetings[meeting] as Meeting;
    const seats = rooms[room] as number;
    if (seats < attendees.length) {
      return `room ${room} seats ${seats}, and meeting ${meeting} has ${attendees.length} attendees`;
    }
    const absent = attendees.find((attendee) => !isAvailable(instance, attendee, start, start + minutes));
    if (absent !== undefined) {
      return `attendee ${absent} is not available for all ${minutes} minutes of meeting ${meeting} from ${clockTime(start)}`;
    }
  }
  return undefined;
}

function isAvailable({ availability }: MeetingsInstance, attendee: number, start: number, end: number): boolean {
  for (const interval of availability[attendee] as MeetingsInstance["availability"][number]) {
    if (interval.start <= start && end <= interval.end) return true;
  }
  return false;
}

function clashProblem({ meetings }: MeetingsInstance, schedule: Schedule): string | undefined {
  for (const [i, entry] of schedule.entries()) {
    const one = meetings[entry.meeting] as Meeting;
    for (let before = 0; before < i; before++) {
      const earlier = schedule[before] as Placement;
      const other = meetings[earlier.meeting] as Meeting;
      if (entry.start >= earlier.start + other.minutes || earlier.start >= entry.start + one.minutes) continue;
      const pair = `meetings ${earlier.meeting} and ${entry.meeting}`;
      if (entry.room === earlier.room) return `room ${entry.room} is used by ${pair} at the same time`;
      const shared = one.attendees.find((attendee) => other.attendees.includes(attendee));
      if (shared !== undefined) return `attendee ${shared} is in ${pair} at the same time`;
    }
  }
  return undefined;
}
