/**
 * People with breaks in their day, meetings of some of them, and rooms of which few seat the largest meetings, so that
 * rooms bind: at the papers' counts of rooms (FORGE A.5.5) they would not.
 */
import type { Generator, InlineCodec, Level, ParameterInfo, Parameters } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline.ts";
import type { Cursor } from "../../lib/lists.ts";
import { type Rng, sample } from "../../lib/rng.ts";
import { minAboveMax } from "../../parameters.ts";

// What a meeting scheduling task is.

/** Minutes since midnight, from start up to but without end. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

export interface Meeting {
  /** By rising number. */
  readonly attendees: readonly number[];
  readonly minutes: number;
}

export interface MeetingsInstance {
  readonly meetings: readonly Meeting[];
  /** By attendee: when they can be met, by rising start, with time between one interval and the next. */
  readonly availability: readonly (readonly Interval[])[];
  /** By room: how many it seats. */
  readonly rooms: readonly number[];
}

/** A meeting held. */
export interface Placement {
  readonly meeting: number;
  readonly room: number;
  /** Minutes since midnight. */
  readonly start: number;
}

/** The intervals in which all of some attendees can be met. */
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

/** How many attend the meetings of these numbers, those who attend several counted for each. */
export function attendance({ meetings }: MeetingsInstance, held: readonly number[]): number {
  let sum = 0;
  for (const meeting of held) sum += (meetings[meeting] as Meeting).attendees.length;
  return sum;
}

/** All times are quarters of an hour from 09:00 to 17:00. */
const QUARTER = 15;
const DAY: Interval = { start: 9 * 60, end: 17 * 60 };
const BREAK_QUARTERS = [2, 6] as const;
/** A meeting that could never be held is drawn again, so often. */
const DRAWS_MAX = 50;

export const generator: Generator<MeetingsInstance> = {
  draw(parameters, rng) {
    const own = parameters as Readonly<Record<Name, number>>;
    const meetingCount = rng.int(own.meetings_min, own.meetings_max);
    const people = rng.int(own.attendees_min, own.attendees_max);
    const availability = Array.from({ length: people }, () => drawDay(rng, rng.int(own.breaks_min, own.breaks_max)));
    const rooms = drawRooms(rng, own);
    const meetings: Meeting[] = [];
    for (let draws = 0; meetings.length < meetingCount; draws++) {
      if (draws === DRAWS_MAX * meetingCount) return undefined;
      const attendees = sample(people, drawSize(rng, own.size_max), rng);
      const minutes = QUARTER * rng.int(own.quarters_min, own.quarters_max);
      const fits = ({ start, end }: Interval): boolean => end - start >= minutes;
      if (!commonIntervals(availability, attendees).some(fits)) continue;
      meetings.push({ attendees: attendees.toSorted((a, b) => a - b), minutes });
    }
    return { meetings, availability, rooms };
  },
};

/** A working day without some breaks, which may run into each other. */
function drawDay(rng: Rng, breaks: number): readonly Interval[] {
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

/** From 2 to a largest size, those in the middle more often: small meetings fit anywhere, and large ones exclude all. */
function drawSize(rng: Rng, max: number): number {
  return Math.floor((rng.int(2, max) + rng.int(2, max)) / 2);
}

/** Seats by room: at least one seats the largest meetings, and the others from 2 to at most half as many. */
function drawRooms(rng: Rng, own: Readonly<Record<Name, number>>): readonly number[] {
  const count = rng.int(own.rooms_min, own.rooms_max);
  const large = rng.int(1, Math.min(count, own.large_rooms_max));
  const smallMax = Math.max(2, Math.floor(own.size_max / 2));
  const seats = Array.from({ length: count }, (_, room) => (room < large ? own.size_max : rng.int(2, smallMax)));
  return rng.shuffle(seats);
}

type Name =
  `${"meetings" | "attendees" | "rooms" | "quarters" | "breaks"}_${"min" | "max"}` | "large_rooms_max" | "size_max";

// The generator's parameters, and the papers' levels (FORGE A.5.5).

const MEETINGS = { min: 1, max: 11, integer: true } as const;
const ATTENDEES = { min: 2, max: 14, integer: true } as const;
const ROOMS = { min: 1, max: 10, integer: true } as const;
const SIZE = { min: 2, max: 8, integer: true } as const;
const QUARTERS = { min: 1, max: 12, integer: true } as const;
const BREAKS = { min: 0, max: 4, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "meetings_min", description: "Fewest meetings.", defaultValue: 4, ...MEETINGS },
  { name: "meetings_max", description: "Most meetings.", defaultValue: 5, ...MEETINGS },
  { name: "attendees_min", description: "Fewest people.", defaultValue: 3, ...ATTENDEES },
  { name: "attendees_max", description: "Most people.", defaultValue: 5, ...ATTENDEES },
  { name: "rooms_min", description: "Fewest rooms.", defaultValue: 3, ...ROOMS },
  { name: "rooms_max", description: "Most rooms.", defaultValue: 4, ...ROOMS },
  { name: "large_rooms_max", description: "Most rooms that seat the largest meetings.", defaultValue: 1, ...ROOMS },
  { name: "size_max", description: "Most attendees of a meeting.", defaultValue: 3, ...SIZE },
  { name: "quarters_min", description: "Shortest meeting, in quarters of an hour.", defaultValue: 4, ...QUARTERS },
  { name: "quarters_max", description: "Longest meeting, in quarters of an hour.", defaultValue: 8, ...QUARTERS },
  { name: "breaks_min", description: "Fewest breaks in a person's day.", defaultValue: 0, ...BREAKS },
  { name: "breaks_max", description: "Most breaks in a person's day.", defaultValue: 1, ...BREAKS },
];

