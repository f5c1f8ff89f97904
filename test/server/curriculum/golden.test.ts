/**
 * Recorded runs. A journal that a server once wrote must lead every later server to the same state, and the same calls
 * must still draw the same tasks: otherwise runs under way would change at an upgrade. UPDATE_GOLDEN=1 writes the files
 * of test/golden/curriculum that are missing.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { apply } from "../../../server/curriculum/apply.ts";
import { decodeEvent, encodeState } from "../../../server/curriculum/codec.ts";
import type { TaskSource } from "../../../server/curriculum/runs/ports.ts";
import type { Runs } from "../../../server/curriculum/runs/runs.ts";
import type { RunState } from "../../../server/curriculum/state.ts";
import type { RunConfig } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  adscArms,
  adscConstraints,
  answer,
  ask,
  banditPolicy,
  bench,
  type FakeClock,
  feedbackFor,
  freshTasks,
  runConfig,
  train,
  value,
} from "./support.ts";

/** Synthetic tasks are fresh; the real arms have ten rows each, so that runs repeat some. */
const source: TaskSource = {
  issue: async (arm, request) => {
    if (arm.source !== "real") return freshTasks.issue(arm, request);
    const row = (request.ordinal * 3) % 10;
    return { kind: "task", hash: `${arm.id}/${row}`, draft: { row } };
  },
};

const adsc = runConfig({
  arms: adscArms,
  policy: banditPolicy({ constraints: adscConstraints }),
  promptsPerUpdate: 8,
  numGenerations: 2,
  groupTimeoutMs: 60_000,
});

/** Two samples a group: the first two of the usual four. */
async function everyEvent(runs: Runs, clock: FakeClock): Promise<void> {
  await train(runs, "run", 4);
  value(await runs.setWeights("run", { "real/T0": 3 }));
  value(await runs.updatePolicy("run", banditPolicy({ alpha: 0.5, constraints: adscConstraints })));
  value(await runs.pause("run"));
  value(await runs.resume("run"));
  const { tasks } = value(await ask(runs, "run", 32, 8));
  await answer(runs, "run", tasks.slice(0, 3));
  value(await runs.closeGroups("run", tasks.slice(3, 5), "too long"));
  const lost = {
    ...feedbackFor(tasks[5] as (typeof tasks)[0], 1),
    result: { kind: "terminal", reason: "timeout" },
  } as const;
  value(await runs.recordFeedback("run", [lost]));
  const { state } = value(await runs.export("run"));
  await clock.advance(60_000);
  await train(runs, "run", 2, 40);
  value(await runs.import(state, undefined));
  await answer(runs, "run", value(await ask(runs, "run", 32, 8)).tasks.slice(3));
  await train(runs, "run", 8, 40);
}

async function asynchronous(runs: Runs): Promise<void> {
  const { tasks } = value(await ask(runs, "run", 0, 24));
  for (const i of [17, 3, 11, 4]) {
    await answer(runs, "run", tasks.slice(i, i + 1));
    value(await ask(runs, "run", undefined, 5));
  }
}

async function reported(runs: Runs): Promise<void> {
  for (let cursor = 0; cursor < 24; cursor += 8) {
    const { tasks } = value(await ask(runs, "run", cursor, 8));
    const reports = tasks.map((task, i) => ({
      ...task,
      advantages: i % 3 === 0 ? [] : [i / 8, -i / 8],
      rewardMean: 0.5,
    }));
    value(await runs.reportAdvantages("run", reports));
  }
}

const recorded: readonly {
  name: string;
  config: RunConfig;
  script: (runs: Runs, clock: FakeClock) => Promise<void>;
}[] = [
  { name: "every-event", config: adsc, script: everyEvent },
  { name: "unbounded-lag", config: { ...adsc, lag: { kind: "unbounded" } }, script: asynchronous },
  { name: "reported", config: { ...adsc, feedbackSource: "reported" }, script: reported },
];

const folder = new URL("../../golden/curriculum/", import.meta.url);

function golden(file: string, now: () => string): string {
  const path = new URL(file, folder);
  if (!existsSync(path) && process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, now());
  }
  expect(existsSync(path), `test/golden/curriculum/${file} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
  return readFileSync(path, "utf8");
}

function replay(journal: string): RunState | undefined {
  return journal.trim().split("\n").map(decodeEvent).reduce<RunState | undefined>(apply, undefined);
}

describe.each(recorded)("the recorded run $name", ({ name, config, script }) => {
  test("is drawn as it was, and its journal leads to the state that it led to", async () => {
    const store = memoryStore();
    const { runs, clock } = bench({ store, source });
    value(await runs.create("run", config));
    await script(runs, clock);
    const events = (await store.read((await store.find("run"))?.key ?? -1, 0)) ?? [];
    const journal = `${events.join("\n")}\n`;
    const kept = golden(`${name}.jsonl`, () => journal);
    expect(journal).toBe(kept);
    const state = JSON.stringify(encodeState(replay(kept) as RunState));
    expect(JSON.parse(state)).toEqual(JSON.parse(golden(`${name}.state.json`, () => `${state}\n`)));
  });
});
