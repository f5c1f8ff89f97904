import { expect, test } from "vitest";
import { meetings } from "../../../../envs/np/meetings/index.ts";
import { testHostileAnswers } from "../hostile-lists.ts";
import { THREE } from "./three.ts";

const full = "[(0, 0, 09:00), (1, 1, 10:00), (2, 0, 10:30)]";
const many = (count: number): string => `[${new Array<string>(count).fill("(0, 0, 09:00)").join(", ")}]`;

testHostileAnswers({
  environment: meetings,
  instance: THREE,
  good: full,
  objective: 8,
  infeasible: [
    // The paper's own answer.
    ["[(0, 0, 09:00), (1, 1, 10:00), (2, 0, 10:20)]", "attendee 3 is in meetings 1 and 2 at the same time"],
    ["[(0, 0, 09:00), (0, 0, 09:00)]", "meeting 0 is listed twice"],
    ["[(0, 0, 09:00), (0, 0, 12:00)]", "meeting 0 is listed twice"],
    ["[(1, 1, 10:00), (01, 0, 11:00)]", "meeting 1 is listed twice"],
    ["[(0, 0, 9:00), (-0, 1, 14:00)]", "meeting 0 is listed twice"],
    [many(1000), "meeting 0 is listed twice"],
    ["[(3, 0, 09:00)]", "meeting 3 does not exist: meetings are 0 to 2"],
    ["[(-1, 0, 09:00)]", "meeting -1 does not exist: meetings are 0 to 2"],
    ["[(999999999, 0, 09:00)]", "meeting 999999999 does not exist: meetings are 0 to 2"],
    ["[(0, 2, 09:00)]", "room 2 does not exist: rooms are 0 to 1"],
    ["[(0, -1, 09:00)]", "room -1 does not exist: rooms are 0 to 1"],
    ["[(0, 5, 09:00)]", "room 5 does not exist: rooms are 0 to 1"],
    ["[(0, 0, 08:59)]", "attendee 0 is not available for all 60 minutes of meeting 0 from 08:59"],
    ["[(0, 0, 16:01)]", "attendee 0 is not available for all 60 minutes of meeting 0 from 16:01"],
    ["[(0, 0, 00:00)]", "attendee 0 is not available for all 60 minutes of meeting 0 from 00:00"],
    ["[(0, 0, 23:59)]", "attendee 0 is not available for all 60 minutes of meeting 0 from 23:59"],
    // Within the day, but not within one interval.
    ["[(0, 0, 11:30)]", "attendee 1 is not available for all 60 minutes of meeting 0 from 11:30"],
    ["[(0, 0, 12:00)]", "attendee 1 is not available for all 60 minutes of meeting 0 from 12:00"],
    ["[(2, 0, 12:31)]", "attendee 3 is not available for all 90 minutes of meeting 2 from 12:31"],
    ["[(0, 0, 10:00), (1, 0, 10:30)]", "room 0 is used by meetings 0 and 1 at the same time"],
    ["[(1, 0, 10:30), (0, 0, 10:00)]", "room 0 is used by meetings 1 and 0 at the same time"],
    ["[(0, 0, 10:00), (1, 1, 10:30)]", "attendee 1 is in meetings 0 and 1 at the same time"],
    ["[(0, 0, 10:00), (2, 1, 10:59)]", "attendee 0 is in meetings 0 and 2 at the same time"],
  ],
  feasible: [
    ["[(2, 0, 10:30), (0, 0, 9:00), (1, 1, 10:00)]", 8],
    ['[[0, 0, "09:00"], [1, 1, "10:00"], [2, 0, "10:30"]]', 8],
    ["[(1, 1, 10:00), (0, 0, 10:30)]", 5],
    ["\n[\t(001 ,\u00a01, 10:07 ) ]\r\n", 2],
    ["[]", 0],
    ["[ ]", 0],
    ["(0, 0, 09:00)", 3],
    ["[0, 0, 09:00]", 3],
    ["((0, 0, 09:00))", 3],
    ["{(0, 0, 09:00), (1, 1, 10:00)}", 5],
    ["[(0, 0, 09:00),]", 3],
    ["(0, 0, 09:00), (1, 1, 10:00), (2, 0, 10:30)", 8],
    ["\\{(0, 0, \\text{09:00}),\\ (1,\\, 1, 10:00)\\}", 5],
  ],
});

test("a room too small is said", () => {
  const small = { ...THREE, rooms: [5, 2] };
  expect(meetings.verify(small, [{ meeting: 0, room: 1, start: 540 }])).toEqual({
    kind: "infeasible",
    violation: "room 1 seats 2, and meeting 0 has 3 attendees",
  });
});

