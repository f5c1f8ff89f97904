/** Times are read as this pattern reads them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { clockTime, takeTime } from "../../../../envs/np/meetings/generate.ts";

const TIME = /(\d\d?):(\d\d)/y;

function byPattern(text: string, at: number): { readonly minutes: number; readonly end: number } | undefined {
  TIME.lastIndex = at;
  const [, hour, minute] = TIME.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59) return undefined;
  return { minutes: 60 * Number(hour) + Number(minute), end: TIME.lastIndex };
}

const pieces = ["0", "1", "2", "5", "9", ":", '"', "'", "٣", " ", "-"];
const nearTimes = fc.tuple(fc.nat(99), fc.nat(99), fc.constantFrom("", '"', "'"), fc.constantFrom("", '"', "'"));
const texts = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join("")),
  nearTimes.map(([hour, minute, open, close]) => `${open}${hour}:${`${minute}`.padStart(2, "0")}${close}`),
);

test("any text, from any offset", () => {
  fc.assert(
    fc.property(texts, fc.nat(3), (text, at) => {
      const wanted = byPattern(text, at);
      const cursor = { at };
      expect(takeTime(text, cursor)).toBe(wanted?.minutes ?? NaN);
      expect(cursor.at).toBe(wanted?.end ?? at);
    }),
    { numRuns: 2000 },
  );
});

test("every minute of a day is read as it is written", () => {
  for (let minutes = 0; minutes < 24 * 60; minutes++) expect(takeTime(clockTime(minutes), { at: 0 })).toBe(minutes);
});

test("full-width digits and colons are read as the others", () => {
  expect(takeTime("０９：３０", { at: 0 })).toBe(570);
  expect(takeTime("9：30", { at: 0 })).toBe(570);
});
