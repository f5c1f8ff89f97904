/** What verifiers may ask of the outside, as this server has it. */
import type { PortName, Ports } from "../../envs/ports.ts";

/** Why a port is not there, and what to do, for each that is not. */
export type MissingPorts = Readonly<Partial<Record<PortName, string>>>;

export interface OpenedPorts {
  readonly ports: Ports;
  readonly missing: MissingPorts;
  close(): Promise<void>;
}

export async function openPorts(): Promise<OpenedPorts> {
  const missing = { sandbox: "this server has no sandbox", judge: "this server has no judge" };
  return { ports: {}, missing, close: async () => undefined };
}
