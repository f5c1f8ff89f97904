/**
 * Types of a port: an outside service that verifiers ask, e.g. a judge. Each port's folder has a file NAME-port.ts, and
 * port-kinds.ts lists them. These files import little, because every command reads their options; `open` imports the
 * rest.
 */
import type { Resource } from "../../envs/environment.ts";
import type { Port } from "../../envs/ports.ts";
import type { Clock } from "../base/clock.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import { ConfigProblem, isWebAddress, type OptionSpec } from "../runtime/option-values.ts";

export type PortOptions = Readonly<Record<string, OptionSpec<unknown>>>;

/** Limits that the operator sets in place of those of the environments that ask the port. */
export type PortLimits = Partial<Pick<Resource, "concurrencyMax" | "waitingMax" | "timeLimitMs">>;

export interface PortKind<Config = unknown> {
  readonly options: PortOptions;
  /** Returns the port's configuration, or undefined if the operator configured none. Throws ConfigProblem. */
  read(values: object): Config | undefined;
  /** Texts for a missing port: on a server, in a command without a server, and as a requirement of a run. */
  readonly words: { readonly missing: string; readonly missingHere: string; readonly needs: string };
  limits(config: Config): PortLimits;
  /** Opens the port. Undefined if no verifier asks it. */
  open?(this: void, config: Config, context: PortOpening): Promise<OpenedPort>;
}

export interface PortOpening {
  readonly clock: Clock;
  /** Returns headers that make an outgoing HTTP request part of the current trace. */
  readonly traceHeaders: () => Readonly<Record<string, string>>;
  /** Called with the reason for each failure of the port itself. */
  readonly onFault: (why: string) => void;
  /** Called to warn the operator. */
  readonly warn: (details: object, message: string) => void;
}

export type OpenedPort<Opened = Port<never, unknown>> =
  | {
      readonly kind: "opened";
      readonly port: Opened;
      /** Details of the opened port for the log, e.g. its model. */
      readonly found: Readonly<Record<string, unknown>>;
      readonly metrics: readonly SampledMetric[];
      close(): Promise<void>;
    }
  | { readonly kind: "missing"; readonly why: string };

/**
 * Returns the address and name of a model from a port's options. Undefined if neither is given.
 * Throws ConfigProblem.
 */
export function readEndpoint(name: string, url: string | undefined, model: string | undefined) {
  if (url === undefined && model === undefined) return undefined;
  if (url === undefined || model === undefined)
    throw new ConfigProblem(`--${name}-url and --${name}-model must be given together`);
  if (!isWebAddress(url))
    throw new ConfigProblem(
      `--${name}-url must be an http or https URL without a password: the key has its own option`,
    );
  return { url, model };
}
