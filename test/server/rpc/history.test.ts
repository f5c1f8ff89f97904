/**
 * Tests of merged histories, whose beginnings the server caches: its answers equal those of a server without a cache.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { HistoryRecord } from "../../../proto/gen/gradus/v1/curriculum_pb.js";
import { historiesOf, type HistoryQuery } from "../../../server/rpc/curriculum/read-history.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import type { Store } from "../../../server/stores/store.ts";
import { ask, bench, feedbackFor, runConfig, type Runs, type Task, value } from "../curriculum/support.ts";

const PROMPTS = 2;
const merged: HistoryQuery = { from: 0, size: 1000, merge: 3, isByArm: true, armGroups: [] };
const config = () => runConfig({ promptsPerUpdate: PROMPTS, lag: { kind: "batches", count: 4 } });

/** Returns a run and its changes; `draws` returns whether a batch could be drawn. */
async function started(store?: Store) {
  const { runs } = bench(store && { store });
  value(await runs.create("run", config()));
  let tasks: Task[] = [];
  let exported = value(await runs.export("run")).state;
  const draws = async (): Promise<boolean> => {
    const { state } = value(await runs.get("run"));
    const drawn = await ask(runs, "run", state.cursor, PROMPTS);
    if (drawn.kind !== "ok") return false;
    tasks = [...tasks, ...drawn.value.tasks];
    return true;
  };
  const some = (at: number): Task[] => tasks.slice(at % Math.max(1, tasks.length)).slice(0, PROMPTS + 1);
  const changes = {
    draw: async () => {
      await draws();
    },
    part: async (at: number) => {
      value(
        await runs.recordFeedback(
          "run",
          some(at).map((task) => feedbackFor(task, 0, 0.5)),
        ),
      );
    },
    answer: async (at: number) => {
      const samples = some(at).flatMap((task) => [0, 1, 2, 3].map((sample) => feedbackFor(task, sample, sample / 3)));
      value(await runs.recordFeedback("run", samples));
    },
    close: async (at: number) => {
      value(await runs.closeGroups("run", some(at), "dropped"));
    },
    reopen: async (at: number) => {
      value(await runs.reopenGroups("run", some(at)));
    },
    advance: async () => {
      value(await runs.pause("run"));
      value(await runs.resume("run"));
    },
    export: async () => {
      exported = value(await runs.export("run")).state;
    },
    import: async () => {
      const { outstanding } = value(await runs.import(exported, "run"));
      tasks = [...outstanding];
    },
    again: async () => {
      value(await runs.remove("run"));
      value(await runs.create("run", config()));
      tasks = [];
      exported = value(await runs.export("run")).state;
    },
  };
  return { runs, changes };
}

/**
 * Returns a function that follows a run's history as a drawing client does: it keeps settled records and asks for the
 * rest again.
 * After an import it asks for all of them.
 */
function follower(runs: Runs) {
  let records: readonly HistoryRecord[] = [];
  let from = 0;
  let of: unknown;
  const history = historiesOf(runs);
  return async (): Promise<readonly HistoryRecord[]> => {
    const { incarnation, epoch } = value(await runs.get("run")).state;
    const now = JSON.stringify([incarnation, epoch]);
    if (now !== of) [records, from] = [[], 0];
    of = now;
    const page = await history("run", { ...merged, from });
    const told = [...records, ...page.records];
    records = told.slice(0, told.length - page.resumeRecords);
    from = Number(Buffer.from(page.resumeToken, "base64url").toString());
    return told;
  };
}

const names = [
  "draw",
  "draw",
  "draw",
  "part",
  "answer",
  "answer",
  "close",
  "reopen",
  "advance",
  "export",
  "import",
  "again",
] as const;
const step = fc.tuple(fc.constantFrom(...names), fc.nat(20));

test("what is remembered, what is followed and what is read anew are the same, whatever is done to the run", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const { runs, changes } = await started();
      const remembering = historiesOf(runs);
      const followed = follower(runs);
      for (const [name, at] of steps) {
        await changes[name](at);
        const anew = await historiesOf(runs)("run", merged);
        expect(await remembering("run", merged), name).toEqual(anew);
        const short = { ...merged, size: 3 };
        expect(await remembering("run", short), name).toEqual(await historiesOf(runs)("run", short));
        expect(await followed(), name).toEqual(anew.records);
      }
    }),
    { numRuns: 60 },
  );
});

test("an update batch that is drawn while its history is read is not settled", async () => {
  const kept = memoryStore(() => 0);
  let meanwhile = async (): Promise<void> => undefined;
  const { runs, changes } = await started({
    ...kept,
    records: async (...place) => {
      await meanwhile();
      return kept.records(...place);
    },
  });
  await changes.draw();
  await changes.answer(0);
  meanwhile = () => changes.draw();
  const { records, resumeRecords } = await historiesOf(runs)("run", { ...merged, merge: 1 });
  expect([records.length, resumeRecords]).toEqual([2, 1]);
});

test("of a merged history only what is not settled is read again", async () => {
  const { runs, changes } = await started();
  const places: number[] = [];
  const history = historiesOf({
    history: (runId, from, ...rest) => {
      places.push(from);
      return runs.history(runId, from, ...rest);
    },
  });
  for (let batch = 0; batch < 8; batch++) {
    await changes.draw();
    await changes.answer(batch * PROMPTS);
  }
  await history("run", merged);
  await history("run", merged);
  await history("run", { ...merged, merge: 2 });
  // Batches 6 and 7 are two of a record of three.
  expect(places).toEqual([0, 6, 0]);
});
