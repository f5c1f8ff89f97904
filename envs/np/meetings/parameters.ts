/** The generator's parameters, and the papers' levels (FORGE A.5.5). */
import type { Level, ParameterInfo, Parameters } from "../../environment.ts";
import { minAboveMax } from "../../parameters.ts";

const MEETINGS = { min: 1, max: 40, integer: true } as const;
const ATTENDEES = { min: 2, max: 40, integer: true } as const;
const ROOMS = { min: 1, max: 20, integer: true } as const;
const SIZE = { min: 2, max: 20, integer: true } as const;
const QUARTERS = { min: 1, max: 16, integer: true } as const;
const BREAKS = { min: 0, max: 6, integer: true } as const;

export const parameters: readonly ParameterInfo[] = [
  { name: "meetings_min", description: "Fewest meetings.", defaultValue: 4, ...MEETINGS },
  { name: "meetings_max", description: "Most meetings.", defaultValue: 5, ...MEETINGS },
  { name: "attendees_min", description: "Fewest people.", defaultValue: 3, ...ATTENDEES },
  { name: "attendees_max", description: "Most people.", defaultValue: 5, ...ATTENDEES },
  { name: "rooms_min", description: "Fewest rooms.", defaultValue: 3, ...ROOMS },
  { name: "rooms_max", description: "Most rooms.", defaultValue: 4, ...ROOMS },
  { name: "large_rooms_max", description: "Most rooms that seat the largest meetings.", defaultValue: 1, ...ROOMS },
  { name: "size_max", description: "Most attendees of a meeting.", defaultValue: 3, ...SIZE },
  { name: "quarters_min", description: "Shortest meeting, in quarters of an hour.", defaultValue: 4, ...QUARTERS },
  { name: "quarters_max", description: "Longest meeting, in quarters of an hour.", defaultValue: 8, ...QUARTERS },
  { name: "breaks_min", description: "Fewest breaks in a person's day.", defaultValue: 0, ...BREAKS },
  { name: "breaks_max", description: "Most breaks in a person's day.", defaultValue: 1, ...BREAKS },
];

/** What is wrong with parameters together. */
export function checkParameters(values: Parameters): string | undefined {
  const message = minAboveMax(values);
  if (message !== undefined) return message;
  const { size_max, attendees_min } = values as Readonly<Record<"size_max" | "attendees_min", number>>;
  if (size_max <= attendees_min) return undefined;
  return `size_max must not be above attendees_min: ${size_max} > ${attendees_min}`;
}

type Range = readonly [min: number, max: number];

interface Sizes {
  readonly meetings: Range;
  readonly attendees: Range;
  readonly rooms: Range;
  readonly largeRooms: number;
  readonly size: number;
  readonly quarters: Range;
  readonly breaks: Range;
}

function level(name: string, sizes: Sizes): Level {
  const { meetings, attendees, rooms, largeRooms, size, quarters, breaks } = sizes;
  return {
    name,
    description: `${meetings[0]} to ${meetings[1]} meetings of at most ${size} out of ${attendees[0]} to ${attendees[1]} people, who have ${breaks[0]} to ${breaks[1]} breaks a day; ${rooms[0]} to ${rooms[1]} rooms`,
    parameters: {
      ...{ meetings_min: meetings[0], meetings_max: meetings[1], attendees_min: attendees[0] },
      ...{ attendees_max: attendees[1], rooms_min: rooms[0], rooms_max: rooms[1], large_rooms_max: largeRooms },
      ...{ size_max: size, quarters_min: quarters[0], quarters_max: quarters[1] },
      ...{ breaks_min: breaks[0], breaks_max: breaks[1] },
    },
  };
}

export const levels: readonly Level[] = [
  level("easy", {
    ...{ meetings: [4, 5], attendees: [3, 5], rooms: [3, 4], largeRooms: 1 },
    ...{ size: 3, quarters: [4, 8], breaks: [0, 1] },
  }),
  level("medium", {
    ...{ meetings: [5, 6], attendees: [4, 6], rooms: [4, 5], largeRooms: 1 },
    ...{ size: 4, quarters: [4, 8], breaks: [0, 2] },
  }),
  level("hard", {
    ...{ meetings: [6, 7], attendees: [5, 7], rooms: [5, 6], largeRooms: 1 },
    ...{ size: 4, quarters: [4, 8], breaks: [1, 2] },
  }),
  level("benchmark", {
    ...{ meetings: [8, 10], attendees: [7, 9], rooms: [6, 7], largeRooms: 1 },
    ...{ size: 5, quarters: [3, 8], breaks: [1, 2] },
  }),
];
