/**
 * What the server has to know of a port to the outside, e.g. a judge: a folder here has one, and the list (list.ts) a line.
 * It is light, for every command reads its options: what it takes to ask is imported when the port is opened.
 */
import type { Resource } from "../../envs/environment.ts";
import type { Port } from "../../envs/ports.ts";
import type { Clock } from "../base/clock.ts";
import type { SampledMetric } from "../runtime/sampled-metrics.ts";
import { ConfigProblem, isWebAddress, type OptionSpec } from "../runtime/option-values.ts";

export type PortOptions = Readonly<Record<string, OptionSpec<unknown>>>;

/** What the operator says otherwise than the environments that ask it. */
export type PortLimits = Partial<Pick<Resource, "concurrencyMax" | "waitingMax" | "timeLimitMs">>;

export interface PortKind<Config = unknown> {
  readonly options: PortOptions;
  /** Undefined: the operator wants none. Throws ConfigProblem. */
  read(values: object): Config | undefined;
  /** What is said where there is none: of a server, of a command without one, and of what a run needs. */
  readonly words: { readonly missing: string; readonly missingHere: string; readonly needs: string };
  limits(config: Config): PortLimits;
  /** Left out: no verifier asks it. */
  open?(this: void, config: Config, context: PortOpening): Promise<OpenedPort>;
}

export interface PortOpening {
  readonly clock: Clock;
  /** Headers that make what is asked over HTTP a part of the trace that is going on. */
  readonly traceHeaders: () => Readonly<Record<string, string>>;
  /** Told of each failure of the port's own. */
  readonly onFault: (why: string) => void;
  /** Told what the operator should know. */
  readonly warn: (details: object, message: string) => void;
}

export type OpenedPort<Opened = Port<never, unknown>> =
  | {
      readonly kind: "opened";
      readonly port: Opened;
      /** What it is made of, for the log. */
      readonly found: Readonly<Record<string, unknown>>;
      readonly metrics: readonly SampledMetric[];
      close(): Promise<void>;
    }
  | { readonly kind: "missing"; readonly why: string };

/** Where a model is, by the options of a port's name; undefined: there is none. */
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
