/** Tests that a list says of a run what its journal says, after every change and on every store. */
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { decodeSummary, type ListedView, readState } from "../../../server/runs/journal.ts";
import { runView } from "../../../server/curriculum/run-view.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import { sqliteStore } from "../../../server/stores/sqlite.ts";
import type { Store } from "../../../server/stores/store.ts";
import {
  adscArms,
  answer,
  arm,
  ask,
  banditPolicy,
  bench,
  eventBytes,
  fakeClock,
  feedbackOf,
  freshTasks,
  mixturePolicy,
  runConfig,
  type Runs,
  stage,
  stagedPolicy,
  value,
  listedViews,
} from "./support.ts";

const directories: string[] = [];
afterAll(() => directories.forEach((made) => rmSync(made, { recursive: true })));

function onDisk(): Promise<Store> {
  const directory = mkdtempSync(join(tmpdir(), "gradus-"));
  directories.push(directory);
  return sqliteStore({ directory });
}

const stores: readonly { readonly name: string; readonly open: () => Store | Promise<Store> }[] = [
  { name: "memory", open: memoryStore },
  { name: "sqlite", open: onDisk },
];

const stages = stagedPolicy(stage({ kind: "open" }, { a: 1, b: 2 }), stage({ kind: "open" }));
const config = runConfig({
  arms: [arm("a"), arm("b", { resource: "judge" }), arm("c")],
  groupTimeoutMs: 60_000,
});

/** Each changes a run in another way, from wherever it stands. */
const changes: Readonly<Record<string, (runs: Runs, id: string) => Promise<unknown>>> = {
  draw: (runs, id) => ask(runs, id, undefined, 6),
  answer: async (runs, id) => {
    const given = await ask(runs, id, undefined, 6);
    if (given.kind === "ok") await answer(runs, id, given.value.tasks);
  },
  "answer in part": async (runs, id) => {
    const given = await ask(runs, id, undefined, 6);
    if (given.kind === "ok") await runs.recordFeedback(id, feedbackOf(given.value.tasks.slice(0, 3), 2));
  },
  close: async (runs, id) => {
    const { incarnation } = value(await runs.get(id)).state;
    const groups = [0, 1, 2, 7].map((cursor) => ({ incarnation, cursor }));
    await runs.closeGroups(id, groups, "dropped");
  },
  pause: (runs, id) => runs.pause(id),
  resume: (runs, id) => runs.resume(id),
  note: (runs, id) => runs.annotate(id, { note: "a \u0000 note", addTags: ["one", "two"], removeTags: [] }),
  untag: (runs, id) => runs.annotate(id, { note: undefined, addTags: [], removeTags: ["one"] }),
  weights: (runs, id) => runs.setWeights(id, { a: 3 }),
  staged: (runs, id) => runs.updatePolicy(id, stages),
  bandit: (runs, id) => runs.updatePolicy(id, banditPolicy({ alpha: 0.5 })),
  mixture: (runs, id) => runs.updatePolicy(id, mixturePolicy()),
  advance: (runs, id) => runs.advance(id),
  mask: (runs) => runs.maskArms("judge", "it does not answer"),
  unmask: (runs) => runs.maskArms("judge", undefined),
  "import in place": async (runs, id) => runs.import(value(await runs.export(id)).state, undefined),
  "import as another": async (runs, id) => runs.import(value(await runs.export(id)).state, `${id}-again`),
  "create with other arms": (runs, id) => runs.create(`${id}-other`, runConfig({ arms: adscArms })),
};

function asListed({ runId, config, state, createdAtMs }: ListedView): ListedView {
  return { runId, config: { given: config.given }, state, createdAtMs };
}

/** Compares the store's valid summaries, and the list of a server that has no run in memory, with the journals. */
async function compare(store: Store): Promise<void> {
  const { runs: rows } = await store.list("", 100);
  const { runs } = bench({ store });
  const listed = listedViews(await runs.list("", 100));
  for (const [i, row] of rows.entries()) {
    const state = await readState(store, row, freshTasks, fakeClock());
    if (state === undefined) throw new Error(`run ${row.id} is listed, and is gone`);
    const is = asListed(runView(state));
    expect(asListed(listed[i] as ListedView), row.id).toEqual(is);
    expect(decodeSummary(row) ?? is, row.id).toEqual(is);
  }
  // Listing the runs has renewed the summaries that were not valid.
  for (const row of (await store.list("", 100)).runs) expect(decodeSummary(row), row.id).toBeDefined();
  runs.close();
}

describe.each(stores)("on the $name store", ({ name, open }) => {
  test("the summary of a run is what its journal comes to, after every change of two servers", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...Object.keys(changes)), fc.nat(1)), { minLength: 1, maxLength: 12 }),
        async (steps) => {
          const store = await open();
          const servers = [bench({ store }).runs, bench({ store }).runs];
          value(await (servers[0] as Runs).create("run", config));
          await compare(store);
          for (const [change, server] of steps) {
            await changes[change]?.(servers[server] as Runs, "run");
            await compare(store);
          }
          const got = value(await (servers[1] as Runs).get("run"));
          const listed = listedViews(await (servers[0] as Runs).list("", 100));
          expect(listed.find(({ runId }) => runId === "run")).toEqual(asListed(got));
          for (const runs of servers) runs.close();
          await store.close();
        },
      ),
      {
        numRuns: name === "memory" ? 100 : 6,
        // Another server wrote the summary in between: it names the same policy, and differs from the run.
        examples: [
          [
            [
              ["staged", 1],
              ["mixture", 0],
              ["staged", 1],
              ["draw", 0],
            ],
          ],
        ],
      },
    );
  });

  test("a summary that another server did not keep up is not believed", async () => {
    const store = await open();
    const { runs } = bench({ store });
    value(await runs.create("run", config));
    const key = (await store.find("run"))?.key ?? -1;
    const { state = "" } = (await store.list("", 1)).runs[0]?.summary ?? {};
    const paused = {
      expectedVersion: 1,
      events: [eventBytes({ kind: "paused", by: "", atMs: 0 })],
      records: [],
      summary: { state },
    };
    expect(await store.append(key, paused)).toBe("appended");
    expect(listedViews(await bench({ store }).runs.list("", 1))[0]?.state).toMatchObject({ paused: true, version: 1 });
    await store.close();
  });
});
