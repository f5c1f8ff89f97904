/** How many may still attend what is not placed. */
import type { Interval, Placement } from "../instance.ts";
import type { Job } from "./model.ts";
import { lastStart } from "./options.ts";
import type { Schedule } from "./options.ts";

/** No more than so many attend the meetings that still have options. */
export function openAttendance(schedule: Schedule, options: readonly Placement[]): number {
  const isOpen = new Uint8Array(schedule.model.jobs.length);
  for (const { meeting } of options) isOpen[meeting] = 1;
  let attendance = attendeesBound(schedule, isOpen);
  for (const seats of schedule.model.seatsFrom) attendance = Math.min(attendance, roomsBound(schedule, isOpen, seats));
  return attendance;
}

/** Each attendee, alone, attends no more than the shortest of their meetings that fit into the time they have left. */
function attendeesBound(schedule: Schedule, isOpen: Uint8Array): number {
  const { model, busyUntil } = schedule;
  const now = lastStart(schedule);
  let attendance = 0;
  for (const [attendee, intervals] of model.availability.entries()) {
    let left = minutesFrom(intervals, Math.max(now, busyUntil[attendee] as number));
    for (const meeting of model.meetingsOf[attendee] as readonly number[]) {
      if (isOpen[meeting] === 0) continue;
      left -= (model.jobs[meeting] as Job).minutes;
      if (left < 0) break;
      attendance++;
    }
  }
  return attendance;
}

function minutesFrom(intervals: readonly Interval[], from: number): number {
  let minutes = 0;
  for (const { start, end } of intervals) minutes += Math.max(0, end - Math.max(start, from));
  return minutes;
}

/**
 * The meetings of so many and more share the time left in the rooms that seat them, the most attended per minute first
 * and the last of them perhaps in part; smaller ones are all held.
 */
function roomsBound(schedule: Schedule, isOpen: Uint8Array, seats: number): number {
  const { model } = schedule;
  let left = roomMinutes(schedule, seats);
  let attendance = 0;
  for (const meeting of model.byAttendance) {
    if (isOpen[meeting] === 0) continue;
    const { size, minutes } = model.jobs[meeting] as Job;
    if (size < seats) attendance += size;
    else {
      // Only the first that does not fit is held in part, and so the sum is rounded but once.
      if (left > 0) attendance += minutes <= left ? size : Math.floor((left * size) / minutes);
      left -= minutes;
    }
  }
  return attendance;
}

/** Minutes from the last start until the day's end in the rooms with so many seats, without what is being held there. */
function roomMinutes({ model, placements, ends }: Schedule, seats: number): number {
  const now = placements.at(-1)?.start ?? model.dayStart;
  let minutes = (model.roomsAtLeast[seats] as number) * (model.dayEnd - now);
  for (const [i, { meeting }] of placements.entries()) {
    if ((model.jobs[meeting] as Job).size >= seats) minutes -= Math.max(0, (ends[i] as number) - now);
  }
  return minutes;
}
