/** Messages between windows and the shared worker that watches runs for them. */
import type { GradusCode } from "../../../clients/ts/src/errors.ts";

export type WatchRequest =
  | { readonly kind: "watch"; readonly id: string; readonly runId: string; readonly token: string | undefined }
  /** Message from a window that closes, is hidden, or no longer shows the run, and needs no more states. */
  | { readonly kind: "leave"; readonly id: string };

export type WatchReport =
  /** State of the run, a RunState in protobuf's binary form. */
  | { readonly kind: "state"; readonly id: string; readonly state: Uint8Array }
  /** Last message about the run. Without an error, the run was deleted. */
  | {
      readonly kind: "end";
      readonly id: string;
      readonly error?: { readonly code: GradusCode; readonly message: string };
    };
