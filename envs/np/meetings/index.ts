/** Meeting scheduling (FORGE A.5.5, NP-ENGINE A.4.5). README.md opens with an example. */
import type { Environment } from "../../environment.ts";
import { optimization } from "../optimization.ts";
import { draw } from "./draw.ts";
import { generator } from "./generate.ts";
import { inline } from "./inline.ts";
import type { MeetingsInstance } from "./instance.ts";
import { checkParameters, levels, parameters } from "./parameters.ts";
import { format, parse } from "./parse.ts";
import type { Schedule } from "./parse.ts";
import { render } from "./prompt.ts";
import { solver } from "./solve.ts";
import { verify } from "./verify.ts";

export const meetings: Environment<MeetingsInstance, Schedule> = {
  id: "np/meetings",
  version: 1,
  description: "Schedule meetings in rooms so that as many as possible attend.",
  goal: "maximize",
  parameters,
  levels,
  ...optimization,
  checkParameters,
  generator,
  solver,
  inline,
  canonical: (instance) => JSON.stringify([instance.meetings, instance.availability, instance.rooms]),
  render,
  metadata: ({ meetings: all, availability, rooms }) => ({
    size: `${all.length} meetings, ${availability.length} attendees, ${rooms.length} rooms`,
  }),
  parse,
  verify,
  format,
  draw,
};
