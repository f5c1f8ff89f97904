/**
 * Tracks whether a resource (e.g. a judge) works. After FAILURES_MAX failures in a row the resource counts as down, and
 * verifications that need it are refused at once.
 *
 * A pause later, the resource is tried again. The pause doubles with each further failure.
 */
import type { Resource } from "../../../envs/resource.ts";
import type { Failed } from "../../../envs/facts.ts";
import type { Clock } from "../../base/clock.ts";

/** Number of consecutive failures after which a resource counts as down. */
export const FAILURES_MAX = 5;
const DOWN_MIN_MS = 1000;
const DOWN_MAX_MS = 60_000;

export interface Health {
  /**
   * Returns the failure with which verifications are refused while the resource is down. Undefined: the resource is not
   * down.
   */
  refusal(): Failed | undefined;
  /** Records that the resource (e.g. a judge) worked. The count of its failures starts again from 0. */
  answered(): void;
  failed(failure: Failed): void;
  /** Cancels the next test of the resource (e.g. a judge), if one is due. */
  close(): void;
}

type State =
  | { readonly kind: "up"; readonly failures: number }
  | { readonly kind: "down"; readonly failure: Failed; readonly untilMs: number; readonly delayMs: number }
  /** The resource was down, and verifications may use it again. A single failure takes it down again. */
  | { readonly kind: "trial"; readonly delayMs: number };

const UP: State = { kind: "up", failures: 0 };

export interface HealthOptions {
  readonly resource: Resource;
  readonly clock: Clock;
  /** Called with the reason when the resource goes down, and with undefined when it works again. */
  readonly onChange: (down: string | undefined) => void;
  /** Tests the resource. Resolves to the failure, or to undefined if it works. */
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
    // A verification may have succeeded while the test ran, so the resource may not be down any more.
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
