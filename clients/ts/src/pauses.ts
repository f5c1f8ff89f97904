/** Runs that are paused: what is said while one is waited for. */
import type { GradusError } from "./errors.ts";

/** From one line on the console to the next. */
const NOTICE_MS = 60_000;

/** Told of each answer that says that the run is paused. */
export type PauseNotice = (error: GradusError) => void;

/** Whether the run of the call is paused. */
export function isPaused(error: GradusError): boolean {
  return error.code === "UNAVAILABLE" && error.reason === "PAUSED";
}

/** Says on the console, once a minute, who paused the run and since when. */
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
