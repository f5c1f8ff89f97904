/** The sandbox as a resource: verifiers of programs and the tool `python` share its limits. */
import type { Resource } from "../resource.ts";

export const sandbox: Resource = {
  ...({ name: "sandbox", port: "sandbox" } as const),
  concurrencyMax: 16,
  waitingMax: 8192,
  heldBytesMax: 256 * 1024 * 1024,
  timeLimitMs: 300_000,
};
