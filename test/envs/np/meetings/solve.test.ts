import { expect, test } from "vitest";
import type { Solver } from "../../../../envs/environment.ts";
import { meetings } from "../../../../envs/np/meetings/index.ts";
import type { MeetingsInstance } from "../../../../envs/np/meetings/instance.ts";
import type { Schedule } from "../../../../envs/np/meetings/parse.ts";
import { draw, drawBenchmark, levelOf } from "../draws.ts";
import { expectSound } from "../expect-sound.ts";
import { fixedMeetings, randomMeetings, renamed } from "./instances.ts";
import { mostAttended } from "./schedule-methods.ts";

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

test("1,500 small instances match every schedule, with any budget", () => {
  for (let seed = 0; seed < 1500; seed++) {
    const instance = randomMeetings(seed);
    expectOptimal(instance, mostAttended(instance, 1));
  }
});

test("1,000 instances where only rooms are scarce match every schedule, with any budget", () => {
  for (let seed = 0; seed < 1000; seed++) {
    const instance = fixedMeetings(seed);
    expectOptimal(instance, mostAttended(instance, 1));
  }
});

test("rooms that are enough at every time may yet not be enough", () => {
  // Of three seats there is one room: meetings 0 and 3 need it, and so meetings 1 and 2 both need the other.
  const times = [
    [0, 20, 3],
    [10, 40, 2],
    [30, 60, 2],
    [50, 80, 3],
  ] as const;
  let attendee = 0;
  const instance = {
    meetings: times.map(([start, end, size]) => ({
      attendees: Array.from({ length: size }, () => attendee++),
      minutes: end - start,
    })),
    availability: times.flatMap(([start, end, size]) => Array.from({ length: size }, () => [{ start, end }])),
    rooms: [2, 3],
  };
  expectOptimal(instance, 8);
  expect(mostAttended({ ...instance, rooms: [3, 3] }, 10)).toBe(10);
  expectOptimal({ ...instance, rooms: [3, 3] }, 10);
});

test.each(meetings.levels)("150 instances of level $name match every schedule in quarters of an hour", (level) => {
  for (let seed = 0; seed < 150; seed++) {
    const instance = draw(meetings, level.parameters, seed);
    expectOptimal(instance, mostAttended(instance, 15));
  }
});

test("500 benchmark instances are proven, whatever meetings, attendees and rooms are called", () => {
  for (let seed = 0; seed < 500; seed++) {
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
