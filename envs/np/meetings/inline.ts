/** Instances as bytes, for those that travel in task ids. */
import type { InlineCodec } from "../../environment.ts";
import { decodeNumbers, encodeNumbers } from "../../lib/inline-numbers.ts";
import type { MeetingsInstance } from "./instance.ts";

/** Three lists, each after its length: meetings as (minutes, attendees), people as intervals, and rooms as seats. */
export const inline: InlineCodec<MeetingsInstance> = {
  encode: ({ meetings, availability, rooms }) =>
    encodeNumbers([
      meetings.length,
      ...meetings.flatMap(({ minutes, attendees }) => [minutes, attendees.length, ...attendees]),
      availability.length,
      ...availability.flatMap((day) => [day.length, ...day.flatMap(({ start, end }) => [start, end])]),
      rooms.length,
      ...rooms,
    ]),
  decode: (bytes) => {
    const numbers = decodeNumbers(bytes).values();
    const next = (): number => numbers.next().value as number;
    const list = <Item>(read: () => Item): readonly Item[] => Array.from({ length: next() }, read);
    return {
      meetings: list(() => ({ minutes: next(), attendees: list(next) })),
      availability: list(() => list(() => ({ start: next(), end: next() }))),
      rooms: list(next),
    };
  },
};
