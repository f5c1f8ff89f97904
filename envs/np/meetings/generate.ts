/**
 * Generates meetings of people who have breaks in their day, and rooms of which few seat the largest meetings. Rooms
 * are therefore scarce; with the papers' counts of rooms (FORGE A.5.5) they would not be.
 */
import { defineGenerator } from "../../define.ts";
import type { InlineCodec } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/encode-bits.ts";
import type { Cursor } from "../../lib/parse-lists.ts";
import { colourOf, refine } from "../../lib/structure-hash.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { narrow } from "../../lib/text.ts";
import {
  defineParameters,
  laterSwitch,
  minMax,
  type ParametersOf,
  type Range,
  ranges,
  sizeAxis,
  wholeNumber,
} from "../../parameters.ts";
import { makeMeetings } from "./reference.ts";

/** Interval in minutes since midnight. Includes `start` and excludes `end`. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

export interface Meeting {
  /** Numbers of the attendees, ascending. */
  readonly attendees: readonly number[];
  readonly minutes: number;
}

export interface MeetingsInstance {
  readonly meetings: readonly Meeting[];
  /** Intervals in which each attendee is available, by rising start, with gaps between them. */
  readonly availability: readonly (readonly Interval[])[];
  /** Number of seats of each room. */
  readonly rooms: readonly number[];
}

/** Returns a text that is equal for instances that differ only in the numbering of meetings, attendees or rooms. */
export function invariant({ meetings, availability, rooms }: MeetingsInstance): string {
  const people = availability.map((day) => colourOf(day.flatMap(({ start, end }) => [start, end])));
  const colours = [...people, ...meetings.map(({ minutes }) => minutes)];
  const edges = meetings.flatMap(({ attendees }, meeting) => attendees.flatMap((a) => [a, people.length + meeting, 1]));
  const seats = rooms.toSorted((a, b) => a - b);
  return [people.length, meetings.length, refine({ colours, edges }), ...seats].join(" ");
}

/** One meeting that is held: its number, its room and its start. */
export interface Placement {
  readonly meeting: number;
  readonly room: number;
  /** Start of the meeting, in minutes since midnight. */
  readonly start: number;
}

/** Returns the intervals in which all of the attendees are available. */
export function commonIntervals(
  availability: MeetingsInstance["availability"],
  attendees: readonly number[],
): readonly Interval[] {
  const own = attendees.map((attendee) => availability[attendee] as readonly Interval[]);
  return own.reduce((left, right) => left.flatMap((one) => right.flatMap((other) => overlap(one, other))));
}

function overlap(one: Interval, other: Interval): readonly Interval[] {
  const start = Math.max(one.start, other.start);
  const end = Math.min(one.end, other.end);
  return start < end ? [{ start, end }] : [];
}

/** Returns the total attendance of these meetings. A person who attends several meetings counts once for each. */
export function attendance({ meetings }: MeetingsInstance, held: readonly number[]): number {
  let sum = 0;
  for (const meeting of held) sum += (meetings[meeting] as Meeting).attendees.length;
  return sum;
}

const ROOMS = { min: 1, max: 10, integer: true };

const parameters = defineParameters({
  ...minMax("meetings", ["Fewest meetings.", "Most meetings."], [4, 5], { min: 1, max: 11, integer: true }),
  ...minMax("attendees", ["Fewest people.", "Most people."], [3, 5], { min: 2, max: 14, integer: true }),
  ...minMax("rooms", ["Fewest rooms.", "Most rooms."], [3, 4], ROOMS),
  large_rooms_max: { description: "Most rooms that seat the largest meetings.", defaultValue: 1, ...ROOMS },
  size_max: wholeNumber("Most attendees of a meeting.", 3, [2, 8]),
  ...minMax(
    "quarters",
    ["Shortest meeting, in quarters of an hour.", "Longest meeting, in quarters of an hour."],
    [4, 8],
    { min: 1, max: 12, integer: true },
  ),
  ...minMax("breaks", ["Fewest breaks in a person's day.", "Most breaks in a person's day."], [0, 1], {
    min: 0,
    max: 4,
    integer: true,
  }),
  reference: laterSwitch(
    "1: days as the papers' public code makes them: meetings of 30, 60 or 90 minutes, rooms of 3 to 10 seats, and everybody away from 12:00 to 13:00; of the other parameters, only size_max and the numbers of meetings, attendees and rooms have an effect.",
  ),
});

