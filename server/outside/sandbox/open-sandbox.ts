/**
 * Opens the sandbox that the operator chose (`--sandbox`). If the sandbox cannot be opened, returns why, and what the
 * operator can do.
 */
import type { Sandbox } from "../../../envs/ports.ts";
import type { OpenedPort } from "../port-kind.ts";
import { counted, type CountedSandbox, sandboxMetrics } from "./sandbox-metrics.ts";
import { openEmbedded } from "./embedded.ts";
import { probeRoom } from "./probe-isolation.ts";
import { findPython } from "./find-python.ts";
import { createRemote, type RemoteOptions } from "./remote.ts";
import { noSandbox, type SandboxSettings } from "./sandbox-settings.ts";

const PROBE_MS_MAX = 60_000;

export async function openSandbox(
  settings: SandboxSettings,
  onFault: (why: string) => void = () => undefined,
  headers?: RemoteOptions["headers"],
): Promise<OpenedPort<CountedSandbox>> {
  if (settings.kind === "remote") {
    return openedAs(
      createRemote({ ...settings, ...(headers && { headers }) }),
      { url: settings.url },
      async () => undefined,
    );
  }
  if (process.platform !== "linux")
    return missing(`programs can only be run on Linux, and this is ${process.platform}`);
  const python = await findPython(settings.python);
  if (python.kind === "missing") return missing(python.why);
  const opened = await openEmbedded({ ...settings, python: python.path, onFault });
  if (opened.kind === "missing") return missing(opened.why);
  const { sandbox } = opened;
  const signal = AbortSignal.timeout(PROBE_MS_MAX);
  const probed = await probeRoom(sandbox, { signal, deadlineMs: Date.now() + PROBE_MS_MAX });
  if (probed.kind === "closed") return openedAs(sandbox, { ...sandbox.found }, () => sandbox.close());
  await sandbox.close();
  return missing(`this kernel does not isolate programs; ${probed.why}`);
}

/** Returns an opened sandbox in the form that the server expects. `found` has details of its isolation, for the log. */
function openedAs(
  sandbox: Sandbox,
  found: Readonly<Record<string, unknown>>,
  close: () => Promise<void>,
): OpenedPort<CountedSandbox> {
  const port = counted(sandbox);
  return { kind: "opened", port, found, metrics: sandboxMetrics(() => port.figures()), close };
}

function missing(why: string): OpenedPort<CountedSandbox> {
  return { kind: "missing", why: noSandbox(why) };
}
