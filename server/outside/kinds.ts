/** The ports to the outside: a line for each, by the name that its resource has. Options, figures and words follow. */
import { judge } from "./judge/kind.ts";
import { describeMounts, mountOptions, type MountSettings, readMounts } from "./mounted/settings.ts";
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

/** What is asked outside: the ports that verifiers ask, and environments that are there as a whole. */
export interface OutsideConfig extends PortConfigs {
  readonly mounted: MountSettings;
}

export const portKinds = Object.entries(kinds) as readonly (readonly [PortKindName, PortKind])[];

export const portOptions = Object.assign({}, mountOptions, ...portKinds.map(([, { options }]) => options)) as All<
  Kinds[PortKindName]["options"] | typeof mountOptions
>;

/** What has all members of each. */
type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Both) => void ? Both : never;

/** Of the options of all; `hidden` as in readMounts. Throws ConfigProblem. */
export function readPorts(values: Parameters<typeof readMounts>[0], hidden: readonly string[]): OutsideConfig {
  const ports = Object.fromEntries(portKinds.map(([name, kind]) => [name, kind.read(values)])) as PortConfigs;
  return { ...ports, mounted: readMounts(values, hidden) };
}

/** As it may be printed: neither keys nor tokens in it. */
export function describePorts(config: OutsideConfig): Readonly<Record<string, unknown>> {
  const portOf = (port: object | undefined): unknown =>
    port && "key" in port ? { ...port, key: port.key === undefined ? "none" : "[redacted]" } : (port ?? "none");
  const ports = portKinds.map(([name]) => [name, portOf(config[name])] as const);
  return { ...Object.fromEntries(ports), mounted: describeMounts(config.mounted) };
}
