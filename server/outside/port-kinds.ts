/**
 * Lists the services that verifiers and task makers may use: sandbox, judge and teacher. Options, metrics and error
 * texts of the server are built from this list.
 */
import { judge } from "./judge/judge-port.ts";
import { describeMounts, mountOptions, type MountSettings, readMounts } from "./mounted/mount-options.ts";
import type { PortKind } from "./port-kind.ts";
import { sandbox } from "./sandbox/sandbox-port.ts";
import { teacher } from "./teacher/teacher-port.ts";

const kinds = {
  teacher,
  sandbox,
  judge,
} as const;

type Kinds = typeof kinds;
export type PortKindName = keyof Kinds;

/** Configuration of each service, by name. Undefined: the operator configured none. */
export type PortConfigs = { readonly [Name in PortKindName]: ReturnType<Kinds[Name]["read"]> };

/**
 * Configuration of everything that runs outside the server's process: services for verifiers, and mounted environments.
 */
export interface OutsideConfig extends PortConfigs {
  readonly mounted: MountSettings;
}

export const portKinds = Object.entries(kinds) as readonly (readonly [PortKindName, PortKind])[];

export const portOptions = Object.assign({}, mountOptions, ...portKinds.map(([, { options }]) => options)) as All<
  Kinds[PortKindName]["options"] | typeof mountOptions
>;

/** Intersection type of all members of a union type. */
type All<Each> = (Each extends unknown ? (each: Each) => void : never) extends (all: infer Both) => void ? Both : never;

/**
 * Reads the options of all services and of mounted environments. `hidden` are the server's own files and folders, which
 * the code of mounted environments may not read. Throws ConfigProblem.
 */
export function readPorts(values: Parameters<typeof readMounts>[0], hidden: readonly string[]): OutsideConfig {
  const ports = Object.fromEntries(portKinds.map(([name, kind]) => [name, kind.read(values)])) as PortConfigs;
  return { ...ports, mounted: readMounts(values, hidden) };
}

/** Returns the configuration for printing. Keys and tokens are redacted. */
export function describePorts(config: OutsideConfig): Readonly<Record<string, unknown>> {
  const portOf = (port: object | undefined): unknown =>
    port && "key" in port ? { ...port, key: port.key === undefined ? "none" : "[redacted]" } : (port ?? "none");
  const ports = portKinds.map(([name]) => [name, portOf(config[name])] as const);
  return { ...Object.fromEntries(ports), mounted: describeMounts(config.mounted) };
}
