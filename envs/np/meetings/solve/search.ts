/** Searches depth first over schedules in which no meeting can be held earlier. */
import type { Interval, Placement } from "../generate.ts";
import { countedOption, emptySchedule, type Job, lastStart, type Model, roomOptions, type Schedule } from "./model.ts";

// The functions below bound the attendance of the meetings that are not placed yet.

/** Returns an upper bound on the attendance of the meetings that can still be placed, i.e. those in `options`. */
function openAttendance(schedule: Schedule, options: readonly Placement[]): number {
  const isOpen = new Uint8Array(schedule.model.jobs.length);
  for (const { meeting } of options) isOpen[meeting] = 1;
  let attendance = attendeesBound(schedule, isOpen);
  for (const seats of schedule.model.seatsFrom) attendance = Math.min(attendance, roomsBound(schedule, isOpen, seats));
  return attendance;
}

/**
 * Returns an upper bound on attendance from each attendee's time. Each attendee can attend at most as many open
 * meetings, the shortest first, as fit into the attendee's remaining time.
 */
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
 * Returns an upper bound on attendance from the time of the rooms. Meetings of at least `seats` attendees share the
 * remaining time of the rooms with at least `seats` seats. Meetings with the most attendees per minute come first, the
 * last one perhaps only in part. Smaller meetings all count.
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
      // Only the first meeting that does not fit counts in part, so the sum is rounded only once.
      if (left > 0) attendance += minutes <= left ? size : Math.floor((left * size) / minutes);
      left -= minutes;
    }
  }
  return attendance;
}

/**
 * Returns the minutes left in all rooms with at least `seats` seats, from the last start to the day's end. The minutes
 * of running meetings are subtracted.
 */
function roomMinutes({ model, placements, ends }: Schedule, seats: number): number {
  const now = placements.at(-1)?.start ?? model.dayStart;
  let minutes = (model.roomsAtLeast[seats] as number) * (model.dayEnd - now);
  for (const [i, { meeting }] of placements.entries()) {
    if ((model.jobs[meeting] as Job).size >= seats) minutes -= Math.max(0, (ends[i] as number) - now);
  }
  return minutes;
}

// The function below assigns rooms to meetings with fixed times.

/**
 * Maximum number of tries to put a meeting into a room. Schedules of the levels need about as many as they have
 * meetings.
 */
const TRIES_MAX = 10_000;

/**
 * Returns the placements with their rooms; `placements` must be in the order of starts. Returns undefined if no
 * assignment exists, or if the tries ran out. Enough rooms of each size at each time are necessary but not sufficient,
 * because a meeting cannot change rooms (Kolen, Lenstra, Papadimitriou and Spieksma, "Interval scheduling: a survey",
 * 2007).
 */
function assignRooms({ jobs, rooms }: Model, placements: readonly Placement[]): Placement[] | undefined {
  const order = [...rooms.keys()].sort((a, b) => (rooms[a] as number) - (rooms[b] as number) || a - b);
  const busyUntil = rooms.map(() => 0);
  const assigned: Placement[] = [];
  let tries = 0;
  const assign = (): boolean => {
    const next = placements[assigned.length];
    if (next === undefined) return true;
    const { size, minutes } = jobs[next.meeting] as Job;
    let tried = 0;
    for (const room of order) {
      const seats = rooms[room] as number;
      const before = busyUntil[room] as number;
      // Skip a room with as many seats as one tried before, because free rooms with equal seats are interchangeable.
      if (seats < size || seats === tried || before > next.start) continue;
      if (++tries > TRIES_MAX) return false;
      tried = seats;
      busyUntil[room] = next.start + minutes;
      assigned.push({ ...next, room });
      if (assign()) return true;
      assigned.pop();
      busyUntil[room] = before;
    }
    return false;
  };
  return assign() ? assigned : undefined;
}

