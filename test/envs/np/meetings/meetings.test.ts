import { describe, expect, test } from "vitest";
import { commonIntervals, type MeetingsInstance } from "../../../../envs/np/meetings/generate.ts";
import { meetings } from "../../../../envs/np/meetings/index.ts";
import { resolveParameters } from "../../../../envs/parameters.ts";
import { draw, levelOf, toldOfExample } from "../draws.ts";
import { THREE } from "./three.ts";

const at = (hour: number, minute: number): number => 60 * hour + minute;

describe("the paper's example", () => {
  test("has optimum 8, by the paper's schedule with its last meeting ten minutes later", () => {
    const [first, second] = [
      { meeting: 0, room: 0, start: at(9, 0) },
      { meeting: 1, room: 1, start: at(10, 0) },
    ];
    const third = (start: number) => ({ meeting: 2, room: 0, start });
    expect(meetings.verify(THREE, [first, second, third(at(10, 20))])).toEqual({
      kind: "infeasible",
      violation: "attendee 3 is in meetings 1 and 2 at the same time",
    });
    const repaired = [first, second, third(at(10, 30))];
    expect(meetings.verify(THREE, repaired)).toEqual({ kind: "feasible", objective: 8 });
    expect(meetings.solver?.solve(THREE)).toMatchObject({ value: 8, bound: 8, proven: true });
    expect(meetings.trivial?.(THREE)).toBe(0);
  });
});

describe("parse", () => {
  const schedule = [
    { meeting: 2, room: 0, start: at(10, 30) },
    { meeting: 1, room: 1, start: at(9, 0) },
  ];

  test.each([
    "[(2, 0, 10:30), (1, 1, 09:00)]",
    "[[2, 0, 10:30], [1, 1, 09:00]]",
    '[[2, 0, "10:30"], [1, 1, "09:00"]]',
    "[(2,0,'10:30'),(1,1,'9:00')]",
    "\n[ ( 2 , 0 , 10:30 ) ,\n\t[ 01 , 001 , 9:00 ] ] ",
  ])("%j", (text) => {
    expect(meetings.parse(text, THREE)).toEqual({ kind: "answer", answer: schedule });
  });

  test("reads the first and the last minute of the day, and no meeting at all", () => {
    const start = (text: string): unknown => meetings.parse(`[(-1, 999999999, ${text})]`, THREE);
    const answer = (minutes: number) => [{ meeting: -1, room: 999_999_999, start: minutes }];
    expect(start("00:00")).toEqual({ kind: "answer", answer: answer(0) });
    expect(start("23:59")).toEqual({ kind: "answer", answer: answer(23 * 60 + 59) });
    expect(meetings.parse(" [ ] ", THREE)).toEqual({ kind: "answer", answer: [] });
  });
});

describe("verify", () => {
  test("agrees with the definition, minute by minute, for every room and start of a meeting", () => {
    for (const [meeting, { attendees, minutes }] of THREE.meetings.entries()) {
      for (const [room, seats] of THREE.rooms.entries()) {
        for (let start = 0; start < 24 * 60; start += 10) {
          const available = THREE.availability.map((day) =>
            day.some((i) => i.start <= start && start + minutes <= i.end),
          );
          const fine = seats >= attendees.length && attendees.every((attendee) => available[attendee]);
          const facts = meetings.verify(THREE, [{ meeting, room, start }]);
          expect(facts).toMatchObject(
            fine ? { kind: "feasible", objective: attendees.length } : { kind: "infeasible" },
          );
        }
      }
    }
  });

  test("agrees with half-open intervals, for every start of two meetings in one room or with one attendee", () => {
    const day = [{ start: 0, end: 1000 }];
    const two = {
      meetings: [
        { attendees: [0], minutes: 30 },
        { attendees: [1], minutes: 50 },
      ],
      availability: [day, day],
    };
    const shared = {
      ...two,
      meetings: [
        { attendees: [0], minutes: 30 },
        { attendees: [0], minutes: 50 },
      ],
    };
    for (let start = 0; start <= 200; start += 5) {
      const pair = (room: number) => [
        { meeting: 0, room: 0, start: 100 },
        { meeting: 1, room, start },
      ];
      const apart = start + 50 <= 100 || start >= 130;
      for (const [instance, room] of [
        [two, 0],
        [shared, 1],
      ] as const) {
        const facts = meetings.verify({ ...instance, rooms: [1, 1] }, pair(room));
        expect(facts).toMatchObject(apart ? { kind: "feasible", objective: 2 } : { kind: "infeasible" });
      }
      expect(meetings.verify({ ...two, rooms: [1, 1] }, pair(1)).kind).toBe("feasible");
    }
  });
});

