import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import type { MeetingsInstance } from "../../../../envs/np/meetings/generate.ts";
import { meetings } from "../../../../envs/np/meetings/index.ts";
import { modelOf } from "../../../../envs/np/meetings/solve/model.ts";
import { extend, newSearch } from "../../../../envs/np/meetings/solve/search.ts";
import type { Schedule } from "../../../../envs/np/meetings/verify.ts";
import { draw, drawBenchmark, levelOf } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { randomMeetings, renamed, roomlessMeetings } from "./instances.ts";
import { mostAttended } from "./schedule-methods.ts";
import { share } from "../../../support/share.ts";

const solver = meetings.solver as Solver<MeetingsInstance, Schedule>;

function expectOptimal(instance: MeetingsInstance, optimum: number): void {
  const solution = solver.solve(instance);
  expectSound(meetings, instance, solution, optimum);
  expect(solution).toMatchObject({ value: optimum, bound: optimum, proven: true });
  for (const nodesMax of [0, 1, 2, 10]) {
    const cut = solver.solve(instance, nodesMax);
    expectSound(meetings, instance, cut, optimum);
    expect(cut.nodes).toBeLessThanOrEqual(nodesMax);
  }
}

test("small instances match every schedule, with any budget", () => {
  for (let seed = 0; seed < share(1000); seed++) {
    const instance = randomMeetings(seed);
    expectOptimal(instance, mostAttended(instance, 1));
  }
});

test("instances where only rooms are scarce match every schedule, with any budget", () => {
  for (let seed = 0; seed < share(1000); seed++) {
    const instance = roomlessMeetings(seed);
    expectOptimal(instance, mostAttended(instance, 1));
  }
});

test("the search that chooses rooms, which is rarely needed, alone matches every schedule on both", () => {
  for (const kind of [randomMeetings, roomlessMeetings]) {
    for (let seed = 0; seed < share(1000); seed++) {
      const instance = kind(seed);
      const search = { ...newSearch(modelOf(instance), Infinity), choosesRooms: true };
      extend(search, 0);
      expect(search.best).toBe(mostAttended(instance, 1));
      expect(meetings.verify(instance, search.bestPlacements)).toEqual({ kind: "feasible", objective: search.best });
    }
  }
});

test("the longest searches are proven: 11 meetings of people without breaks", () => {
  const sizes = { meetings_min: 11, meetings_max: 11, breaks_min: 0, breaks_max: 0 };
  for (let seed = 0; seed < 6; seed++) {
    const instance = draw(meetings, { ...levelOf(meetings, "benchmark"), ...sizes }, seed);
    const solution = solver.solve(instance);
    expectSound(meetings, instance, solution, solution.value);
    expect(solution.proven).toBe(true);
  }
});

test("rooms that are enough at every time may yet not be enough", () => {
  // Only one room has three seats. Meetings 0 and 3 take it, and so meetings 1 and 2 would both need the other.
  const chain = (lastEnd: number, rooms: readonly number[]): MeetingsInstance => {
    const days = [
      { start: 0, end: 20 },
      { start: 10, end: 40 },
      { start: 30, end: 60 },
      { start: 50, end: lastEnd },
    ];
    const attendees = [
      [0, 1, 2],
      [3, 4],
      [5, 6],
      [7, 8, 9],
    ];
    return {
      meetings: attendees.map((each, i) => ({ attendees: each, minutes: i === 0 ? 20 : 30 })),
      availability: attendees.flatMap((each, i) => each.map(() => [days[i]!])),
      rooms,
    };
  };
  expectOptimal(chain(80, [2, 3]), 8);
  expectOptimal(chain(80, [3, 3]), 10);
  // Now meeting 3 can wait until meeting 2 leaves the room.
  expectOptimal(chain(89, [2, 3]), 8);
  expectOptimal(chain(90, [2, 3]), 10);
});

// To go through all schedules of a day without breaks takes minutes.
const withBreaks = meetings.levels.filter(({ name }) => name !== "reference");

test.each(withBreaks)("instances of level $name match every schedule in quarters of an hour", (level) => {
  for (let seed = 0; seed < share(100); seed++) {
    const instance = draw(meetings, level.parameters, seed);
    expectOptimal(instance, mostAttended(instance, 15));
  }
});

test("instances of level reference are proven", () => {
  for (let seed = 0; seed < share(30); seed++) {
    const instance = draw(meetings, levelOf(meetings, "reference"), seed);
    const solution = solver.solve(instance);
    expectSound(meetings, instance, solution, solution.value);
    expect(solution.proven).toBe(true);
  }
});

test("benchmark instances are proven, whatever meetings, attendees and rooms are called", () => {
  for (let seed = 0; seed < share(500); seed++) {
    const instance = drawBenchmark(meetings, seed);
    const solution = solver.solve(instance);
    expectSound(meetings, instance, solution, solution.value);
    expect(solution.proven).toBe(true);
    expect(solver.solve(instance)).toEqual(solution);
    expect(solver.solve(renamed(instance, seed))).toMatchObject({ value: solution.value, proven: true });
  }
});

test("large instances end, with a sound answer", () => {
  const sizes = { meetings_min: 40, meetings_max: 40, attendees_min: 40, attendees_max: 40 };
  for (const large_rooms_max of [1, 5]) {
    const instance = draw(meetings, { ...levelOf(meetings, "benchmark"), ...sizes, large_rooms_max }, 1);
    const cut = solver.solve(instance, 2000);
    expectSound(meetings, instance, cut, cut.value);
    expect(cut.nodes).toBeLessThanOrEqual(2000);
    expect(cut.bound).toBeLessThan(2 * cut.value);
  }
});
