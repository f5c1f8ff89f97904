import { expect, test } from "vitest";
import { draw } from "../../../pictures/np/meetings.ts";
import type { MeetingsInstance } from "../../../envs/np/meetings/generate.ts";
import { legendWords, marked } from "../looks.ts";

const HOUR = 60;

/** The worked example of FORGE A.5.5. */
const THREE: MeetingsInstance = {
  meetings: [
    { attendees: [0, 1, 2], minutes: 60 },
    { attendees: [1, 3], minutes: 30 },
    { attendees: [0, 2, 3], minutes: 90 },
  ],
  availability: [
    [{ start: 9 * HOUR, end: 17 * HOUR }],
    [
      { start: 9 * HOUR, end: 12 * HOUR },
      { start: 13 * HOUR, end: 17 * HOUR },
    ],
    [{ start: 9 * HOUR, end: 17 * HOUR }],
    [{ start: 10 * HOUR, end: 14 * HOUR }],
  ],
  rooms: [5, 2],
};
const BEST = [
  { meeting: 0, room: 0, start: 9 * HOUR },
  { meeting: 1, room: 1, start: 10 * HOUR },
  { meeting: 2, room: 0, start: 10 * HOUR + 30 },
];
const TROUBLE = "two at once, not available, or too few seats";

/** Returns the number of the chart's rows with hatching. */
function hatched(schedule: Parameters<typeof draw>[1]): number {
  return marked(draw(THREE, schedule), "gd-hatch").length;
}

test("a schedule is a box in its room's row and in each attendee's", () => {
  const picture = draw(THREE, BEST);
  expect([0, 1, 2].map((meeting) => marked(picture, `gd-f${meeting}`).length)).toEqual([4, 3, 4]);
  expect([hatched(BEST), legendWords(picture).includes(TROUBLE), picture.notes]).toEqual([0, false, []]);
});

test("the paper's schedule has attendee 3 in two places at once", () => {
  const [first, second, third] = BEST as [(typeof BEST)[0], (typeof BEST)[0], (typeof BEST)[0]];
  const schedule = [first, second, { ...third, start: 10 * HOUR + 20 }];
  expect(hatched(schedule)).toBe(1);
  expect(legendWords(draw(THREE, schedule))).toContain(TROUBLE);
});

test.each([
  ["a room used twice at once, by two attendees of both", [BEST[0]!, { ...BEST[2]!, start: 9 * HOUR + 59 }], 4],
  ["a room that seats too few", [{ meeting: 0, room: 1, start: 9 * HOUR }], 1],
  ["a meeting in an attendee's break", [{ meeting: 1, room: 0, start: 12 * HOUR }], 1],
  ["a meeting before anyone comes", [{ meeting: 1, room: 0, start: 0 }], 2],
  ["a meeting that lasts past midnight", [{ meeting: 2, room: 0, start: 23 * HOUR + 59 }], 3],
])("%s is hatched", (_, schedule, rows) => {
  expect(hatched(schedule)).toBe(rows);
});

test("meetings not held are listed, those of a best schedule marked", () => {
  const picture = draw(THREE, BEST.slice(0, 1), BEST);
  expect(marked(picture, "gd-best")).toHaveLength(2);
  expect(legendWords(picture)).toContain("held in a best schedule");
});

test("repeats, and what does not exist, are named", () => {
  const extra = { meeting: 7, room: 0, start: 0 };
  const { notes } = draw(THREE, [...BEST, { ...extra, room: 9, meeting: 0 }, extra, BEST[1]!]);
  expect(notes).toEqual([
    "Meetings that do not exist: 7",
    "Rooms that do not exist: 9",
    "Listed more than once: meeting 1",
  ]);
});
