/**
 * Recorded runs. A journal that a server once wrote must lead every later server to the same state, and the same calls
 * must still draw the same tasks: otherwise runs under way would change at an upgrade. UPDATE_GOLDEN=1 writes the files
 * of test/golden/curriculum that are missing. A journal is kept with gzip: its events in base64, one a line.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { follow } from "../../support/follow.ts";
import type { Policy } from "../../../server/curriculum/types.ts";
import { memoryStore } from "../../../server/stores/memory.ts";
import {
  adscArms,
  adscConstraints,
  answer,
  ask,
  banditPolicy,
  bench,
  competencePolicy,
  savedState,
  type FakeClock,
  feedbackFor,
  forgettingPolicy,
  frontierPolicy,
  freshTasks,
  made,
  replayPolicy,
  runConfig,
  type RunConfig,
  type Runs,
  sourceOf,
  stage,
  stagedPolicy,
  train,
  value,
  writeRun,
} from "./support.ts";

/** Synthetic tasks are fresh; the real arms have ten rows each, so that runs repeat some. */
const rows = sourceOf(({ arm: { id }, ordinal }) => made(`${id}/${(ordinal * 3) % 10}`));
const source: typeof rows = {
  ...rows,
  make: (places, signal, runId) => (places[0]?.arm.source === "real" ? rows : freshTasks).make(places, signal, runId),
};

const adsc = runConfig({
  arms: adscArms.map((arm) => ({ ...arm, resource: arm.id === "synthetic/T3" ? "judge" : undefined })),
  policy: banditPolicy({}, adscConstraints),
  promptsPerUpdate: 8,
  numGenerations: 2,
  groupTimeoutMs: 60_000,
});

const stages = stagedPolicy(
  stage({ kind: "tasks", tasks: 12 }, { "real/T0": 1, "real/T1": 3 }),
  stage({ kind: "open" }, { "synthetic/T2": 1, "real/T3": 1 }),
  stage({ kind: "open" }),
);

/** Two samples a group: the first two of the usual four. */
async function everyEvent(runs: Runs, clock: FakeClock): Promise<void> {
  await train(runs, "run", 4);
  value(await runs.setWeights("run", { "real/T0": 3 }));
  value(await runs.updatePolicy("run", banditPolicy({ alpha: 0.5 }, adscConstraints)));
  value(await runs.pause("run"));
  value(await runs.resume("run"));
  await runs.maskArms("judge", "it does not answer");
  await runs.maskArms("judge", undefined);
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

async function inStages(runs: Runs): Promise<void> {
  await train(runs, "run", 3);
  value(await runs.advance("run"));
  await train(runs, "run", 2, 24);
}

/** Plays twelve update batches, and advances the policy if it can be advanced. */
async function throughout(runs: Runs): Promise<void> {
  await train(runs, "run", 7);
  await runs.advance("run");
  await train(runs, "run", 5, 56);
}

const rescale = { lowQuantile: 0.2, highQuantile: 0.8, window: 16 };
const filter = { skipSolved: true, skipFailedAfter: 2, ranks: undefined };

/** Configurations, one for each policy and bandit rule that the others leave out. */
const inPolicies: readonly { readonly name: string; readonly policy: Policy }[] = [
  { name: "exp3-s", policy: banditPolicy({ rule: "EXP3_S", signal: "MIXED_OUTCOMES", rescale }) },
  { name: "thompson", policy: banditPolicy({ rule: "THOMPSON", signal: "SOLVED_VARIANCE" }, adscConstraints) },
  { name: "ucb", policy: banditPolicy({ rule: "UCB", signal: "LEARNING_PROGRESS" }) },
  { name: "replay-fresh", policy: replayPolicy() },
  { name: "replay-same", policy: replayPolicy({ instances: "SAME", cycle: { kind: "tasks", tasks: 24 } }) },
  { name: "competence", policy: { ...competencePolicy({ floor: 0.1 }), filter } },
  // The default of servers before the scale "auto".
  { name: "frontier", policy: frontierPolicy({ practiceScale: undefined }) },
  { name: "frontier-auto", policy: frontierPolicy() },
  { name: "forgetting", policy: { ...forgettingPolicy(), filter } },
];

const recorded: readonly {
  name: string;
  config: RunConfig;
  script: (runs: Runs, clock: FakeClock) => Promise<void>;
}[] = [
  { name: "every-event", config: adsc, script: everyEvent },
  { name: "unbounded-lag", config: { ...adsc, lag: { kind: "unbounded" } }, script: asynchronous },
  { name: "reported", config: { ...adsc, feedbackSource: "reported" }, script: reported },
  ...inPolicies.map(({ name, policy }) => ({ name, config: { ...adsc, length: 96, policy }, script: throughout })),
  { name: "staged", config: { ...adsc, policy: stages }, script: inStages },
];

/** Folders, one for each format of journals that servers have written. */
const folder = new URL("../../golden/curriculum/v6/", import.meta.url);

function kept(file: string): string {
  const bytes = readFileSync(new URL(file, folder));
  return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}

/** Returns the text of a golden file, after writing `now` to a missing file if UPDATE_GOLDEN=1. */
function golden(file: string, now: string): string {
  const path = new URL(file, folder);
  if (!existsSync(path) && process.env["UPDATE_GOLDEN"] === "1") {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, file.endsWith(".gz") ? gzipSync(now, { level: 9 }) : now);
  }
  expect(existsSync(path), `test/golden/curriculum/v6/${file} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
  return kept(file);
}

/** Returns the digest of the state that a journal leads to. */
function replay(journal: string): string {
  const events = journal.trim().split("\n");
  const state = follow(
    undefined,
    events.map((event) => Buffer.from(event, "base64")),
    source,
  );
  if (state === undefined) throw new Error("an empty journal");
  return createHash("sha256").update(savedState(state, source)).digest("hex");
}

/**
 * Servers before 61d8c31e did not pack hashes. Those up to it imported the export's control, and recorded no pauser.
 * Servers named the event of an export by a hash before it had a checksum.
 */
test.each([
  ["unpacked", "every-event.imported"],
  ["imported", "every-event.imported"],
  ["hashed", "every-event"],
])("the journal of an older server, %s, leads to the state that it led to", (name, state) => {
  expect(`${replay(kept(`every-event.${name}.journal.gz`))}\n`).toBe(kept(`${state}.state.sha256`));
});

describe.each(recorded)("the recorded run $name", ({ name, config, script }) => {
  test("is drawn as it was, and its journal leads to the state that it led to", async () => {
    const store = memoryStore();
    const all = bench({ store, source });
    const { runs, clock } = all;
    // Some of them have a stage that is too short for a new run.
    if ((await runs.create("run", config)).kind === "invalid") await writeRun(all, "run", config);
    await script(runs, clock);
    const events = (await store.read((await store.find("run"))?.key ?? -1, 0)) ?? [];
    const journal = `${events.map((event) => Buffer.from(event).toString("base64")).join("\n")}\n`;
    const recordedJournal = golden(`${name}.journal.gz`, journal);
    expect(journal).toBe(recordedJournal);
    const state = replay(recordedJournal);
    expect(`${state}\n`).toBe(golden(`${name}.state.sha256`, `${state}\n`));
  });
});