test.each([
  ["[(0, 0, 24:00)]", "expected a time from 00:00 to 23:59 as HH:MM, found '2' at character 9"],
  ["[(0, 0, 9:5)]", "expected a time from 00:00 to 23:59 as HH:MM, found '9' at character 9"],
  ["[(0, 0, 09:60)]", "expected a time from 00:00 to 23:59 as HH:MM, found '0' at character 9"],
  ["[(0, 0, 900)]", "expected a time from 00:00 to 23:59 as HH:MM, found '9' at character 9"],
  ["[(0, 0, 540)]", "expected a time from 00:00 to 23:59 as HH:MM, found '5' at character 9"],
  ["[(0, 0, -1:00)]", "expected a time from 00:00 to 23:59 as HH:MM, found '-' at character 9"],
  ["[(0, 0, 09.00)]", "expected a time from 00:00 to 23:59 as HH:MM, found '0' at character 9"],
  ["[(0, 0, 009:00)]", "expected a time from 00:00 to 23:59 as HH:MM, found '0' at character 9"],
  ["[(0, 0, ٠٩:٠٠)]", "expected a time from 00:00 to 23:59 as HH:MM, found '٠' at character 9"],
  ["[(0, 0, 09:00 AM)]", "expected ')', found 'A' at character 15"],
  ["[(0, 0, 09:000)]", "expected ')', found '0' at character 14"],
  ["[(0, 0, 09:00:00)]", "expected ')', found ':' at character 14"],
  ["[(0, 0, 09:00-10:00)]", "expected ')', found '-' at character 14"],
  ["[(0, 0, \"09:00')]", "expected a time from 00:00 to 23:59 as HH:MM, found '\"' at character 9"],
  ['[(0, 0, "09:00)]', "expected a time from 00:00 to 23:59 as HH:MM, found '\"' at character 9"],
  ["[(0, 0, 09:00]]", "expected ')', found ']' at character 14"],
  ["[[0, 0, 09:00)]", "expected ']', found ')' at character 14"],
  ["[(0, 0)]", "expected ',', found ')' at character 7"],
  ["[(0, 0, 09:00, 60)]", "expected ')', found ',' at character 14"],
  ["[(0.0, 0, 09:00)]", "expected ',', found '.' at character 4"],
  ["[(0, 0.5, 09:00)]", "expected ',', found '.' at character 7"],
  ["[(1e0, 0, 09:00)]", "expected ',', found 'e' at character 4"],
  ["[(+1, 0, 09:00)]", "expected a whole number, found '+' at character 3"],
  ["[(9999999999, 0, 09:00)]", "expected a number of at most 9 digits, found '9' at character 3"],
  ["[((0, 0, 09:00))]", "expected a whole number, found '(' at character 3"],
  ["[[(0, 0, 09:00)]]", "expected a whole number, found '(' at character 3"],
  ["0, 0, 09:00", "expected '[', found '0' at character 1"],
  ["(0, 0, 09:00),", "expected '(', found the end"],
  ["(0, 0, 09:00) (1, 1, 10:00)", "expected nothing after the list, found '(' at character 15"],
  ["[(0, 0, 09:00),,]", "expected '(', found ',' at character 16"],
  ["(0, 0, 09:00), (1, 1, 10:00)]", "expected nothing after the list, found ']' at character 29"],
  ["[(0, 0, 09:00), (1, 1, 10:00)", "expected ']', found the end"],
  ["[(0, 0, \\text{09:00)]", "expected '}', found ')' at character 20"],
  ["[(0, 0, 09:00) (1, 1, 10:00)]", "expected ']', found '(' at character 16"],
  ["[(meeting 0, room 0, 09:00)]", "expected a whole number, found 'm' at character 3"],
  ["[{0, 0, 09:00}]", "expected '(', found '{' at character 2"],
  [`${full} `.repeat(2), "expected nothing after the list, found '[' at character 47"],
  [`${full} is best`, "expected nothing after the list, found 'i' at character 47"],
])("%j is malformed: %s", (text, words) => {
  const reason = `not a list of (meeting, room, HH:MM): ${words}`;
  expect(meetings.parse(text, THREE)).toEqual({ kind: "malformed", reason });
});

test("more than 1,000 meetings are malformed", () => {
  const reason = "not a list of (meeting, room, HH:MM): expected at most 1000 meetings, found more";
  for (const count of [1001, 50_000]) {
    expect(meetings.parse(many(count), THREE)).toEqual({ kind: "malformed", reason });
  }
});
