/**
 * Declares the sandbox as a resource, i.e. an external service with limits on its use. The verifier of programs and the
 * tool `python` share these limits.
 */
import type { Resource } from "../resource.ts";

export const sandbox: Resource = {
  ...({ name: "sandbox", port: "sandbox" } as const),
  concurrencyMax: 16,
  waitingMax: 8192,
  heldBytesMax: 256 * 1024 * 1024,
  timeLimitMs: 300_000,
};
