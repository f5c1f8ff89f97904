/** What verifiers may ask of the outside, as this server has it. */
import { escaped } from "../../envs/lib/words.ts";
import type { PortName, Ports } from "../../envs/ports.ts";
import type { Clock } from "../curriculum/runs/ports.ts";
import type { JudgeFigures } from "./judge/counts.ts";
import { createJudge, type JudgeOptions } from "./judge/judge.ts";
import type { ResourcesOptions } from "./resources.ts";
import type { SandboxFigures } from "./sandbox/counts.ts";
import { openSandbox, type SandboxSettings } from "./sandbox/open.ts";

/** Why a port is not there, and what to do, for each that is not. */
export type MissingPorts = Readonly<Partial<Record<PortName, string>>>;

export const NO_JUDGE = "this server has no judge: start it with --judge-url and --judge-model (and GRADUS_JUDGE_KEY)";

export interface PortsOptions {
  readonly clock: Clock;
  readonly sandbox: SandboxSettings;
  /** Undefined: the server has no judge. */
  readonly judge: (JudgeOptions & { readonly concurrency: number }) | undefined;
  /** Told what a port is made of, and of each failure of one. */
  readonly onOpen?: (port: PortName, found: Readonly<Record<string, unknown>>) => void;
  readonly onFault?: (port: PortName, why: string) => void;
  /** Told what the operator should know. */
  readonly warn?: (details: object, message: string) => void;
}

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** What the operator says of how much they may be asked. */
  readonly limits: NonNullable<ResourcesOptions["limits"]>;
  /** Undefined: there is no sandbox. */
  readonly sandboxFigures: (() => SandboxFigures) | undefined;
  /** Undefined: there is no judge. */
  readonly judgeFigures: (() => JudgeFigures) | undefined;
  readonly close: () => Promise<void>;
}

export async function openPorts(options: PortsOptions): Promise<OpenedPorts> {
  const { sandbox: settings, judge: judgeOptions, onOpen, onFault } = options;
  const opened = await openSandbox(settings, (why) => onFault?.("sandbox", escaped(why)));
  if (opened.kind === "opened") onOpen?.("sandbox", opened.found);
  const sandbox = opened.kind === "opened" ? opened.sandbox : undefined;
  const judge = judgeOptions && openJudge(judgeOptions, options);
  return {
    ports: { ...(sandbox !== undefined && { sandbox }), ...(judge !== undefined && { judge }) },
    missing: {
      ...(opened.kind !== "opened" && { sandbox: opened.why }),
      ...(judge === undefined && { judge: NO_JUDGE }),
    },
    limits: limitsOf(options),
    sandboxFigures: sandbox && (() => sandbox.figures()),
    judgeFigures: judge?.figures,
    close: async () => {
      judge?.close();
      if (opened.kind === "opened") await opened.close();
    },
  };
}

/** What the operator says of how much they may be asked. */
export function limitsOf({ sandbox, judge }: Pick<PortsOptions, "sandbox" | "judge">): OpenedPorts["limits"] {
  return {
    ...(sandbox.kind !== "off" && { sandbox: { concurrencyMax: sandbox.concurrency } }),
    ...(judge && { judge: { concurrencyMax: judge.concurrency, timeLimitMs: judge.timeoutMs } }),
  };
}

function openJudge(options: JudgeOptions, { clock, warn }: PortsOptions) {
  const onTrust = (isTrusted: boolean, rightShare: number): void => {
    const message = isTrusted
      ? "the judge tells good texts from bad ones again"
      : "the judge does not tell good texts from bad ones: look at the model, or change it";
    warn?.({ model: options.model, rightShare }, message);
  };
  return createJudge(options, { clock, onTrust });
}
