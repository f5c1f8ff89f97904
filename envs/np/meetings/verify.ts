/** Parses, verifies and formats a schedule. Returns facts such as the attendance; rewards are computed elsewhere. */
import type { Facts, Parsed } from "../../facts.ts";
import {
  DIGITS_MAX,
  foundInstead,
  takeClosing,
  takeComma,
  takeNumber,
  takeOpening,
  takeQuoted,
} from "../../lib/parse-lists.ts";
import { skipGap } from "../../lib/text.ts";
import { attendance, clockTime, type Meeting, type MeetingsInstance, type Placement, takeTime } from "./generate.ts";

/**
 * Verifies a schedule. The facts name the first entry that is wrong by itself, or else the first that clashes with an
 * earlier one. An empty schedule is feasible, with value 0. A schedule is feasible if all of these conditions hold.
 * - Every meeting is listed at most once, in a room that seats it.
 * - All its attendees are available for the whole meeting.
 * - No room or attendee is in two meetings at the same time.
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

/** Answer: the meetings held, in any order. */
export type Schedule = readonly Placement[];

/** Maximum length of a schedule. No task has a longer answer. */
const COUNT_MAX = 1000;

interface Reader {
  readonly text: string;
  /** Position in the text, never at white space. */
  at: number;
  /** First error. Once it is set, the parser reads nothing more. */
  problem: string | undefined;
}

/**
 * Parses a list of (meeting, room, start), such as [(2, 0, 10:30), (1, 1, 09:00)]. The outer brackets may be of any
 * kind or missing. The inner ones may be square, and times may be in quotes or \text{}. Refuses anything before or
 * after the list. Takes time linear in the length of the text.
 */
export function parse(text: string): Parsed<Schedule> {
  const reader: Reader = { text, at: skipGap(text, 0), problem: undefined };
  const schedule: Placement[] = [];
  const bracket = takeOuter(reader);
  let more = bracket === undefined || !takeClosing(text, reader, bracket);
  while (more) {
    schedule.push(takePlacement(reader, schedule.length === 0 && bracket === undefined ? "'['" : "'('"));
    if (schedule.length > COUNT_MAX) reader.problem ??= `expected at most ${COUNT_MAX} meetings, found more`;
    more = reader.problem === undefined && takeComma(text, reader);
    if (bracket === undefined || reader.problem !== undefined) continue;
    if (takeClosing(text, reader, bracket)) break;
    if (!more) fail(reader, `'${bracket}'`);
  }
  if (reader.at < text.length) fail(reader, "nothing after the list");
  const { problem } = reader;
  if (problem === undefined) return { kind: "answer", answer: schedule };
  return { kind: "malformed", reason: `not a list of (meeting, room, HH:MM): ${problem}` };
}

/** Skips a bracket around all entries and returns the matching closing bracket, or undefined if there is none. */
function takeOuter(reader: Reader): string | undefined {
  const { text } = reader;
  const ahead = { at: reader.at };
  const bracket = takeOpening(text, ahead);
  if (bracket === undefined) return undefined;
  const inner = ahead.at;
  if (takeOpening(text, ahead) === undefined && !takeClosing(text, ahead, bracket)) return undefined;
  reader.at = inner;
  return bracket;
}

/**
 * Reads one entry in parentheses or square brackets. Braces are refused, because they mean that the order does not
 * matter.
 */
function takePlacement(reader: Reader, wanted: string): Placement {
  const { text, at } = reader;
  const bracket = takeOpening(text, reader);
  if (bracket === undefined || bracket === "}") {
    reader.at = at;
    fail(reader, wanted);
  }
  const meeting = takeIndex(reader);
  skipComma(reader);
  const room = takeIndex(reader);
  skipComma(reader);
  const start = takeStart(reader);
  if (reader.problem === undefined && !takeClosing(text, reader, bracket ?? ")")) fail(reader, `'${bracket}'`);
  return { meeting, room, start };
}

function takeIndex(reader: Reader): number {
  if (reader.problem !== undefined) return -1;
  const number = takeQuoted(reader.text, reader, takeNumber);
  if (Number.isNaN(number)) fail(reader, "a whole number");
  if (number === Infinity) fail(reader, `a number of at most ${DIGITS_MAX} digits`);
  reader.at = skipGap(reader.text, reader.at);
  return number;
}

const LATEX_TEXT = "\\text{";

function takeStart(reader: Reader): number {
  if (reader.problem !== undefined) return -1;
  const { text } = reader;
  const isText = text.startsWith(LATEX_TEXT, reader.at);
  if (isText) reader.at = skipGap(text, reader.at + LATEX_TEXT.length);
  const minutes = takeQuoted(text, reader, takeTime);
  if (Number.isNaN(minutes)) fail(reader, "a time from 00:00 to 23:59 as HH:MM");
  reader.at = skipGap(text, reader.at);
  if (isText && !takeClosing(text, reader, "}")) fail(reader, "'}'");
  return minutes;
}

function skipComma(reader: Reader): void {
  if (reader.problem === undefined && !takeComma(reader.text, reader)) fail(reader, "','");
}

function fail(reader: Reader, wanted: string): void {
  reader.problem ??= foundInstead(reader.text, reader.at, wanted);
}

/** Formats a schedule as "[(1, 1, 09:00), (2, 0, 10:30)]". */
export function format(schedule: Schedule): string {
  return `[${schedule.map(({ meeting, room, start }) => `(${meeting}, ${room}, ${clockTime(start)})`).join(", ")}]`;
}
