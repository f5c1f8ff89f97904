/**
 * Builds a schedule without search. Takes meetings in an order, and places each as early as the meetings before it
 * allow, in the first suitable room. Returns the best of three orders: most attendees a minute first, most attendees
 * first, shortest first. The papers' public code draws random orders until a time limit.
 */
import { attendance, commonIntervals, type Meeting, type MeetingsInstance, type Placement } from "./generate.ts";
import type { Schedule } from "./verify.ts";

type Order = (one: Meeting, other: Meeting) => number;

const ORDERS: readonly Order[] = [
  (one, other) => other.attendees.length * one.minutes - one.attendees.length * other.minutes,
  (one, other) => other.attendees.length - one.attendees.length || one.minutes - other.minutes,
  (one, other) => one.minutes - other.minutes || other.attendees.length - one.attendees.length,
];

export function heuristic(instance: MeetingsInstance): Schedule {
  const schedules = ORDERS.map((order) => scheduled(instance, order));
  const held = schedules.map((schedule) =>
    attendance(
      instance,
      schedule.map(({ meeting }) => meeting),
    ),
  );
  return schedules[held.indexOf(Math.max(...held))] ?? [];
}

function scheduled(instance: MeetingsInstance, order: Order): Schedule {
  const meetings = [...instance.meetings.entries()].sort(([a, one], [b, other]) => order(one, other) || a - b);
  const schedule: Placement[] = [];
  for (const [meeting, { attendees, minutes }] of meetings) {
    const placed = [...instance.rooms.entries()].flatMap(([room, seats]) => {
      if (seats < attendees.length) return [];
      const start = earliest(instance, schedule, meeting, room);
      return start === undefined ? [] : [{ meeting, room, start }];
    });
    const [first, ...others] = placed;
    if (first === undefined || minutes <= 0) continue;
    schedule.push(others.reduce((best, other) => (other.start < best.start ? other : best), first));
  }
  return schedule.sort((one, other) => one.start - other.start || one.meeting - other.meeting);
}

/**
 * Returns the earliest time from which the room and all attendees are free for the whole meeting, or undefined if there
 * is none.
 */
function earliest(instance: MeetingsInstance, held: Schedule, meeting: number, room: number): number | undefined {
  const { attendees, minutes } = instance.meetings[meeting] as Meeting;
  const taken = held.flatMap((placed) => {
    const other = instance.meetings[placed.meeting] as Meeting;
    const clashes = placed.room === room || other.attendees.some((attendee) => attendees.includes(attendee));
    return clashes ? [{ start: placed.start, end: placed.start + other.minutes }] : [];
  });
  for (const { start: from, end } of commonIntervals(instance.availability, attendees)) {
    let start = from;
    // Repeat, because the end of one conflicting meeting may lie within another.
    for (let moved = true; moved;) {
      const late = taken.filter((each) => each.start < start + minutes && start < each.end).map((each) => each.end);
      moved = late.length > 0;
      start = Math.max(start, ...late);
    }
    if (start + minutes <= end) return start;
  }
  return undefined;
}
