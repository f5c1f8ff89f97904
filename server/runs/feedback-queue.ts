/**
 * Feedback that comes while its run is written to is written as one after that. It is gathered before the run is looked
 * for: samples come a few at a time, and all that is done for a call would be done for each of them.
 */
import { decideFeedback, type FeedbackItem, type FeedbackStatus } from "../curriculum/feedback.ts";
import { type InstanceKey, ok, type Result } from "../curriculum/types.ts";
import type { Registry } from "./loaded-runs.ts";

/** Items of a run that may wait for the store, in all calls together. */
export const PENDING_ITEMS_MAX = 262_144;

type Outcome = Result<readonly FeedbackStatus[]>;

interface Call {
  readonly items: readonly FeedbackItem[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** What waits for one run. */
interface Gathered {
  calls: Call[];
  /** Of these calls, and of those that are being written. */
  items: number;
}

export interface FeedbackQueue {
  /** The status of each item, in order. */
  readonly record: (runId: string, items: readonly FeedbackItem[]) => Promise<Outcome>;
}

export function feedbackQueue<Spec, Key extends InstanceKey>(registry: Registry<Spec, Key>): FeedbackQueue {
  const byRun = new Map<string, Gathered>();

  const write = async (runId: string, gathered: Gathered): Promise<void> => {
    let taken: readonly Call[] | undefined;
    const take = (): readonly Call[] => {
      const { calls } = gathered;
      gathered.calls = [];
      return calls;
    };
    const settle = (each: (call: Call, from: number) => void): void => {
      let from = 0;
      for (const call of taken ?? take()) {
        each(call, from);
        from += call.items.length;
      }
      gathered.items -= from;
      if (gathered.items === 0 && gathered.calls.length === 0) byRun.delete(runId);
    };
    try {
      const outcome = await registry.withRun<Outcome>(runId, ({ run }) =>
        run.commit<Outcome>((state) => {
          // The first time this is called is as late as calls can join.
          taken ??= take();
          const { statuses, groups, evaluated } = decideFeedback(
            state,
            taken.flatMap((call) => call.items),
          );
          const fed = groups.length > 0 ? [{ kind: "feedback", groups } as const] : [];
          return { events: [...fed, ...evaluated], value: ok(statuses) };
        }),
      );
      settle((call, from) =>
        call.resolve(outcome.kind === "ok" ? ok(outcome.value.slice(from, from + call.items.length)) : outcome),
      );
    } catch (error) {
      settle((call) => call.reject(error));
    }
  };

  return {
    record: (runId, items) => {
      const gathered = byRun.get(runId) ?? { calls: [], items: 0 };
      if (gathered.items + items.length > PENDING_ITEMS_MAX) {
        const message = "too much feedback waits for the store";
        const wait = { reason: "OVERLOADED" } as const;
        return Promise.resolve({ kind: "unavailable", message, retryDelayMs: 1000, wait });
      }
      byRun.set(runId, gathered);
      return new Promise((resolve, reject) => {
        gathered.calls.push({ items, resolve, reject });
        gathered.items += items.length;
        if (gathered.calls.length === 1) void write(runId, gathered);
      });
    },
  };
}
