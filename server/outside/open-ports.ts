/** Opens the services ("ports") that verifiers use and the operator configured, such as a sandbox or a judge. */
import { escaped } from "../../envs/lib/escape.ts";
import type { Ports } from "../../envs/ports.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import type { OpenedPort, PortLimits, PortOpening } from "./port-kind.ts";
import { type PortConfigs, type PortKindName, portKinds } from "./port-kinds.ts";

/**
 * For each service ("port") that the operator did not configure or that cannot be opened: the reason, and what the
 * operator can do.
 */
export type MissingPorts = Readonly<Partial<Record<PortKindName, string>>>;

export interface PortsContext extends Pick<PortOpening, "clock"> {
  /**
   * Called for each service that was opened, with details for the log. `onFault` is called for each failure of an open
   * service.
   */
  readonly onOpen?: (port: string, found: Readonly<Record<string, unknown>>) => void;
  readonly onFault?: (port: string, why: string) => void;
  readonly warn?: PortOpening["warn"];
  readonly traceHeaders?: PortOpening["traceHeaders"];
}

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** Limits that the operator sets on the jobs of each service, by the service's name. */
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
        // The teacher (a model that proposes tasks) is not opened here but in teacher.ts, because only the making of
        // tasks needs it.
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

/** Returns the limits that the operator sets on the jobs of each service, by the service's name. */
export function limitsOf(configs: Partial<PortConfigs>): OpenedPorts["limits"] {
  const wanted = portKinds.filter(([name]) => configs[name] !== undefined);
  return Object.fromEntries(wanted.map(([name, kind]) => [name, kind.limits(configs[name])]));
}
