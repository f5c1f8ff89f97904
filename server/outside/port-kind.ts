/**
 * Types of a port, i.e. a service such as a judge that verifiers use. Each port has a file NAME-port.ts, listed in
 * port-kinds.ts.
 *
 * These files must import little, because every command reads their options. Their function `open` imports everything
 * that the service itself needs.
 */
import type { Resource } from "../../envs/resource.ts";
import type { Port } from "../../envs/ports.ts";
import type { Clock } from "../base/clock.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import { ConfigProblem, isWebAddress, type OptionSpec } from "../runtime/option-values.ts";

export type PortOptions = Readonly<Record<string, OptionSpec<unknown>>>;

/**
 * Limits on a service's jobs (e.g. verifications) that the operator may set. They replace the limits that environments
 * ask for.
 */
export type PortLimits = Partial<Pick<Resource, "concurrencyMax" | "waitingMax" | "timeLimitMs">>;

export interface PortKind<Config = unknown> {
  readonly options: PortOptions;
  /**
   * Reads the service's options. Returns undefined if the operator did not configure the service. Throws ConfigProblem.
   */
  read(values: object): Config | undefined;
  /**
   * Error texts for a missing service: on a server; in a command that runs without a server; for a run that requires
   * the service.
   */
  readonly words: { readonly missing: string; readonly missingHere: string; readonly needs: string };
  limits(config: Config): PortLimits;
  /** Opens the service for verifiers. Left out for a service that verifiers do not use. */
  open?(this: void, config: Config, context: PortOpening): Promise<OpenedPort>;
}

export interface PortOpening {
  readonly clock: Clock;
  /** Returns HTTP headers that make a request part of the current trace (distributed tracing). */
  readonly traceHeaders: () => Readonly<Record<string, string>>;
  /** Called with the reason when the service itself fails. */
  readonly onFault: (why: string) => void;
  /** Called with details and a text to log as a warning to the operator. */
  readonly warn: (details: object, message: string) => void;
}

export type OpenedPort<Opened = Port<never, unknown>> =
  | {
      readonly kind: "opened";
      readonly port: Opened;
      /** Details of the opened service for the log, e.g. the name of its model. */
      readonly found: Readonly<Record<string, unknown>>;
      readonly metrics: readonly SampledMetric[];
      close(): Promise<void>;
    }
  | { readonly kind: "missing"; readonly why: string };

/**
 * Reads the address and the name of a model from options. Undefined: neither is given. Throws ConfigProblem if only one
 * is given or the address is invalid.
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
