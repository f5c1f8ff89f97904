/** What verifiers may ask of the outside, as this server has it: each port of the list, opened. */
import { escaped } from "../../envs/lib/words.ts";
import type { Ports } from "../../envs/ports.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import type { OpenedPort, PortLimits, PortOpening } from "./kind.ts";
import { type PortConfigs, type PortKindName, portKinds } from "./kinds.ts";

/** Why a port is not there, and what to do, for each that is not. */
export type MissingPorts = Readonly<Partial<Record<PortKindName, string>>>;

export interface PortsContext extends Pick<PortOpening, "clock"> {
  /** Told what a port is made of, and of each failure of one. */
  readonly onOpen?: (port: string, found: Readonly<Record<string, unknown>>) => void;
  readonly onFault?: (port: string, why: string) => void;
  readonly warn?: PortOpening["warn"];
  readonly traceHeaders?: PortOpening["traceHeaders"];
}

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** What the operator says of how much they may be asked. */
  readonly limits: Readonly<Record<string, PortLimits>>;
  readonly metrics: readonly SampledMetric[];
  readonly close: () => Promise<void>;
}

export async function openPorts(configs: Partial<PortConfigs>, context: PortsContext): Promise<OpenedPorts> {
  const { clock, onOpen, onFault, warn = () => undefined, traceHeaders = () => ({}) } = context;
  const tried = await Promise.all(
    portKinds.map(
      async ([name, { open, words }]): Promise<readonly [string, OpenedPort | { readonly kind: "elsewhere" }]> => {
        const config = configs[name];
        if (config === undefined) return [name, { kind: "missing", why: words.missing }];
        // It is opened by who asks it, beside its gate.
        if (open === undefined) return [name, { kind: "elsewhere" }];
        const told = (why: string): void => onFault?.(name, escaped(why));
        return [name, await open(config, { clock, warn, traceHeaders, onFault: told })];
      },
    ),
  );
  const opened = tried.flatMap(([name, port]) => (port.kind === "opened" ? [{ name, ...port }] : []));
  for (const { name, found } of opened) onOpen?.(name, found);
  return {
    ports: Object.fromEntries(opened.map(({ name, port }) => [name, port])),
    missing: Object.fromEntries(tried.flatMap(([name, port]) => (port.kind === "missing" ? [[name, port.why]] : []))),
    limits: limitsOf(configs),
    metrics: opened.flatMap(({ metrics }) => metrics),
    close: async () => {
      for (const port of opened) await port.close();
    },
  };
}

/** What the operator says of how much they may be asked. */
export function limitsOf(configs: Partial<PortConfigs>): OpenedPorts["limits"] {
  const wanted = portKinds.filter(([name]) => configs[name] !== undefined);
  return Object.fromEntries(wanted.map(([name, kind]) => [name, kind.limits(configs[name])]));
}
