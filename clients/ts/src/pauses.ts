/** Recognizes the error of a paused run, and logs that the client waits. */
import type { GradusError } from "./errors.ts";

/** Minimum time between two log lines, in milliseconds. */
const NOTICE_MS = 60_000;

/** Callback for each error which says that the run is paused. */
export type PauseNotice = (error: GradusError) => void;

/** Returns whether an error says that the call's run is paused. */
export function isPaused(error: GradusError): boolean {
  return error.code === "UNAVAILABLE" && error.reason === "PAUSED";
}

/** Returns a callback that logs, at most once a minute, who paused the run and since when. */
export function pauseNotice(runId: string, now: () => number = () => performance.now()): PauseNotice {
  let saidAt = -Infinity;
  return ({ facts }) => {
    if (now() - saidAt < NOTICE_MS) return;
    saidAt = now();
    const by = facts["paused_by"] ? ` by ${facts["paused_by"]}` : "";
    const since = facts["paused_since"] ? ` since ${facts["paused_since"]}` : "";
    const remedy = `nextBatch waits until it is resumed (gradus run resume ${runId})`;
    console.warn(`gradus: run "${runId}" is paused${by}${since}: ${remedy}`);
  };
}
