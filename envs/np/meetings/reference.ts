/**
 * Generates days as the papers' public code does (OliverLeeXZ/NP-Engine, NP_tasks/meeting_schedule). At every level,
 * everybody is available from 09:00 to 17:00 except for a lunch break from 12:00 to 13:00. Times are minutes since
 * midnight.
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
  /** Maximum number of attendees of a meeting. */
  readonly size: number;
}

/** Returns the meetings, each person's availability, and the seats of each room. */
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
