/** Defines the environment for meeting scheduling (FORGE A.5.5, NP-ENGINE A.4.5). README.md begins with an example. */
import { defineEnvironment } from "../../define.ts";
import { promptsOf, type TaskText } from "../../lib/task-prompt.ts";
import { invariant, clockTime, generator, inline, type MeetingsInstance } from "./generate.ts";
import { heuristic } from "./heuristic.ts";
import { solve, trivial } from "./solve/index.ts";
import { format, parse, type Schedule, verify } from "./verify.ts";

const HOUR = 60;

/**
 * Worked example in the prompts, from the paper FORGE (A.5.5). The paper's schedule has attendee 3 in two meetings at
 * 10:20; this schedule does not.
 */
const EXAMPLE: MeetingsInstance = {
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
  rooms: [5, 3],
};
const EXAMPLE_SCHEDULE = [
  { meeting: 0, room: 0, start: 9 * HOUR },
  { meeting: 1, room: 1, start: 10 * HOUR },
  { meeting: 2, room: 0, start: 10 * HOUR + 30 },
] as const;

function textOf(instance: MeetingsInstance): TaskText {
  const { meetings, rooms } = instance;
  return {
    question: [
      `Schedule some or all of ${meetings.length} meetings in ${rooms.length} rooms on one day, so that the meetings held have as many attendees as possible, counted for each meeting and added up. A meeting can be held at most once.`,
      "For as long as it lasts, a meeting takes its room and all its attendees. The room must seat them all, and each of them must be available from the meeting's start to its end, within one of their intervals. No room and no attendee can be in two meetings at the same time, but one meeting may start when another ends.",
    ].join("\n"),
    answer:
      "Write the schedule as a list of (meeting, room, start), in square brackets and separated by commas, in any order. Times, here and in your answer, are written HH:MM on a 24-hour clock.",
    notation:
      "Each line below gives a meeting's length and its attendees, or when an attendee is available, or how many a room seats.",
    exampleTitle: `Example with ${EXAMPLE.meetings.length} meetings`,
    example: tables(EXAMPLE),
    exampleAnswer: `A best schedule is ${format(EXAMPLE_SCHEDULE)}, with 3 + 2 + 3 = 8 attendees.`,
    instance: tables(instance),
  };
}

function tables({ meetings, availability, rooms }: MeetingsInstance): string {
  return [
    ...meetings.map(
      ({ minutes, attendees }, i) => `meeting ${i}: ${minutes} minutes, attendees ${attendees.join(", ")}`,
    ),
    ...availability.map((intervals, i) => `attendee ${i}: ${availableText(intervals)}`),
    ...rooms.map((seats, i) => `room ${i}: ${seats} seats`),
  ].join("\n");
}

function availableText(intervals: MeetingsInstance["availability"][number]): string {
  if (intervals.length === 0) return "never";
  return intervals.map(({ start, end }) => `${clockTime(start)}-${clockTime(end)}`).join(", ");
}

export const meetings = defineEnvironment<MeetingsInstance, Schedule>({
  id: "np/meetings",
  version: 3,
  earlier: [2],
  description: "Schedule meetings in rooms so that as many as possible attend.",
  goal: "maximize",
  generator,
  solver: { solve, format, heuristic },
  trivial,
  inline,
  // Rebuild each meeting with its fields in a fixed order. JSON keeps the order of fields, which differs for instances
  // decoded from bytes.
  canonical: ({ meetings: all, availability, rooms }) =>
    JSON.stringify([all.map(({ attendees, minutes }) => ({ attendees, minutes })), availability, rooms]),
  invariant,
  render: promptsOf(textOf),
  metadata: ({ meetings: all, availability, rooms }) => ({
    size: `${all.length} meetings, ${availability.length} attendees, ${rooms.length} rooms`,
  }),
  answerNames: ["schedule", "meetings"],
  parse,
  verify,
  tries: true,
});