interface Sizes {
  readonly meetings: Range;
  readonly attendees: Range;
  readonly rooms: Range;
  readonly size: number;
  readonly quarters: Range;
  readonly breaks: Range;
}

function level(name: string, { size, ...sizes }: Sizes) {
  const { meetings, attendees, rooms, breaks } = sizes;
  return {
    name,
    description: `${meetings.join(" to ")} meetings of at most ${size} out of ${attendees.join(" to ")} people, who have ${breaks.join(" to ")} breaks a day; ${rooms.join(" to ")} rooms`,
    parameters: { ...ranges(sizes), large_rooms_max: 1, size_max: size },
  };
}

/** Levels of the FORGE paper, section A.5.5, and `reference` from its public code. */
const levels = [
  level("easy", {
    meetings: [4, 5],
    attendees: [3, 5],
    rooms: [3, 4],
    size: 3,
    quarters: [4, 8],
    breaks: [0, 1],
  }),
  level("medium", {
    meetings: [5, 6],
    attendees: [4, 6],
    rooms: [4, 5],
    size: 4,
    quarters: [4, 8],
    breaks: [0, 2],
  }),
  level("hard", {
    meetings: [6, 7],
    attendees: [5, 7],
    rooms: [5, 6],
    size: 4,
    quarters: [4, 8],
    breaks: [1, 2],
  }),
  level("benchmark", {
    meetings: [8, 10],
    attendees: [7, 9],
    rooms: [6, 7],
    size: 5,
    quarters: [3, 8],
    breaks: [1, 2],
  }),
  {
    name: "reference",
    description:
      "as the papers' public code makes its benchmark: 8 to 10 meetings of at most 5 out of 7 to 9 people; 6 to 7 rooms of 3 to 10 seats",
    parameters: {
      ...ranges({ meetings: [8, 10], attendees: [7, 9], rooms: [6, 7], quarters: [2, 6], breaks: [1, 1] }),
      large_rooms_max: 1,
      size_max: 5,
      reference: 1,
    },
    byName: true,
  },
];

/** Length of a quarter of an hour, in minutes. All times are multiples of it, from 09:00 to 17:00. */
const QUARTER = 15;
const DAY: Interval = { start: 9 * 60, end: 17 * 60 };
const BREAK_QUARTERS = [2, 6] as const;
/**
 * Maximum number of tries per meeting, on average. A meeting for which its attendees have no common time is drawn
 * again.
 */
const TRIES_MAX = 50;

export const generator = defineGenerator({
  parameters,
  axes: [sizeAxis("meetings", [2, 11])],
  levels,
  generate(p, rng): MeetingsInstance | undefined {
    const meetingCount = rng.int(p.meetings_min, p.meetings_max);
    const people = rng.int(p.attendees_min, p.attendees_max);
    if (p.reference === 1)
      return makeMeetings(
        { meetings: meetingCount, people, rooms: rng.int(p.rooms_min, p.rooms_max), size: p.size_max },
        rng,
      );
    const availability = Array.from({ length: people }, () => randomDay(rng, rng.int(p.breaks_min, p.breaks_max)));
    const rooms = randomRooms(rng, p);
    const meetings: Meeting[] = [];
    for (let tries = 0; meetings.length < meetingCount; tries++) {
      if (tries === TRIES_MAX * meetingCount) return undefined;
      const attendees = sample(people, randomSize(rng, p.size_max), rng);
      const minutes = QUARTER * rng.int(p.quarters_min, p.quarters_max);
      const fits = ({ start, end }: Interval): boolean => end - start >= minutes;
      if (!commonIntervals(availability, attendees).some(fits)) continue;
      meetings.push({ attendees: attendees.toSorted((a, b) => a - b), minutes });
    }
    return { meetings, availability, rooms };
  },
  conflict({ size_max, attendees_min }) {
    if (size_max <= attendees_min) return undefined;
    return `size_max must not be above attendees_min: ${size_max} > ${attendees_min}`;
  },
});

