/** Answers, read and written. */
import type { Parsed } from "../../environment.ts";
import { DIGITS_MAX, foundInstead, takeNumber } from "../../lib/int-list.ts";
import { skipSpace } from "../../lib/space.ts";
import { clockTime, takeTime } from "./clock.ts";
import type { Placement } from "./instance.ts";

/** The meetings held, in any order. */
export type Schedule = readonly Placement[];

/** Longer schedules are no answer to any task. */
const COUNT_MAX = 1000;

interface Reader {
  readonly text: string;
  /** Never at white space. */
  at: number;
  /** What is wrong first; from then on nothing is read. */
  problem: string | undefined;
}

/**
 * Reads a list of (meeting, room, start), such as [(2, 0, 10:30), (1, 1, 09:00)]. The inner brackets may be square, and
 * times in quotes. Anything before or after the list is refused. Time is linear in the text's length.
 */
export function parse(text: string): Parsed<Schedule> {
  const reader: Reader = { text, at: skipSpace(text, 0), problem: undefined };
  const schedule: Placement[] = [];
  take(reader, "[");
  if (!skips(reader, "]")) {
    do schedule.push(takePlacement(reader));
    while (schedule.length <= COUNT_MAX && skips(reader, ","));
    if (schedule.length > COUNT_MAX) reader.problem ??= `expected at most ${COUNT_MAX} meetings, found more`;
    take(reader, "]");
  }
  if (reader.at < text.length) fail(reader, "nothing after the list");
  const { problem } = reader;
  if (problem === undefined) return { kind: "answer", answer: schedule };
  return { kind: "malformed", reason: `not a list of (meeting, room, HH:MM): ${problem}` };
}

function takePlacement(reader: Reader): Placement {
  const isSquare = skips(reader, "[");
  if (!isSquare) take(reader, "(");
  const meeting = takeIndex(reader);
  take(reader, ",");
  const room = takeIndex(reader);
  take(reader, ",");
  const start = takeStart(reader);
  take(reader, isSquare ? "]" : ")");
  return { meeting, room, start };
}

function takeIndex(reader: Reader): number {
  if (reader.problem !== undefined) return -1;
  const number = takeNumber(reader.text, reader);
  if (Number.isNaN(number)) fail(reader, "a whole number");
  if (number === Infinity) fail(reader, `a number of at most ${DIGITS_MAX} digits`);
  reader.at = skipSpace(reader.text, reader.at);
  return number;
}

function takeStart(reader: Reader): number {
  if (reader.problem !== undefined) return -1;
  const minutes = takeTime(reader.text, reader);
  if (Number.isNaN(minutes)) fail(reader, "a time from 00:00 to 23:59 as HH:MM");
  reader.at = skipSpace(reader.text, reader.at);
  return minutes;
}

function take(reader: Reader, mark: string): void {
  if (!skips(reader, mark)) fail(reader, `'${mark}'`);
}

/** Whether a mark comes next; then it is passed over. */
function skips(reader: Reader, mark: string): boolean {
  if (reader.problem !== undefined || reader.text[reader.at] !== mark) return false;
  reader.at = skipSpace(reader.text, reader.at + 1);
  return true;
}

function fail(reader: Reader, wanted: string): void {
  reader.problem ??= foundInstead(reader.text, reader.at, wanted);
}

/** "[(1, 1, 09:00), (2, 0, 10:30)]" */
export function format(schedule: Schedule): string {
  return `[${schedule.map(({ meeting, room, start }) => `(${meeting}, ${room}, ${clockTime(start)})`).join(", ")}]`;
}