describe("generate", () => {
  // test/envs/np/reference checks the level of the papers' code.
  test.each(meetings.levels.filter(({ name }) => name !== "reference"))(
    "at level $name every meeting could be held, in few rooms those of the largest size",
    (level) => {
      const sizes = new Set<number>();
      for (let seed = 0; seed < 100; seed++) {
        const { meetings: all, availability, rooms } = draw(meetings, level.parameters, seed);
        const parameters = level.parameters;
        const size = (name: string, count: number): boolean =>
          parameters[`${name}_min`]! <= count && count <= parameters[`${name}_max`]!;
        expect(
          size("meetings", all.length) && size("attendees", availability.length) && size("rooms", rooms.length),
        ).toBe(true);
        expect(rooms.filter((seats) => seats === parameters["size_max"])).toHaveLength(1);
        for (const { attendees, minutes } of all) {
          sizes.add(attendees.length);
          expect(size("quarters", minutes / 15)).toBe(true);
          expect(attendees).toEqual([...new Set(attendees)].sort((a, b) => a - b));
          expect(commonIntervals(availability, attendees).some(({ start, end }) => end - start >= minutes)).toBe(true);
        }
        for (const { start, end } of availability.flat()) {
          expect([start % 15, end % 15, start >= 540, end <= 1020, start < end]).toEqual([0, 0, true, true, true]);
        }
      }
      expect(Math.min(...sizes)).toBe(2);
      expect(Math.max(...sizes)).toBe(level.parameters["size_max"]);
    },
  );

  test("rooms bind at benchmark level: with a large one for each meeting, more could often attend", () => {
    let bound = 0;
    for (let seed = 0; seed < 200; seed++) {
      const instance = draw(meetings, levelOf(meetings, "benchmark"), seed);
      const roomy = { ...instance, rooms: instance.meetings.map(() => 5) };
      const [value, free] = [instance, roomy].map((each) => meetings.solver?.solve(each).value as number);
      expect(free).toBeGreaterThanOrEqual(value!);
      if (free! > value!) bound++;
    }
    expect(bound).toBeGreaterThan(40);
  });

  test("where no meeting could be held, no instance is drawn", () => {
    const parameters = { ...levelOf(meetings, "benchmark"), breaks_min: 6, breaks_max: 6 };
    expect(() => draw(meetings, { ...parameters, quarters_min: 16, quarters_max: 16 }, 1)).toThrow("gives no instance");
  });

  test("refuses meetings of more people than there may be", () => {
    const message = "size_max must not be above attendees_min: 5 > 4";
    const refused = { kind: "invalid", field: "parameters", message };
    expect(resolveParameters(meetings, { size_max: 5, attendees_min: 4 })).toEqual(refused);
    expect(resolveParameters(meetings, { breaks_min: 3, breaks_max: 2 }).kind).toBe("invalid");
  });
});

describe("prompt", () => {
  test("is as it is", () => {
    const instance: MeetingsInstance = {
      meetings: [{ attendees: [1], minutes: 45 }],
      availability: [
        [],
        [
          { start: at(9, 5), end: at(12, 0) },
          { start: at(13, 30), end: at(17, 0) },
        ],
      ],
      rooms: [2],
    };
    const [message] = meetings.render(instance, "answer_tag");
    expect(message).toMatchInlineSnapshot(`
      {
        "content": "Schedule some or all of 1 meetings in 1 rooms on one day, so that the meetings held have as many attendees as possible, counted for each meeting and added up. A meeting can be held at most once.
      For as long as it lasts, a meeting takes its room and all its attendees. The room must seat them all, and each of them must be available from the meeting's start to its end, within one of their intervals. No room and no attendee can be in two meetings at the same time, but one meeting may start when another ends.
      Write the schedule as a list of (meeting, room, start), in square brackets and separated by commas, in any order. Times, here and in your answer, are written HH:MM on a 24-hour clock.

      Each line below gives a meeting's length and its attendees, or when an attendee is available, or how many a room seats.

      Example with 3 meetings:
      meeting 0: 60 minutes, attendees 0, 1, 2
      meeting 1: 30 minutes, attendees 1, 3
      meeting 2: 90 minutes, attendees 0, 2, 3
      attendee 0: 09:00-17:00
      attendee 1: 09:00-12:00, 13:00-17:00
      attendee 2: 09:00-17:00
      attendee 3: 10:00-14:00
      room 0: 5 seats
      room 1: 3 seats
      A best schedule is [(0, 0, 09:00), (1, 1, 10:00), (2, 0, 10:30)], with 3 + 2 + 3 = 8 attendees.

      Your task:
      meeting 0: 45 minutes, attendees 1
      attendee 0: never
      attendee 1: 09:05-12:00, 13:30-17:00
      room 0: 2 seats

      Write your final answer, and nothing else, between <answer> and </answer>.",
        "role": "user",
      }
    `);
  });

  test("shows an example that is optimal", () => {
    const told = toldOfExample(meetings, THREE, draw(meetings, levelOf(meetings, "easy"), 1));
    const [, text = "", value] = /A best schedule is (.*), with .* = (\d+) attendees/.exec(told) ?? [];
    const parsed = meetings.parse(text, THREE);
    const facts = parsed.kind === "answer" && meetings.verify(THREE, parsed.answer);
    expect(facts).toEqual({ kind: "feasible", objective: Number(value) });
    expect(Number(value)).toBe(meetings.solver?.solve(THREE).value);
  });

  test("of the benchmark level takes at most 3,000 characters", () => {
    for (let seed = 0; seed < 100; seed++) {
      const [message] = meetings.render(draw(meetings, levelOf(meetings, "benchmark"), seed), "think_answer");
      expect(message?.content).toMatch(/^[\n -~]*$/);
      expect(message?.content.length).toBeLessThanOrEqual(3000);
    }
  });
});
