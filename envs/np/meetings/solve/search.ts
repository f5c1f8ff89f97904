/** Depth-first search over schedules in which no meeting can be held earlier. */
import type { Placement } from "../instance.ts";
import { openAttendance } from "./bound.ts";
import type { Job, Model } from "./model.ts";
import { countedOption, emptySchedule, roomOptions } from "./options.ts";
import type { Schedule } from "./options.ts";
import { assignRooms } from "./rooms.ts";

export interface Search {
  readonly schedule: Schedule;
  /** Whether a node chooses the room too; else rooms are counted, and found for a whole schedule. */
  readonly choosesRooms: boolean;
  readonly nodesMax: number;
  nodes: number;
  /** Whether the nodes ran out. */
  isSpent: boolean;
  best: number;
  bestPlacements: readonly Placement[];
  /** No schedule is better than this. */
  bound: number;
  /** The best schedule for which there are rooms enough by count, but none were found. */
  roomless: number;
}

export function newSearch(model: Model, nodesMax: number): Search {
  const found = { best: 0, bestPlacements: [], bound: Infinity, roomless: 0 };
  return { schedule: emptySchedule(model), choosesRooms: false, nodesMax, nodes: 0, isSpent: false, ...found };
}

/**
 * Looks for better schedules that go on from this one. Of the best schedules one has the least sum of starts; there,
 * no meeting can be moved to an earlier time, nor one left out be held. So in order of starts each meeting comes as
 * early as those before it allow, and none starts when another could already be over (Giffler and Thompson 1960).
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

/** Meetings that start at the same time come by rising number, for their order does not matter. */
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
