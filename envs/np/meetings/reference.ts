/**
 * Days as the papers' public code makes them (OliverLeeXZ/NP-Engine, NP_tasks/meeting_schedule), whose chance of a
 * divided day is 1 at every level: everybody has lunch, and nothing else keeps anyone away. Times are minutes.
 */
import { type Rng, sample } from "../../lib/rng.ts";
import type { Range } from "../../parameters.ts";

const DURATIONS = [30, 60, 90] as const;
const SEATS: Range = [3, 10];
const MORNING = { start: 9 * 60, end: 12 * 60 };
const AFTERNOON = { start: 13 * 60, end: 17 * 60 };
const ATTENDEES_MIN = 2;

export interface Counts {
  readonly meetings: number;
  readonly people: number;
  readonly rooms: number;
  /** Most attendees of a meeting. */
  readonly size: number;
}

/** Meetings, when each of the people can be met, and seats by room. */
export function makeMeetings({ meetings, people, rooms, size }: Counts, rng: Rng) {
  const meeting = () => ({
    attendees: sample(people, rng.int(ATTENDEES_MIN, size), rng).toSorted((a, b) => a - b),
    minutes: rng.pick(DURATIONS),
  });
  return {
    meetings: Array.from({ length: meetings }, meeting),
    availability: Array.from({ length: people }, () => [MORNING, AFTERNOON]),
    rooms: Array.from({ length: rooms }, () => rng.int(...SEATS)),
  };
}
