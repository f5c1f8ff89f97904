/** Feedback that comes at the same time is written as one. */
import { decideFeedback, type FeedbackItem, type FeedbackStatus } from "../feedback.ts";
import type { InstanceKey, Refusal } from "../types.ts";
import type { Gone, LiveRun } from "./live-run.ts";
import type { Clock } from "./ports.ts";

/** Items that may wait for the store, in all calls together. */
export const PENDING_ITEMS_MAX = 262_144;

type Outcome = readonly FeedbackStatus[] | Gone | Refusal;

interface Call {
  readonly items: readonly FeedbackItem[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export interface FeedbackQueue {
  /** The status of each item, in order. */
  record(items: readonly FeedbackItem[]): Promise<Outcome>;
}

export function feedbackQueue<Spec, Key extends InstanceKey>(run: LiveRun<Spec, Key>, clock: Clock): FeedbackQueue {
  let waiting: Call[] = [];
  let waitingItems = 0;

  const write = async (): Promise<void> => {
    let taken: readonly Call[] | undefined;
    const take = (): readonly Call[] => {
      const calls = waiting;
      waiting = [];
      return calls;
    };
    try {
      const outcome = await run.commit((state) => {
        // The first time this is called is as late as calls can join.
        taken ??= take();
        const { statuses, groups, evaluated } = decideFeedback(
          state,
          taken.flatMap((call) => call.items),
        );
        const fed = groups.length > 0 ? [{ kind: "feedback", groups } as const] : [];
        return { events: [...fed, ...evaluated], value: statuses };
      });
      settle(taken ?? take(), (call, from) =>
        call.resolve("kind" in outcome ? outcome : outcome.slice(from, from + call.items.length)),
      );
    } catch (error) {
      settle(taken ?? take(), (call) => call.reject(error));
    }
  };

  const settle = (calls: readonly Call[], each: (call: Call, from: number) => void): void => {
    let from = 0;
    for (const call of calls) {
      each(call, from);
      from += call.items.length;
    }
    waitingItems -= from;
  };

  return {
    record: (items) => {
      if (waitingItems + items.length > PENDING_ITEMS_MAX) {
        const message = "too much feedback waits for the store";
        return Promise.resolve({ kind: "unavailable", message, retryDelayMs: 1000 });
      }
      return new Promise((resolve, reject) => {
        waiting.push({ items, resolve, reject });
        waitingItems += items.length;
        if (waiting.length === 1) clock.nextTurn(() => void write());
      });
    },
  };
}
