import type { MeetingsInstance } from "../../../../envs/np/meetings/generate.ts";

const day = { start: 9 * 60, end: 17 * 60 };

/** The worked example of FORGE A.5.5. */
export const THREE: MeetingsInstance = {
  meetings: [
    { attendees: [0, 1, 2], minutes: 60 },
    { attendees: [1, 3], minutes: 30 },
    { attendees: [0, 2, 3], minutes: 90 },
  ],
  availability: [
    [day],
    [
      { start: 9 * 60, end: 12 * 60 },
      { start: 13 * 60, end: 17 * 60 },
    ],
    [day],
    [{ start: 10 * 60, end: 14 * 60 }],
  ],
  rooms: [5, 3],
};
