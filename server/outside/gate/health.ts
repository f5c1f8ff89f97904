/**
 * Whether a resource answers. One that has failed several times in a row is down: it is not asked for a while, so that
 * nobody waits for it in vain. Then it is asked again, and each failure doubles the while.
 */
import type { Resource } from "../../../envs/environment.ts";
import type { Failed } from "../../../envs/facts.ts";
import type { Clock } from "../../base/clock.ts";

/** Failures in a row after which a resource is down. */
export const FAILURES_MAX = 5;
const DOWN_MIN_MS = 1000;
const DOWN_MAX_MS = 60_000;

export interface Health {
  /** What a verification gets while the resource is down. */
  refusal(): Failed | undefined;
  /** What asking it came to. */
  answered(): void;
  failed(failure: Failed): void;
  /** Stops asking. */
  close(): void;
}

type State =
  | { readonly kind: "up"; readonly failures: number }
  | { readonly kind: "down"; readonly failure: Failed; readonly untilMs: number; readonly delayMs: number }
  /** Asked again: a failure puts it down at once. */
  | { readonly kind: "trial"; readonly delayMs: number };

const UP: State = { kind: "up", failures: 0 };

export interface HealthOptions {
  readonly resource: Resource;
  readonly clock: Clock;
  /** Told of each change: why it is down, or undefined when it may be asked again. */
  readonly onChange: (down: string | undefined) => void;
  /** Asks it, within its time limit; undefined: it answers. */
  readonly probe?: (() => Promise<Failed | undefined>) | undefined;
}

export function createHealth({ resource, clock, onChange, probe }: HealthOptions): Health {
  let state = UP;
  let cancelTimer = (): void => undefined;
  let closed = false;

  const wait = (failure: Failed, delayMs: number): void => {
    if (closed) return;
    state = { kind: "down", failure, untilMs: clock.now() + delayMs, delayMs };
    cancelTimer();
    cancelTimer = clock.setTimer(delayMs, () => void askAgain(delayMs));
  };
  const goDown = (failure: Failed, delayMs: number): void => {
    wait(failure, delayMs);
    onChange(failure.detail);
  };
  const goUp = (next: State): void => {
    cancelTimer();
    const wasDown = state.kind === "down";
    state = next;
    if (wasDown) onChange(undefined);
  };
  const askAgain = async (delayMs: number): Promise<void> => {
    if (probe === undefined) return goUp({ kind: "trial", delayMs });
    const still = await probe();
    // It may have answered meanwhile.
    if (state.kind !== "down") return;
    if (still === undefined) goUp(UP);
    else wait(still, longer(delayMs));
  };

  return {
    refusal: () => {
      if (state.kind !== "down") return undefined;
      const { failure, untilMs } = state;
      const detail = `resource '${resource.name}' is down: ${failure.detail}`;
      return { ...failure, detail, retryable: true, retryDelayMs: Math.max(1, untilMs - clock.now()) };
    },
    answered: () => {
      if (state !== UP) goUp(UP);
    },
    failed: (failure) => {
      if (state.kind === "trial") goDown(failure, longer(state.delayMs));
      else if (state.kind === "up") {
        const failures = state.failures + 1;
        if (failures >= FAILURES_MAX) goDown(failure, DOWN_MIN_MS);
        else state = { kind: "up", failures };
      }
    },
    close: () => {
      closed = true;
      cancelTimer();
    },
  };
}

function longer(delayMs: number): number {
  return Math.min(DOWN_MAX_MS, 2 * delayMs);
}
