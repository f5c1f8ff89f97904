/** What windows and the shared worker that watches runs for them say to each other. */
import type { GradusCode } from "../../../clients/ts/src/errors.ts";

export type WatchAsked =
  | { readonly kind: "watch"; readonly id: string; readonly runId: string; readonly token: string | undefined }
  /** The window has closed, or is hidden, or shows something else. */
  | { readonly kind: "leave"; readonly id: string };

export type WatchTold =
  /** A RunState in protobuf's binary form. */
  | { readonly kind: "state"; readonly id: string; readonly state: Uint8Array }
  /** Nothing more follows. Without an error: the run was deleted. */
  | {
      readonly kind: "end";
      readonly id: string;
      readonly error?: { readonly code: GradusCode; readonly message: string };
    };
