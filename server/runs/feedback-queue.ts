/**
 * Queue of feedback. Feedback that arrives while its run is being written waits, and is then written together. Samples
 * arrive a few at a time, so a write for each call would be expensive.
 */
import { decideFeedback, type FeedbackItem, type FeedbackStatus } from "../curriculum/feedback.ts";
import { type InstanceKey, ok, type Result } from "../curriculum/types.ts";
import type { Registry } from "./loaded-runs.ts";

/** Maximum number of feedback items of one run that wait for the store or are being written, over all calls. */
export const PENDING_ITEMS_MAX = 262_144;

type Outcome = Result<readonly FeedbackStatus[]>;

interface Call {
  readonly items: readonly FeedbackItem[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Feedback of one run that waits for the store or is being written. */
interface Gathered {
  calls: Call[];
  /** Number of feedback items of the run that wait or are being written. */
  items: number;
}

export function feedbackQueue<Spec, Key extends InstanceKey>(registry: Registry<Spec, Key>) {
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
          // The run calls this function when it is ready to write. Calls that arrive later wait for the next write.
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
    /** Records feedback. Returns the status of each item, in order. */
    record: (runId: string, items: readonly FeedbackItem[]): Promise<Outcome> => {
      const gathered = byRun.get(runId) ?? { calls: [], items: 0 };
      if (gathered.items + items.length > PENDING_ITEMS_MAX) {
        const message = "too much feedback of the run waits for the store: retry later";
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
