/** Bugs that are planted to see that they are found. Each is one that a server could have. */
import type { FeedbackStatus } from "../../server/curriculum/feedback.ts";
import type { Append, Store } from "../../server/stores/store.ts";
import { hashKey } from "../../envs/lib/rng.ts";
import type { Plant } from "./server.ts";

const recorded: FeedbackStatus = { kind: "recorded" };

function isFeedback({ events }: Append): boolean {
  return events.some((event) => event.startsWith('[3,"fed"'));
}

/** Calls `instead` for a share of the appends of feedback. */
function appending(
  store: Store,
  isTaken: () => boolean,
  instead: (key: number, append: Append) => Promise<"appended" | "conflict" | "gone">,
): Store {
  return {
    ...store,
    append: (key, append) => (isFeedback(append) && isTaken() ? instead(key, append) : store.append(key, append)),
  };
}

export const plants: Readonly<Record<string, Plant>> = {
  "the store says that it appended, and loses the event": {
    store: (store, { world }) =>
      appending(
        store,
        () => world.rng.int(0, 19) === 0,
        async () => "appended",
      ),
  },
  "the store appends twice": {
    store: (store, { world }) =>
      appending(
        store,
        () => world.rng.int(0, 9) === 0,
        async (key, append) => {
          const outcome = await store.append(key, append);
          const expectedVersion = append.expectedVersion + append.events.length;
          if (outcome === "appended") await store.append(key, { ...append, expectedVersion });
          return outcome;
        },
      ),
  },
  "the store does not look at versions": {
    store: (store) => ({
      ...store,
      append: async (key, append) => {
        const all = await store.read(key, 0);
        return store.append(key, { ...append, expectedVersion: all?.length ?? 0 });
      },
    }),
  },
  "a snapshot counts one sample too many": {
    store: (store) => ({
      ...store,
      saveSnapshot: (key, { version, body }) =>
        store.saveSnapshot(key, {
          version,
          body: body.replace(/"samplesRecorded":(\d+)/, (_, count) => `"samplesRecorded":${Number(count) + 1}`),
        }),
    }),
  },
  "feedback counts whatever incarnation it is for": {
    runs: (runs) => ({
      ...runs,
      recordFeedback: async (runId, items) => {
        const found = await runs.get(runId);
        if (found.kind !== "ok") return runs.recordFeedback(runId, items);
        const { incarnation } = found.value.state;
        return runs.recordFeedback(
          runId,
          items.map((item) => ({ ...item, incarnation })),
        );
      },
    }),
  },
  "an incarnation is named after its run's imports, as epochs were": {
    newIncarnation: ({ world }) => {
      // Servers that count from 0 again.
      let count = 0;
      return () => {
        world.note("an incarnation is named");
        return `e${count++ % 3}`;
      };
    },
  },
  "feedback is acknowledged before it is written": {
    runs: (runs) => ({
      ...runs,
      recordFeedback: async (runId, items) => {
        void runs.recordFeedback(runId, items).catch(() => undefined);
        return { kind: "ok", value: items.map(() => recorded) };
      },
    }),
  },
  "feedback is said to be recorded when it was there": {
    runs: (runs) => ({
      ...runs,
      recordFeedback: async (runId, items) => {
        const outcome = await runs.recordFeedback(runId, items);
        if (outcome.kind !== "ok") return outcome;
        return { kind: "ok", value: outcome.value.map((status) => (status.kind === "duplicate" ? recorded : status)) };
      },
    }),
  },
  "an export is an older one": {
    runs: (runs) => {
      const first = new Map<string, Awaited<ReturnType<typeof runs.export>>>();
      return {
        ...runs,
        export: async (runId) => {
          const now = await runs.export(runId);
          const old = first.get(runId) ?? now;
          if (old.kind === "ok") first.set(runId, old);
          return old;
        },
      };
    },
  },
  "a task depends on when it is made": {
    source: (source, { world }) => ({
      ...source,
      make: async (places, signal, runId) => {
        const made = await source.make(places, signal, runId);
        const late = hashKey(Math.floor(world.nowMs() / 200)).slice(0, 2);
        return made.map((each) =>
          each.kind === "task" ? { ...each, key: { ...each.key, hash: `${each.key.hash}${late}` } } : each,
        );
      },
    }),
  },
};
