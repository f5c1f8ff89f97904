/** What verifiers may ask of the outside, as this server has it. */
import type { PortName, Ports } from "../../envs/ports.ts";
import type { SandboxFigures } from "./sandbox/counts.ts";
import { openSandbox, type SandboxSettings } from "./sandbox/open.ts";

/** Why a port is not there, and what to do, for each that is not. */
export type MissingPorts = Readonly<Partial<Record<PortName, string>>>;

export interface PortsOptions {
  readonly sandbox: SandboxSettings;
  /** Told what a port is made of, and of each failure of one. */
  readonly onOpen?: (port: PortName, found: Readonly<Record<string, unknown>>) => void;
  readonly onFault?: (port: PortName, why: string) => void;
}

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  /** Undefined: there is no sandbox. */
  readonly sandboxFigures: (() => SandboxFigures) | undefined;
  close(): Promise<void>;
}

export async function openPorts({ sandbox: settings, onOpen, onFault }: PortsOptions): Promise<OpenedPorts> {
  const missing: { -readonly [Name in PortName]?: string } = { judge: "this server has no judge" };
  const opened = await openSandbox(settings, (why) => onFault?.("sandbox", why));
  if (opened.kind === "opened") onOpen?.("sandbox", opened.found);
  else missing.sandbox = opened.why;
  const sandbox = opened.kind === "opened" ? opened.sandbox : undefined;
  return {
    ports: { ...(sandbox !== undefined && { sandbox }) },
    missing,
    sandboxFigures: sandbox && (() => sandbox.figures()),
    close: async () => {
      if (opened.kind === "opened") await opened.close();
    },
  };
}
