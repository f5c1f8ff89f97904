/** What a meeting scheduling task is. */

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
