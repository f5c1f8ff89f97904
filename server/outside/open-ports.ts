/** Opens the ports of port-kinds.ts that this server has configured, so that verifiers can ask them. */
import { escaped } from "../../envs/lib/escape.ts";
import type { Ports } from "../../envs/ports.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import type { OpenedPort, PortLimits, PortOpening } from "./port-kind.ts";
import { type PortConfigs, type PortKindName, portKinds } from "./port-kinds.ts";

/** For each missing port: why it is missing, and what the operator can do. */
export type MissingPorts = Readonly<Partial<Record<PortKindName, string>>>;

export interface PortsContext extends Pick<PortOpening, "clock"> {
  /** Called with details of each opened port. `onFault` is called for each failure of a port. */
  readonly onOpen?: (port: string, found: Readonly<Record<string, unknown>>) => void;
  readonly onFault?: (port: string, why: string) => void;
  readonly warn?: PortOpening["warn"];
  readonly traceHeaders?: PortOpening["traceHeaders"];
}

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** Limits that the operator sets, by port. */
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
        // The teacher has no `open`: the task maker opens it, beside its gate.
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

/** Returns the limits that the operator sets, by port. */
export function limitsOf(configs: Partial<PortConfigs>): OpenedPorts["limits"] {
  const wanted = portKinds.filter(([name]) => configs[name] !== undefined);
  return Object.fromEntries(wanted.map(([name, kind]) => [name, kind.limits(configs[name])]));
}
