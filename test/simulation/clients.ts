/**
 * Clients of the simulation: each asks a server over the network, learns the outcome or nothing, and reports to the
 * model.
 */
import { hashKey } from "../../envs/lib/rng.ts";
import type { FeedbackItem, FeedbackStatus, GroupRef, ReportedAdvantages } from "../../server/curriculum/feedback.ts";
import type { GroupSelection } from "../../server/curriculum/groups.ts";
import type { Result } from "../../server/curriculum/types.ts";
import type { SampleResult } from "../../server/curriculum/batches.ts";
import type { RunConfig, Runs, Task } from "../server/curriculum/support.ts";
import type { Model } from "./model.ts";
import { call, type Network } from "./network.ts";
import type { Scenario } from "./scenario.ts";
import type { Ground, Server } from "./server.ts";

/** Everything that the parties of a simulation share. */
export interface Simulation {
  readonly ground: Ground;
  readonly network: Network;
  readonly model: Model;
  readonly scenario: Scenario;
  /** Returns whether the faults are over, so that trainers and operators must stop. */
  isOver(): boolean;
}

export function configOf({ scenario }: Simulation, runId: string): RunConfig {
  const config = scenario.configs.get(runId);
  // An import under another id: "one.copy" has the configuration of "one".
  return config ?? (scenario.configs.get(runId.split(".")[0] ?? "") as RunConfig);
}

/** Reasons why an answer is malformed; undefined: the answer is only wrong. */
const VIOLATIONS = [undefined, ...Array.from({ length: 40 }, (_, i) => `no answer in style ${"x".repeat(i % 36)}`)];

/** Returns a reward, or now and then a reason why there is none. It is a function of the completion, as scoring is. */
function resultOf(task: Task, digest: string): SampleResult {
  const chance = Number.parseInt(hashKey(task.key.hash, digest).slice(0, 8), 16) / 2 ** 32;
  if (chance < 0.05) return { kind: "terminal", reason: "too_large" };
  const reward = chance < 0.4 ? 1 : chance < 0.7 ? 0.1 : chance < 0.8 ? 1 / 3 : 0;
  if (reward > 0) return { kind: "reward", reward, solved: reward === 1 };
  // Some models never keep the format, so that runs warn. Some break it in more ways than a run distinguishes.
  const violation = VIOLATIONS[Math.floor(chance * 1e4) % VIOLATIONS.length];
  return { kind: "reward", reward, solved: false, ...(violation !== undefined && { malformed: violation }) };
}

export function itemOf(task: Task, sample: number, digest: string): FeedbackItem {
  const { incarnation, cursor, key } = task;
  return { incarnation, cursor, sample, digest, result: resultOf(task, digest), hash: key.hash };
}

/** Calls one method of a server over the network. */
function ask<T>(
  { network }: Simulation,
  runId: string,
  name: string,
  method: (runs: Runs, signal: AbortSignal) => Promise<Result<T>>,
): Promise<Result<T> | undefined> {
  return call(network, `${name} ${runId}`, ({ runs }, signal) => method(runs, signal));
}

/** Scores as a worker does; the server may be killed meanwhile. */
async function score({ ground: { world } }: Simulation, server: Server): Promise<void> {
  await world.sleep(world.delayMs(1), `${server.name} scores`);
  // A dead server goes no further.
  if (!server.isAlive()) await new Promise(() => undefined);
  if (world.fault("worker killed", 0.005)) throw new Error("the worker was killed");
}

/** Returns the status of each item; undefined: the outcome is not known. */
export async function sendSamples(
  simulation: Simulation,
  runId: string,
  items: readonly FeedbackItem[],
): Promise<readonly FeedbackStatus[] | undefined> {
  const { model, network } = simulation;
  const requests = items.map((item) => model.sending(runId, item));
  const reply = await call(network, `${items.length} samples for ${runId}`, async (server) => {
    await score(simulation, server);
    for (const item of items) model.arrived(item);
    return server.runs.recordFeedback(runId, items);
  });
  if (reply?.kind !== "ok") return undefined;
  for (const [i, status] of reply.value.entries()) model.answered(requests[i] as (typeof requests)[0], status);
  return reply.value;
}

export async function sendAdvantages(
  simulation: Simulation,
  runId: string,
  report: ReportedAdvantages,
): Promise<FeedbackStatus | undefined> {
  const { model } = simulation;
  const request = model.reporting(runId, report);
  const reply = await ask(simulation, runId, "advantages for", (runs) => runs.reportAdvantages(runId, [report]));
  const status = reply?.kind === "ok" ? reply.value[0] : undefined;
  if (status !== undefined) model.reported(request, status);
  return status;
}

