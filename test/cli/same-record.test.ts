/**
 * A change by the command line leaves the record that the same change by a call leaves. What the page's buttons leave is
 * held against calls in test/browser/views.test.ts.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunHandle } from "../../clients/ts/src/index.ts";
import { controlsOf } from "../support/controls.ts";
import { openServer, type TestServer } from "../support/in-process.ts";
import { temporaryFolder } from "../support/server-process.ts";
import { gradus } from "./gradus.ts";

const folder = temporaryFolder();
let server: TestServer;
beforeAll(async () => {
  server = await openServer({ store: "memory" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** With an update batch that is out, of which a group misses a completion. */
async function startedRun(runId: string): Promise<{ readonly run: RunHandle; readonly groupId: string }> {
  const run = server.client.run(runId);
  await run.create({
    arms: [
      { id: "a", environment: "countdown", level: "T0" },
      { id: "b", environment: "countdown", level: "T1" },
    ],
    policy: { kind: "staged", stages: [{ weights: { a: 1 } }, { weights: { b: 1 } }] },
    numGenerations: 2,
    promptsPerUpdate: 2,
  });
  const { tasks } = await run.nextBatch();
  return { run, groupId: tasks[0]?.groupId ?? "" };
}

const policy = join(folder.path, "policy.yaml");
writeFileSync(policy, "policy: {mixture: {}}\n");

interface Change {
  readonly kind: string;
  readonly byCommand: (groupId: string) => readonly [command: string, ...rest: string[]];
  readonly byCall: (run: RunHandle, groupId: string) => Promise<unknown>;
}

const changes: readonly Change[] = [
  { kind: "weights", byCommand: () => ["set-weights", "a=2"], byCall: (run) => run.setWeights({ a: 2 }) },
  { kind: "pause", byCommand: () => ["pause"], byCall: (run) => run.pause() },
  { kind: "resume", byCommand: () => ["resume"], byCall: (run) => run.resume() },
  { kind: "advance", byCommand: () => ["advance"], byCall: (run) => run.advance() },
  {
    kind: "policy",
    byCommand: () => ["update-policy", policy],
    byCall: (run) => run.updatePolicy({ kind: "mixture" }),
  },
  {
    kind: "shape",
    byCommand: () => ["update-shape", "--num-generations", "4", "--length", "64"],
    byCall: (run) => run.updateShape({ numGenerations: 4, length: 64n }),
  },
  {
    kind: "close_groups",
    byCommand: (groupId) => ["close-groups", groupId, "--reason", "the trainer died"],
    byCall: (run, groupId) => run.closeGroups([groupId], "the trainer died"),
  },
  {
    kind: "reopen_groups",
    byCommand: (groupId) => ["reopen-groups", groupId],
    byCall: (run, groupId) => run.reopenGroups([groupId]),
  },
];

test("each change of a run, one after the other", async () => {
  const typed = await startedRun("typed");
  const called = await startedRun("called");
  for (const { kind, byCommand, byCall } of changes) {
    const [command, ...rest] = byCommand(typed.groupId);
    const args = ["run", command, "typed", ...rest, "--server", server.address];
    expect(await gradus({ cwd: folder.path }, ...args), kind).toMatchObject({ code: 0, err: "" });
    await byCall(called.run, called.groupId);
  }
  const left = await controlsOf(typed.run);
  expect(left.map(({ kind }) => kind)).toEqual(changes.map(({ kind }) => kind));
  expect(left).toEqual(await controlsOf(called.run));
  const { state } = await typed.run.get();
  expect({ ...(await called.run.get()).state, runId: "typed" }).toMatchObject({
    paused: state?.paused,
    policy: state?.policy,
    cursor: state?.cursor,
    groupsOutstanding: state?.groupsOutstanding,
  });
});

test("a run that is created from a file is the one that is created by a call", async () => {
  const path = join(folder.path, "run.yaml");
  writeFileSync(
    path,
    "arms: [{id: a, spec: {environment: countdown, level: T0}}]\npolicy: {mixture: {}}\nnum_generations: 2\nprompts_per_update: 4\n",
  );
  const args = ["run", "create", path, "--run-id", "of-a-file", "--server", server.address];
  expect(await gradus({ cwd: folder.path }, ...args)).toMatchObject({ code: 0 });
  const called = await server.client.run("of-a-call").create({
    arms: [{ id: "a", environment: "countdown", level: "T0" }],
    policy: { kind: "mixture" },
    numGenerations: 2,
    promptsPerUpdate: 4,
  });
  expect((await server.client.run("of-a-file").get()).config).toEqual(called.config);
});
