/** Planted bugs that the simulation must find. Each is one that a server could have. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { FeedbackStatus } from "../../server/curriculum/feedback.ts";
import type { Append, Store } from "../../server/stores/store.ts";
import {
  type Drawn,
  RunEventSchema,
  type SavedRun,
  SavedRunSchema,
} from "../../proto/gen/gradus/internal/v1/run_pb.js";
import { hashKey } from "../../envs/lib/rng.ts";
import { FORMAT } from "../../server/curriculum/event-codec.ts";
import type { Runs, Task } from "../server/curriculum/support.ts";
import type { Ground, Plant } from "./server.ts";

const recorded: FeedbackStatus = { kind: "recorded" };

function isFeedback({ events }: Append): boolean {
  return events.some((event) => fromBinary(RunEventSchema, event).kind.case === "feedback");
}

/** Replaces a share of the appends of feedback by `instead`. */
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

/** Changes the draws before they are written. */
function drawing(store: Store, change: (key: number, drawn: Drawn) => void): Store {
  return {
    ...store,
    append: (key, append) => {
      const events = append.events.map((event) => {
        const message = fromBinary(RunEventSchema, event);
        if (message.kind.case === "drawn") change(key, message.kind.value);
        return toBinary(RunEventSchema, message);
      });
      return store.append(key, { ...append, events });
    },
  };
}

/** Counts the arms that changes of shape have removed, by run. */
function removedArms(store: Store, removed: Map<number, number>): Store {
  return {
    ...store,
    append: (key, append) => {
      for (const event of append.events) {
        const { kind } = fromBinary(RunEventSchema, event);
        const arm = kind.case === "reshaped" ? kind.value.config?.arms.findIndex((each) => each.removed) : -1;
        if (arm !== undefined && arm >= 0) removed.set(key, arm);
      }
      return store.append(key, append);
    },
  };
}

/** Changes the snapshots before they are written. */
function saving(store: Store, change: (saved: SavedRun) => void): Store {
  return {
    ...store,
    saveSnapshot: (key, { version, body }) => {
      const saved = fromBinary(SavedRunSchema, body);
      change(saved);
      return store.saveSnapshot(key, { version, body: toBinary(SavedRunSchema, saved) });
    },
  };
}

/** Writes that a group is open again, whatever the run's state. */
async function openAgain({ shared, world }: Ground, runId: string, cursor: number): Promise<void> {
  const row = await shared.store.find(runId);
  const events = row && (await shared.store.read(row.key, 0));
  if (row === undefined || events === undefined) return;
  const value = { cursors: [cursor], atMs: Math.floor(world.nowMs()) };
  const event = toBinary(RunEventSchema, create(RunEventSchema, { format: FORMAT, kind: { case: "reopened", value } }));
  await shared.store.append(row.key, { expectedVersion: events.length, events: [event], records: [] });
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
    store: (store) =>
      saving(store, ({ parts }) => {
        for (const { part } of parts) if (part.case === "head") part.value.samplesRecorded++;
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
      // Each server counts from 0 again.
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
  "an import restores the control of the export unasked": {
    runs: (runs) => ({ ...runs, import: (state, runId, key) => runs.import(state, runId, key, true) }),
  },
  "a task depends on when it is made": {
    source: (source, { world }) => ({
      ...source,
      make: async (places, signal, runId) => {
        const made = await source.make(places, signal, runId);
        const late = hashKey(Math.floor(world.nowMs() / 200)).slice(0, 2);
        return made.map((each) =>
          each.kind === "task" ? { ...each, key: { ...each.key, hash: `${late}${each.key.hash.slice(2)}` } } : each,
        );
      },
    }),
  },
  "a task of the reserve is counted as one to train on": {
    store: (store) =>
      drawing(store, (_key, drawn) => {
        if (drawn.prompts < drawn.tasks.length) drawn.prompts++;
      }),
  },
  "an arm that was removed is drawn": {
    store: (store) => {
      const removed = new Map<number, number>();
      const changed = drawing(store, (key, drawn) => {
        const [task] = drawn.tasks;
        const arm = removed.get(key);
        if (task !== undefined && arm !== undefined) task.arm = arm;
      });
      return removedArms(changed, removed);
    },
  },
  "a group is opened again although a draw has folded it in": {
    runs: (runs, ground) => ({
      ...runs,
      reopenGroups: async (runId, refs) => {
        const outcome = await runs.reopenGroups(runId, refs);
        if (outcome.kind !== "ok") return outcome;
        const at = outcome.value.findIndex(
          (status) => status.kind === "not_recorded" && status.detail.includes("later draw"),
        );
        if (at < 0) return outcome;
        await openAgain(ground, runId, refs[at]?.cursor ?? 0);
        return { kind: "ok", value: outcome.value.with(at, recorded) };
      },
    }),
  },
  "a task that nobody had is given to two who ask": {
    runs: (runs) => {
      const last = new Map<string, Task>();
      const nextBatch: Runs["nextBatch"] = async (runId, request) => {
        const outcome = await runs.nextBatch(runId, request);
        if (outcome.kind !== "ok" || request.cursor !== undefined) return outcome;
        const [first] = outcome.value.tasks;
        const again = last.get(runId);
        if (first !== undefined) last.set(runId, first);
        const tasks = again === undefined ? outcome.value.tasks : [again, ...outcome.value.tasks];
        return { kind: "ok", value: { ...outcome.value, tasks } };
      };
      return { ...runs, nextBatch };
    },
  },
  "groups to train on are chosen by when they were whole": {
    runs: (runs) => {
      const order = new Map<string, number>();
      const groups: Runs["groups"] = async (runId, request) => {
        const outcome = await runs.groups(runId, request);
        if (outcome.kind !== "ok") return outcome;
        const found = outcome.value.groups;
        const count = found.filter(({ selected }) => selected).length;
        const place = ({ task }: (typeof found)[0]): number => order.get(`${task.incarnation}/${task.cursor}`) ?? 0;
        const chosen = new Set(
          found
            .filter(({ useful }) => useful)
            .toSorted((a, b) => place(b) - place(a))
            .slice(0, count),
        );
        const told = found.map((group) => ({ ...group, selected: chosen.has(group) }));
        return { kind: "ok", value: { ...outcome.value, groups: told } };
      };
      return {
        ...runs,
        groups,
        recordFeedback: (runId, items) => {
          for (const { incarnation, cursor } of items) order.set(`${incarnation}/${cursor}`, order.size);
          return runs.recordFeedback(runId, items);
        },
      };
    },
  },
  "groups are told as they were a moment ago": {
    runs: (runs) => {
      const before = new Map<string, Awaited<ReturnType<typeof runs.groups>>>();
      return {
        ...runs,
        groups: async (runId, request) => {
          const { wanted } = request;
          const name = `${runId} ${wanted.kind === "batch" ? wanted.batch : wanted.kind}`;
          const now = await runs.groups(runId, request);
          const told = before.get(name) ?? now;
          before.set(name, now);
          return told;
        },
      };
    },
  },
  "a snapshot lets out one more of the reserve": {
    store: (store) =>
      saving(store, ({ parts }) => {
        const [first] = parts.flatMap(({ part }) =>
          part.case === "tasks" && part.value.reserve.length > 1 ? [part.value.reserve] : [],
        );
        first?.shift();
      }),
  },
};
