/** Finds rooms for meetings whose times are fixed. */
import type { Placement } from "../instance.ts";
import type { Job, Model } from "./model.ts";

/** Rooms tried at most; a schedule of the levels takes about as many as it has meetings. */
const TRIES_MAX = 10_000;

/**
 * The placements with their rooms, given in order of their starts; undefined: there are none, or too many tries were
 * needed. That at no time more meetings of a size are held than rooms seat is necessary, but not enough: a meeting does
 * not move from room to room (Kolen, Lenstra, Papadimitriou and Spieksma, "Interval scheduling: a survey", 2007).
 */
export function assignRooms({ jobs, rooms }: Model, placements: readonly Placement[]): Placement[] | undefined {
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
      // Of free rooms with as many seats, one is as good as another.
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
