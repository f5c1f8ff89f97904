/** Changes to a run, each as a command and as a call, and the state that results. Equal runs become equal ones. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GradusClient, RunChoice, RunHandle } from "../../clients/ts/src/public.ts";
import { until } from "./patience.ts";

/** A run in the form of its file; `choice` is the same run for a call. */
export const runFile = `arms:
  - {id: a, spec: {environment: countdown, level: T0}, rows: {learnability: {}, count: 20}}
  - {id: b, spec: {environment: countdown, level: T1}}
policy: {staged: {stages: [{weights: {a: 1}}, {weights: {b: 1}}]}}
num_generations: 2
prompts_per_update: 2
`;

export const choice: RunChoice = {
  arms: [
    { id: "a", environment: "countdown", level: "T0", rows: { count: 20 } },
    { id: "b", environment: "countdown", level: "T1" },
  ],
  policy: { kind: "staged", stages: [{ weights: { a: 1 } }, { weights: { b: 1 } }] },
  numGenerations: 2,
  promptsPerUpdate: 2,
};

/** Returns the completions that the run keeps. The server writes them after their scores. */
async function keptOf(run: RunHandle): Promise<readonly (string | undefined)[]> {
  const kept = [];
  for await (const { completion } of run.samples()) kept.push(completion);
  return kept;
}

/** Draws an update batch of two groups, scores one and keeps its completions; returns the id of the other. */
export async function begun(client: GradusClient, runId: string): Promise<string> {
  const { tasks } = await client.run(runId).nextBatch();
  const [scored, open] = tasks;
  if (scored === undefined || open === undefined) throw new Error(`${runId} gave ${tasks.length} tasks`);
  await client.batchStep([{ task: scored, completions: ["<answer>1</answer>", "no"] }]);
  await until(async () => (await keptOf(client.run(runId))).length === 2);
  return open.groupId;
}

export interface Change {
  readonly command: string;
  /** Kind of the record that the change leaves in the run's history; undefined: it leaves none. */
  readonly kind?: string;
  /** Arguments of the command behind the run's id. */
  readonly given: (groupId: string) => readonly string[];
  readonly byCall: (run: RunHandle, groupId: string) => Promise<unknown>;
}

/** Returns the changes, in order, with files in the folder that their commands read. */
export function changesWith(folder: string): readonly Change[] {
  const policy = join(folder, "policy.yaml");
  const rates = join(folder, "rates.csv");
  writeFileSync(policy, "policy: {mixture: {}}\n");
  writeFileSync(rates, "row,pass_rate\n3,0.25\n7,1\n");
  const nothing = () => [];
  return [
    { command: "set-weights", kind: "weights", given: () => ["a=2"], byCall: (run) => run.setWeights({ a: 2 }) },
    { command: "pause", kind: "pause", given: nothing, byCall: (run) => run.pause() },
    { command: "resume", kind: "resume", given: nothing, byCall: (run) => run.resume() },
    { command: "advance", kind: "advance", given: nothing, byCall: (run) => run.advance() },
    {
      command: "update-policy",
      kind: "policy",
      given: () => [policy],
      byCall: (run) => run.updatePolicy({ kind: "mixture" }),
    },
    {
      command: "update-shape",
      kind: "shape",
      given: () => ["--num-generations", "4", "--length", "64"],
      byCall: (run) => run.updateShape({ numGenerations: 4, length: 64n }),
    },
    {
      command: "note",
      kind: "note",
      given: () => ["the first\ntry"],
      byCall: (run) => run.annotate({ note: "the first\ntry" }),
    },
    {
      command: "tag",
      kind: "tags",
      given: () => ["math/easy", "baseline"],
      byCall: (run) => run.annotate({ addTags: ["baseline", "math/easy"] }),
    },
    {
      command: "rate-rows",
      given: () => ["a", rates, "--samples", "12"],
      byCall: (run) =>
        run.rateRows(
          "a",
          new Map([
            [3, 0.25],
            [7, 1],
          ]),
          12,
        ),
    },
    {
      command: "close-groups",
      kind: "close_groups",
      given: (groupId) => [groupId, "--reason", "the trainer died"],
      byCall: (run, groupId) => run.closeGroups([groupId], "the trainer died"),
    },
    {
      command: "reopen-groups",
      kind: "reopen_groups",
      given: (groupId) => [groupId],
      byCall: (run, groupId) => run.reopenGroups([groupId]),
    },
    { command: "delete-samples", given: nothing, byCall: (run) => run.deleteSamples() },
  ];
}

/** Returns all that is left of a run's life, without names: records, state, groups, rows and completions. */
export async function becomeOf(run: RunHandle) {
  const { config, state } = await run.get();
  const groups = await run.groups({ which: 0n });
  const history = await run.history();
  return {
    config,
    // Times of changes and names of groups are left out.
    controls: history.flatMap(({ kind }) => (kind.case === "control" ? [kind.value] : [])),
    state: { ...state, runId: "", incarnation: "", pausedAt: state?.pausedAt !== undefined },
    groups: groups.map(({ cursor, armId, closed, missing }) => ({ cursor, armId, closed, missing })),
    rows: (await run.rows("a")).rows,
    samples: await keptOf(run),
  };
}
