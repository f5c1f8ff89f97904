/** Schedules: a meeting is taken in, left out, exchanged for another, held elsewhere, at another time or twice. */
import { type Rng, sample } from "../../../../envs/lib/rng.ts";
import {
  commonIntervals,
  type Meeting,
  type MeetingsInstance,
  type Placement,
} from "../../../../envs/np/meetings/generate.ts";
import type { Schedule } from "../../../../envs/np/meetings/verify.ts";
import { anyOf, type Neighbourhood } from "./neighbourhood.ts";

const DAY = 24 * 60;

/**
 * Returns a start for a meeting: the first or last one possible, the end of another meeting, a minute off it, or any
 * time.
 */
function anyStart(instance: MeetingsInstance, schedule: Schedule, meeting: number, rng: Rng): number {
  const { attendees, minutes } = instance.meetings[meeting] as Meeting;
  const common = commonIntervals(instance.availability, attendees).filter(({ start, end }) => start + minutes <= end);
  const ends = schedule.map((held) => held.start + (instance.meetings[held.meeting] as Meeting).minutes);
  const tight = [...ends, ...common.flatMap(({ start, end }) => [start, end - minutes])];
  const offset = rng.pick([0, 0, 0, 0, -1, 1]);
  const starts = tight.map((start) => start + offset).filter((start) => start >= 0 && start < DAY);
  return rng.pick([rng.int(0, DAY - 1), ...starts]);
}

function anyPlacement(instance: MeetingsInstance, schedule: Schedule, meeting: number, rng: Rng): Placement {
  const room = rng.int(0, instance.rooms.length - 1);
  return { meeting, room, start: anyStart(instance, schedule, meeting, rng) };
}

function takenIn(instance: MeetingsInstance, schedule: Schedule, rng: Rng): Schedule {
  const others = [...instance.meetings.keys()].filter((meeting) => schedule.every((held) => held.meeting !== meeting));
  if (others.length === 0) return schedule;
  return [...schedule, anyPlacement(instance, schedule, rng.pick(others), rng)];
}

function heldTwice(instance: MeetingsInstance, schedule: Schedule, rng: Rng): Schedule {
  if (schedule.length === 0) return schedule;
  return [...schedule, anyPlacement(instance, schedule, rng.pick(schedule).meeting, rng)];
}

function leftOut(_: MeetingsInstance, schedule: Schedule, rng: Rng): Schedule {
  return rng.shuffle(schedule).slice(1);
}

function heldElsewhere(instance: MeetingsInstance, schedule: Schedule, rng: Rng): Schedule {
  const [changed, ...rest] = rng.shuffle(schedule);
  if (changed === undefined) return schedule;
  const { room, start } = anyPlacement(instance, rest, changed.meeting, rng);
  return [
    ...rest,
    rng.pick([
      { ...changed, room },
      { ...changed, start },
      { ...changed, room, start },
    ]),
  ];
}

export const schedules: Neighbourhood<MeetingsInstance, Schedule> = {
  move: anyOf(takenIn, leftOut, heldElsewhere, heldTwice, (instance, schedule, rng) =>
    takenIn(instance, leftOut(instance, schedule, rng), rng),
  ),
  random: (instance, rng) => {
    const held = sample(instance.meetings.length, rng.int(0, instance.meetings.length), rng);
    return held.map((meeting) => anyPlacement(instance, [], meeting, rng));
  },
  start: () => [],
};
