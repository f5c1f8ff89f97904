/**
 * Finds good schedules by local search over orders of meetings. For a given order, each meeting is held as early as the
 * meetings before it allow.
 */
import { type Rng, rngFor } from "../../../lib/rng.ts";
import type { Placement } from "../generate.ts";
import type { Grid } from "./grid.ts";
import type { Model } from "./model.ts";

interface Scratch {
  readonly model: Model;
  readonly grid: Grid;
  readonly rng: Rng;
  /** Rooms, with the fewest seats first. */
  readonly rooms: readonly number[];
  /**
   * Occupied slots of people and of rooms, 1 while in a meeting. The index is person · slots + slot, or room · slots +
   * slot.
   */
  readonly busy: Uint8Array;
  readonly taken: Uint8Array;
  /** Number of checks of attendees and rooms so far. The search stops when it reaches `workMax`. */
  work: number;
  readonly workMax: number;
}

interface Found {
  readonly value: number;
  readonly placements: readonly Placement[];
}

/**
 * Returns the best schedule found, with its meetings in the order of starts. Returns undefined if no schedule has more
 * attendance than `least`.
 */
export function improve(model: Model, grid: Grid, least: number, workMax: number): Found | undefined {
  const scratch: Scratch = {
    model,
    grid,
    rng: rngFor("np/meetings", "solve"),
    work: 0,
    workMax,
    rooms: [...model.rooms.keys()].sort((a, b) => model.rooms[a]! - model.rooms[b]! || a - b),
    busy: new Uint8Array(model.availability.length * grid.slots),
    taken: new Uint8Array(model.rooms.length * grid.slots),
  };
  let best: Found = { value: least, placements: [] };
  const note = (found: Found): void => {
    if (found.value > best.value) best = found;
  };
  while (scratch.work < workMax) climb(scratch, note);
  if (best.value === least) return undefined;
  return { ...best, placements: best.placements.toSorted((a, b) => a.start - b.start || a.meeting - b.meeting) };
}

/** Number of moves without an improvement after which the search starts from a new random order. */
const PATIENCE = 300;

function climb(scratch: Scratch, note: (found: Found) => void): void {
  const { model, rng, workMax } = scratch;
  let order: readonly number[] = rng.shuffle([...model.jobs.keys()]);
  let value = 0;
  for (let idle = 0; idle < PATIENCE && scratch.work < workMax; idle++) {
    const next = value === 0 ? order : moved(order, rng);
    const found = decode(scratch, next);
    if (found.value < value) continue;
    if (found.value > value) idle = 0;
    [order, value] = [next, found.value];
    note(found);
  }
}

/** Returns the order with one random meeting moved to an earlier position. */
function moved(order: readonly number[], rng: Rng): readonly number[] {
  const from = rng.int(0, order.length - 1);
  const to = rng.int(0, from);
  return [...order.slice(0, to), order[from]!, ...order.slice(to, from), ...order.slice(from + 1)];
}

function decode(scratch: Scratch, order: readonly number[]): Found {
  scratch.busy.fill(0);
  scratch.taken.fill(0);
  const placements: Placement[] = [];
  let value = 0;
  for (const meeting of order) {
    const placed = earliest(scratch, meeting);
    if (placed === undefined) continue;
    placements.push(placed);
    value += scratch.model.jobs[meeting]!.size;
  }
  scratch.work += order.length;
  return { value, placements };
}

/**
 * Places a meeting as early as possible, in the smallest suitable room that is then free. Returns undefined if the
 * meeting cannot be held.
 */
function earliest(scratch: Scratch, meeting: number): Placement | undefined {
  const { model, grid, rooms, busy, taken } = scratch;
  const { attendees, size } = model.jobs[meeting]!;
  const length = grid.lengths[meeting]!;
  for (const slot of grid.starts[meeting]!) {
    scratch.work += attendees.length;
    if (!attendees.every((person) => isFree(busy, person * grid.slots + slot, length))) continue;
    scratch.work += rooms.length;
    const room = rooms.find((each) => model.rooms[each]! >= size && isFree(taken, each * grid.slots + slot, length));
    if (room === undefined) continue;
    for (const person of attendees) busy.fill(1, person * grid.slots + slot, person * grid.slots + slot + length);
    taken.fill(1, room * grid.slots + slot, room * grid.slots + slot + length);
    return { meeting, room, start: model.dayStart + slot * grid.unit };
  }
  return undefined;
}

function isFree(busy: Uint8Array, from: number, length: number): boolean {
  for (let at = from; at < from + length; at++) if (busy[at] === 1) return false;
  return true;
}
