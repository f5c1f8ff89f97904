/** What verifiers may ask of the outside, as this server has it. */
import type { PortName, Ports } from "../../envs/ports.ts";
import type { Clock } from "../curriculum/runs/ports.ts";
import type { JudgeFigures } from "./judge/counts.ts";
import { createJudge, type JudgeOptions } from "./judge/judge.ts";
import type { ResourcesOptions } from "./resources.ts";

/** Why a port is not there, and what to do, for each that is not. */
export type MissingPorts = Readonly<Partial<Record<PortName, string>>>;

export const NO_JUDGE = "this server has no judge: start it with --judge-url and --judge-model (and GRADUS_JUDGE_KEY)";

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** What the operator says of how much they may be asked. */
  readonly limits: NonNullable<ResourcesOptions["limits"]>;
  /** Undefined: there is no judge. */
  readonly judgeFigures: (() => JudgeFigures) | undefined;
  close(): Promise<void>;
}

export interface PortsOptions {
  readonly clock: Clock;
  /** Undefined: the server has no judge. */
  readonly judge: (JudgeOptions & { readonly concurrency: number }) | undefined;
  /** Told what the operator should know. */
  readonly warn: (details: object, message: string) => void;
}

export async function openPorts({ clock, judge: options, warn }: PortsOptions): Promise<OpenedPorts> {
  const onTrust = (isTrusted: boolean, rightShare: number): void => {
    const message = isTrusted
      ? "the judge tells good texts from bad ones again"
      : "the judge does not tell good texts from bad ones: look at the model, or change it";
    warn({ model: options?.model, rightShare }, message);
  };
  const judge = options && createJudge(options, { clock, onTrust });
  return {
    ports: { ...(judge && { judge }) },
    missing: { sandbox: "this server has no sandbox", ...(judge === undefined && { judge: NO_JUDGE }) },
    limits: { ...(options && { judge: { concurrencyMax: options.concurrency, timeLimitMs: options.timeoutMs } }) },
    judgeFigures: judge?.figures,
    close: async () => judge?.close(),
  };
}
