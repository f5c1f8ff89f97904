/** Small schedules of every kind, and other names for meetings, attendees and rooms. */
import { type Rng, rngFor, sample } from "../../../../envs/lib/rng.ts";
import type { Interval, Meeting, MeetingsInstance } from "../../../../envs/np/meetings/generate.ts";

/** A day of so many minutes with some of them taken out, so that intervals never touch. */
function randomDay(rng: Rng, minutes: number, breaks: number): readonly Interval[] {
  const free = new Uint8Array(minutes + 1).fill(1, 0, minutes);
  for (let i = 0; i < breaks; i++) {
    const start = rng.int(0, minutes - 1);
    free.fill(0, start, Math.min(minutes, start + rng.int(1, 3)));
  }
  const intervals: Interval[] = [];
  let start = 0;
  for (const [minute, is] of free.entries()) {
    if (is === 1) continue;
    if (minute > start) intervals.push({ start, end: minute });
    start = minute + 1;
  }
  return intervals;
}

/** Up to five meetings on a day of a few minutes; some can never be held, and some people never come. */
export function randomMeetings(seed: number): MeetingsInstance {
  const rng = rngFor("meetings", seed);
  const [people, day, breaks] = [rng.int(2, 6), rng.int(3, 7), rng.int(0, 3)];
  const meetings = Array.from({ length: rng.int(1, 5) }, (): Meeting => {
    const attendees = sample(people, rng.int(1, Math.min(people, 3)), rng);
    return { attendees: attendees.toSorted((a, b) => a - b), minutes: rng.int(1, 4) };
  });
  const availability = Array.from({ length: people }, () => randomDay(rng, day, breaks));
  return { meetings, availability, rooms: Array.from({ length: rng.int(1, 3) }, () => rng.int(1, 3)) };
}

/** Meetings at nearly fixed times, each with attendees of its own: only rooms are scarce. */
export function roomlessMeetings(seed: number): MeetingsInstance {
  const rng = rngFor("roomless", seed);
  const meetings: Meeting[] = [];
  const availability: Interval[][] = [];
  for (let meeting = 0; meeting < 6; meeting++) {
    const [start, minutes, slack] = [rng.int(0, 9), rng.int(2, 4), rng.pick([0, 0, 1])];
    const attendees = Array.from({ length: rng.int(1, 3) }, (_, i) => availability.length + i);
    for (let i = 0; i < attendees.length; i++) availability.push([{ start, end: start + minutes + slack }]);
    meetings.push({ attendees, minutes });
  }
  return { meetings, availability, rooms: [rng.int(1, 2), rng.int(1, 3), 3] };
}

/** Everything under other numbers. */
export function renamed({ meetings, availability, rooms }: MeetingsInstance, seed: number): MeetingsInstance {
  const rng = rngFor("renamed", seed);
  const people = sample(availability.length, availability.length, rng);
  const days = people.map((_, name) => availability[people.indexOf(name)]!);
  const moved = meetings.map(({ attendees, minutes }) => ({
    attendees: attendees.map((attendee) => people[attendee]!).sort((a, b) => a - b),
    minutes,
  }));
  return { meetings: rng.shuffle(moved), availability: days, rooms: rng.shuffle(rooms) };
}