export async function closeGroups(simulation: Simulation, runId: string, groups: readonly GroupRef[]): Promise<void> {
  const { model } = simulation;
  model.closing(runId);
  const reply = await ask(simulation, runId, "close groups of", (runs) => runs.closeGroups(runId, groups, "dropped"));
  if (reply?.kind !== "ok") return;
  for (const [i, status] of reply.value.entries()) model.closed(groups[i] as GroupRef, status);
}

/** Asks to reopen groups; returns how many were reopened. */
export async function reopenGroups(simulation: Simulation, runId: string, tasks: readonly Task[]): Promise<number> {
  const { model } = simulation;
  for (const task of tasks) model.reopening(task, task.batch);
  const reply = await ask(simulation, runId, "reopen groups of", (runs) => runs.reopenGroups(runId, tasks));
  if (reply?.kind !== "ok") return 0;
  for (const [i, status] of reply.value.entries()) model.reopened(tasks[i] as GroupRef, status);
  return reply.value.filter(({ kind }) => kind === "recorded").length;
}

/** Asks GetGroups for groups, and reports them to the model; undefined: no answer came. */
export async function getGroups(simulation: Simulation, runId: string, wanted: GroupSelection, waitMs: number) {
  const { model } = simulation;
  const asked = model.asking();
  const reply = await ask(simulation, runId, `groups (${wanted.kind}) of`, (runs, signal) =>
    runs.groups(runId, { wanted, from: 0, limit: 4096, waitMs, signal }),
  );
  if (reply?.kind !== "ok") return undefined;
  const { groups, config } = reply.value;
  const told = groups.map(({ task: { incarnation, cursor, batch }, ...group }) => ({
    incarnation,
    cursor,
    batch,
    ...group,
    samples: group.samples.map(({ index, result, rloo }) => ({ index, result, rloo })),
  }));
  model.toldOf(told, asked);
  const [first] = told;
  if (wanted.kind === "batch" && first !== undefined && reply.value.next === undefined)
    model.selected({ ...first, sampling: config.dynamicSampling !== undefined, groups: told });
  return groups;
}

/** Returns the cursor of the first batch that is not closed, by the history; undefined: no answer came. */
export async function firstOpenCursor(simulation: Simulation, runId: string): Promise<number | undefined> {
  const reply = await ask(simulation, runId, "history of", (runs) => runs.history(runId, 0, 10_000));
  if (reply?.kind !== "ok") return undefined;
  const batches = reply.value.items.filter((record) => record.kind === "batch").filter((batch) => !batch.rolledBack);
  return batches.find(({ closed }) => !closed)?.cursor;
}

export async function create(simulation: Simulation, runId: string): Promise<void> {
  const { model } = simulation;
  const askedAt = model.moment();
  const config = configOf(simulation, runId);
  const reply = await ask(simulation, runId, "create", (runs) => runs.create(runId, config));
  if (reply?.kind === "ok") model.observed(runId, reply.value.run.state.incarnation, askedAt);
}

export async function get(simulation: Simulation, runId: string) {
  const { model } = simulation;
  const askedAt = model.moment();
  const reply = await ask(simulation, runId, "get", (runs) => runs.get(runId));
  if (reply?.kind === "ok") model.observed(runId, reply.value.state.incarnation, askedAt);
  return reply;
}

export async function nextBatch(
  simulation: Simulation,
  runId: string,
  { cursor, count, waitMs }: { readonly cursor: number | undefined; readonly count: number; readonly waitMs: number },
) {
  const { model } = simulation;
  const askedAt = model.moment();
  const reply = await ask(simulation, runId, `next batch ${cursor ?? "-"}`, (runs, signal) =>
    runs.nextBatch(runId, { cursor, count, waitMs, signal }),
  );
  if (reply?.kind !== "ok") return reply;
  const { tasks } = reply.value;
  const [first] = tasks;
  if (first !== undefined) model.observed(runId, first.incarnation, askedAt);
  model.given(tasks, cursor === undefined);
  return reply;
}

export async function remove(simulation: Simulation, runId: string): Promise<void> {
  const { model } = simulation;
  const askedAt = model.moment();
  model.replacing(runId);
  const reply = await ask(simulation, runId, "delete", (runs) => runs.remove(runId));
  if (reply?.kind === "ok") model.ended(runId, askedAt);
}
