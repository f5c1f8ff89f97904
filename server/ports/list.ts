/** The ports to the outside: a line for each, by the name that its resource has. Options, figures and words follow. */
import { judge } from "./judge/kind.ts";
import type { PortKind } from "./kind.ts";
import { sandbox } from "./sandbox/kind.ts";
import { teacher } from "./teacher/kind.ts";

const kinds = {
  teacher,
  sandbox,
  judge,
} as const;

type Kinds = typeof kinds;
export type PortKindName = keyof Kinds;

/** By name; undefined: the operator wants none. */
export type PortConfigs = { readonly [Name in PortKindName]: ReturnType<Kinds[Name]["read"]> };

export const portKinds = Object.entries(kinds) as readonly (readonly [PortKindName, PortKind])[];

export const portOptions = Object.assign({}, ...portKinds.map(([, { options }]) => options)) as All<
  Kinds[PortKindName]["options"]
>;

/** What has all members of each. */
type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Both) => void ? Both : never;

/** Of the options of all. Throws ConfigProblem. */
export function readPorts(values: object): PortConfigs {
  return Object.fromEntries(portKinds.map(([name, kind]) => [name, kind.read(values)])) as PortConfigs;
}