/** Returns a working day minus some random breaks, which may overlap. */
function randomDay(rng: Rng, breaks: number): readonly Interval[] {
  let day: readonly Interval[] = [DAY];
  for (let i = 0; i < breaks; i++) {
    const minutes = QUARTER * rng.int(...BREAK_QUARTERS);
    const start = DAY.start + QUARTER * rng.int(0, (DAY.end - DAY.start - minutes) / QUARTER);
    day = day.flatMap((interval) => without(interval, { start, end: start + minutes }));
  }
  return day;
}

function without({ start, end }: Interval, taken: Interval): readonly Interval[] {
  const before = { start, end: Math.min(end, taken.start) };
  const after = { start: Math.max(start, taken.end), end };
  return [before, after].filter((interval) => interval.start < interval.end);
}

/**
 * Returns a random meeting size from 2 to `max`. Middle sizes are more likely, because small meetings fit anywhere, and
 * large ones exclude all other meetings.
 */
function randomSize(rng: Rng, max: number): number {
  return Math.floor((rng.int(2, max) + rng.int(2, max)) / 2);
}

/**
 * Returns the seats of each room. At least one room seats the largest meetings; the other rooms have from 2 to at most
 * half as many seats.
 */
function randomRooms(rng: Rng, own: ParametersOf<typeof parameters>): readonly number[] {
  const count = rng.int(own.rooms_min, own.rooms_max);
  const large = rng.int(1, Math.min(count, own.large_rooms_max));
  const smallMax = Math.max(2, Math.floor(own.size_max / 2));
  const seats = Array.from({ length: count }, (_, room) => (room < large ? own.size_max : rng.int(2, smallMax)));
  return rng.shuffle(seats);
}

// The codec below encodes instances that travel in task ids.

/**
 * Encodes three lists, each after its length: meetings as minutes and attendees, people as intervals, and rooms as
 * seats.
 */
export const inline: InlineCodec<MeetingsInstance> = {
  encode: ({ meetings, availability, rooms }) =>
    encodeNumbers([
      meetings.length,
      ...meetings.flatMap(({ minutes, attendees }) => [minutes, attendees.length, ...attendees]),
      availability.length,
      ...availability.flatMap((day) => [day.length, ...day.flatMap(({ start, end }) => [start, end])]),
      rooms.length,
      ...rooms,
    ]),
  decode: (bytes) => {
    const numbers = decodeNumbers(bytes).values();
    const next = (): number => numbers.next().value as number;
    const list = <Item>(read: () => Item): readonly Item[] => Array.from({ length: next() }, read);
    return {
      meetings: list(() => ({ minutes: next(), attendees: list(next) })),
      availability: list(() => list(() => ({ start: next(), end: next() }))),
      rooms: list(next),
    };
  },
};

// The functions below write and read times of day, as in the prompt and in answers.

/** Formats minutes since midnight as "09:30". */
export function clockTime(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, "0");
}

const COLON = 58;

/**
 * Reads a time such as "9:30" at a cursor and moves the cursor after it. Returns minutes since midnight. Returns NaN,
 * and leaves the cursor, if there is no time from 00:00 to 23:59.
 */
export function takeTime(text: string, cursor: Cursor): number {
  const start = cursor.at;
  const isShort = narrow(text.charCodeAt(start + 1)) === COLON;
  const colon = isShort ? start + 1 : start + 2;
  const hour = isShort ? digitAt(text, start) : 10 * digitAt(text, start) + digitAt(text, start + 1);
  const minute = 10 * digitAt(text, colon + 1) + digitAt(text, colon + 2);
  if (narrow(text.charCodeAt(colon)) !== COLON || !(hour <= 23 && minute <= 59)) return NaN;
  cursor.at = colon + 3;
  return 60 * hour + minute;
}

/** Returns the digit at an index, or NaN if there is none. */
function digitAt(text: string, at: number): number {
  const digit = narrow(text.charCodeAt(at)) - 48;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}