/** What is wrong with parameters together. */
export function checkParameters(values: Parameters): string | undefined {
  const message = minAboveMax(values);
  if (message !== undefined) return message;
  const { size_max, attendees_min } = values as Readonly<Record<"size_max" | "attendees_min", number>>;
  if (size_max <= attendees_min) return undefined;
  return `size_max must not be above attendees_min: ${size_max} > ${attendees_min}`;
}

type Range = readonly [min: number, max: number];

interface Sizes {
  readonly meetings: Range;
  readonly attendees: Range;
  readonly rooms: Range;
  readonly largeRooms: number;
  readonly size: number;
  readonly quarters: Range;
  readonly breaks: Range;
}

function level(name: string, sizes: Sizes): Level {
  const { meetings, attendees, rooms, largeRooms, size, quarters, breaks } = sizes;
  return {
    name,
    description: `${meetings[0]} to ${meetings[1]} meetings of at most ${size} out of ${attendees[0]} to ${attendees[1]} people, who have ${breaks[0]} to ${breaks[1]} breaks a day; ${rooms[0]} to ${rooms[1]} rooms`,
    parameters: {
      ...{ meetings_min: meetings[0], meetings_max: meetings[1], attendees_min: attendees[0] },
      ...{ attendees_max: attendees[1], rooms_min: rooms[0], rooms_max: rooms[1], large_rooms_max: largeRooms },
      ...{ size_max: size, quarters_min: quarters[0], quarters_max: quarters[1] },
      ...{ breaks_min: breaks[0], breaks_max: breaks[1] },
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", {
    ...{ meetings: [4, 5], attendees: [3, 5], rooms: [3, 4], largeRooms: 1 },
    ...{ size: 3, quarters: [4, 8], breaks: [0, 1] },
  }),
  level("medium", {
    ...{ meetings: [5, 6], attendees: [4, 6], rooms: [4, 5], largeRooms: 1 },
    ...{ size: 4, quarters: [4, 8], breaks: [0, 2] },
  }),
  level("hard", {
    ...{ meetings: [6, 7], attendees: [5, 7], rooms: [5, 6], largeRooms: 1 },
    ...{ size: 4, quarters: [4, 8], breaks: [1, 2] },
  }),
  level("benchmark", {
    ...{ meetings: [8, 10], attendees: [7, 9], rooms: [6, 7], largeRooms: 1 },
    ...{ size: 5, quarters: [3, 8], breaks: [1, 2] },
  }),
];

// Instances as bytes, for those that travel in task ids.

/** Three lists, each after its length: meetings as (minutes, attendees), people as intervals, and rooms as seats. */
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

// Times of the day, in the prompt and in answers.

/** Minutes since midnight as "09:30". */
export function clockTime(minutes: number): string {
  return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(number: number): string {
  return `${number}`.padStart(2, "0");
}

const COLON = 58;
const QUOTES = [34, 39];

/**
 * Reads the time at a cursor, in quotes or not, and moves that behind it. Minutes since midnight; NaN: there is none from
 * 00:00 to 23:59, and the cursor stays.
 */
export function takeTime(text: string, cursor: Cursor): number {
  const quote = text.charCodeAt(cursor.at);
  const quoted = QUOTES.includes(quote);
  const start = quoted ? cursor.at + 1 : cursor.at;
  const colon = text.charCodeAt(start + 1) === COLON ? start + 1 : start + 2;
  const hour = colon === start + 1 ? digitAt(text, start) : 10 * digitAt(text, start) + digitAt(text, start + 1);
  const minute = 10 * digitAt(text, colon + 1) + digitAt(text, colon + 2);
  if (text.charCodeAt(colon) !== COLON || !(hour <= 23 && minute <= 59)) return NaN;
  if (quoted && text.charCodeAt(colon + 3) !== quote) return NaN;
  cursor.at = colon + (quoted ? 4 : 3);
  return 60 * hour + minute;
}

/** NaN: no digit is there. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}