export interface Search {
  readonly schedule: Schedule;
  /**
   * True if each node of the search also chooses a room. Otherwise the search only counts rooms, and assigns them once
   * a schedule is complete.
   */
  readonly choosesRooms: boolean;
  readonly nodesMax: number;
  nodes: number;
  /** True if the search used up its nodes before it was complete. */
  isSpent: boolean;
  best: number;
  bestPlacements: readonly Placement[];
  /** Upper bound on the attendance of any schedule of the task. */
  bound: number;
  /**
   * Highest attendance of a schedule that has enough rooms at each time, but for which no assignment of rooms was
   * found.
   */
  roomless: number;
}

export function newSearch(model: Model, nodesMax: number): Search {
  const found = { best: 0, bestPlacements: [], bound: Infinity, roomless: 0 };
  return { schedule: emptySchedule(model), choosesRooms: false, nodesMax, nodes: 0, isSpent: false, ...found };
}

/**
 * Searches for better schedules that continue the current one. Some optimal schedule has the least sum of starts. In
 * that schedule, no meeting can be moved to an earlier time, and no omitted meeting can be added. In the order of
 * starts, each meeting therefore starts as early as the meetings before it allow. The next meeting starts before the
 * earliest possible end of any candidate (Giffler and Thompson 1960).
 */
export function extend(search: Search, value: number): void {
  const { schedule } = search;
  const { jobs } = schedule.model;
  if (value > search.best) record(search, value);
  const options = optionsOf(search);
  const bound = Math.min(search.bound, value + openAttendance(schedule, options));
  if (schedule.placements.length === 0) search.bound = bound;
  if (bound <= search.best) return;
  const endOf = ({ meeting, start }: Placement): number => start + (jobs[meeting] as Job).minutes;
  const sizeOf = ({ meeting }: Placement): number => (jobs[meeting] as Job).size;
  const firstEnd = Math.min(...options.map(endOf));
  const next = options.filter((option) => option.start < firstEnd && isInOrder(schedule, option));
  next.sort((a, b) => endOf(a) - endOf(b) || sizeOf(b) - sizeOf(a));
  for (const option of next) {
    if (search.nodes === search.nodesMax) search.isSpent = true;
    if (search.isSpent) return;
    search.nodes++;
    place(search, option, value);
  }
}

function optionsOf({ schedule, choosesRooms }: Search): readonly Placement[] {
  const optionsFor = choosesRooms ? roomOptions : countedOption;
  const options: Placement[] = [];
  for (let meeting = 0; meeting < schedule.isPlaced.length; meeting++) {
    if (!schedule.isPlaced[meeting]) options.push(...optionsFor(schedule, meeting));
  }
  return options;
}

/**
 * Returns whether a placement keeps the order of the search. Meetings with equal starts come by rising number, so that
 * each schedule is searched once.
 */
function isInOrder(schedule: Schedule, { meeting, start }: Placement): boolean {
  const last = schedule.placements.at(-1);
  return last === undefined || start > last.start || meeting > last.meeting;
}

function place(search: Search, option: Placement, value: number): void {
  const { placements, ends, isPlaced, busyUntil, model } = search.schedule;
  const { attendees, minutes, size } = model.jobs[option.meeting] as Job;
  const before = attendees.map((attendee) => busyUntil[attendee] as number);
  placements.push(option);
  ends.push(option.start + minutes);
  isPlaced[option.meeting] = true;
  for (const attendee of attendees) busyUntil[attendee] = option.start + minutes;
  extend(search, value + size);
  for (const [i, attendee] of attendees.entries()) busyUntil[attendee] = before[i] as number;
  isPlaced[option.meeting] = false;
  ends.pop();
  placements.pop();
}

function record(search: Search, value: number): void {
  const { placements, model } = search.schedule;
  const whole = search.choosesRooms ? [...placements] : assignRooms(model, placements);
  if (whole === undefined) {
    search.roomless = Math.max(search.roomless, value);
  } else {
    search.best = value;
    search.bestPlacements = whole;
  }
}
