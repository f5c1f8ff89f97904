/** Opens the sandbox that the operator has chosen, or says why there is none and what to do. */
import type { Sandbox } from "../../../envs/ports.ts";
import { counted, type CountedSandbox } from "./counts.ts";
import { openEmbedded } from "./embedded.ts";
import { probeRoom } from "./probe.ts";
import { findPython } from "./python.ts";
import { createRemote } from "./remote.ts";
import type { ZygoteOptions } from "./zygote.ts";

export type SandboxSettings =
  | { readonly kind: "off" }
  | {
      readonly kind: "embedded";
      /** A name on the path, or a path. */
      readonly python: string;
      readonly concurrency: number;
      readonly without?: NonNullable<ZygoteOptions["without"]>;
    }
  | { readonly kind: "remote"; readonly url: string; readonly concurrency: number };

export type OpenedSandbox =
  | {
      readonly kind: "opened";
      readonly sandbox: CountedSandbox;
      /** What holds programs in, for the log. */
      readonly found: Readonly<Record<string, unknown>>;
      close(): Promise<void>;
    }
  | { readonly kind: "missing"; readonly why: string };

const PROBE_MS_MAX = 60_000;
const OTHERWISE = "give --sandbox the URL of a SandboxFusion server, or use other environments";

export async function openSandbox(
  settings: SandboxSettings,
  onFault: (why: string) => void = () => undefined,
): Promise<OpenedSandbox> {
  if (settings.kind === "off") return missing("--sandbox is off");
  if (settings.kind === "remote") {
    const sandbox: Sandbox = createRemote(settings);
    return { kind: "opened", sandbox: counted(sandbox), found: { url: settings.url }, close: async () => undefined };
  }
  if (process.platform !== "linux") return missing(`programs are run on Linux, and this is ${process.platform}`);
  const python = await findPython(settings.python);
  if (python.kind === "missing") return missing(python.why);
  const opened = await openEmbedded({ ...settings, python: python.path, onFault });
  if (opened.kind === "missing") return missing(opened.why);
  const { sandbox } = opened;
  const signal = AbortSignal.timeout(PROBE_MS_MAX);
  const probed = await probeRoom(sandbox, { signal, deadlineMs: Date.now() + PROBE_MS_MAX });
  if (probed.kind === "closed")
    return { kind: "opened", sandbox: counted(sandbox), found: { ...sandbox.found }, close: () => sandbox.close() };
  await sandbox.close();
  return missing(`this kernel does not hold programs in; ${probed.why}`);
}

function missing(why: string): OpenedSandbox {
  return { kind: "missing", why: `this server runs no programs: ${why}; ${OTHERWISE}` };
}
