/**
 * The same against real processes: a server on SQLite that is killed, behind a proxy that cuts connections and swallows
 * replies; trainers over the TypeScript client; exports and imports in between. Choices are seeded, time is real.
 */
import { hash } from "node:crypto";
import {
  createClient,
  type GradusClient,
  type GroupOutcome,
  type RunChoice,
  type Task,
} from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import type { FeedbackStatus } from "../../server/curriculum/feedback.ts";
import { FeedbackStatus as WireStatus, type Outcome } from "../../proto/gen/gradus/v1/outcome_pb.js";
import { complete } from "../support/scripted-policy.ts";
import { type ServerProcess, startServer, temporaryFolder } from "../support/server-process.ts";
import { differences } from "./compare.ts";
import { createModel, type Model, type Sent, type SentSample } from "./model.ts";
import type { KnownResult } from "./told.ts";
import { savedIn } from "./operator.ts";
import { type Proxy, startProxy } from "./proxy.ts";
import { readState } from "./reader-state.ts";
import { shortened } from "./reading.ts";
import { journalsIn, payloadOf } from "./stored.ts";
import { judge, readAll } from "./verdict.ts";

export interface ProcessesOptions {
  readonly seed: number;
  /** Tasks that the run has. */
  readonly tasks: number;
  readonly trainers: number;
  /** How often the server is killed, at most. */
  readonly kills: number;
  /** Told how many tasks the first trainer is at. */
  readonly progress?: (tasks: number) => void;
}

export interface ProcessesOutcome {
  readonly violations: readonly string[];
  /** Samples whose record was acknowledged. */
  readonly samples: number;
  /** Events in the journal of the run. */
  readonly events: number;
  readonly faults: Readonly<Record<string, number>>;
}

const RUN = "chaos";
const COPY = "copy";
const GENERATIONS = 4;
const PROMPTS = 8;
/** How long a client waits for a reply before it takes it for lost. */
const PATIENCE_MS = 1000;

interface Scene {
  readonly options: ProcessesOptions;
  readonly model: Model;
  readonly rng: Rng;
  readonly proxy: Proxy;
  readonly counts: Map<string, number>;
  isOver(): boolean;
}

function choiceOf(tasks: number): RunChoice {
  const arms = ["T0", "T1", "T2"].map((level) => ({ id: level, environment: "countdown", level }));
  const sizes = { numGenerations: GENERATIONS, promptsPerUpdate: PROMPTS, length: tasks };
  const dynamicSampling = { oversampleMax: 1.5, alike: "solved" } as const;
  return { arms, policy: { kind: "bandit" }, seed: 20261122, dynamicSampling, ...sizes };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function incarnationOf({ groupId }: Task): string {
  return groupId.split("/")[1] ?? "";
}

/** What the server calls a completion by. */
function digestOf(text: string): string {
  return hash("sha256", text, "hex").slice(0, 12);
}

function statusOf({ feedback }: Outcome): FeedbackStatus {
  switch (feedback?.status) {
    case WireStatus.RECORDED:
      return { kind: "recorded" };
    case WireStatus.DUPLICATE:
      return { kind: "duplicate" };
    case WireStatus.CONFLICTING_COMPLETION:
      return { kind: "conflicting_completion" };
    case WireStatus.STALE_EPOCH:
      return { kind: "stale_epoch" };
    default:
      return { kind: "not_recorded", detail: feedback?.detail ?? "no feedback" };
  }
}

function resultOf({ result }: Outcome): KnownResult | undefined {
  return result.case === "score" ? { kind: "reward", reward: result.value.reward, solved: undefined } : undefined;
}

/** A task as the model knows it. */
function known(task: Task) {
  return { incarnation: incarnationOf(task), cursor: Number(task.cursor), key: { hash: task.instanceHash } };
}

function seen(scene: Scene, tasks: readonly Task[], askedAt: number): void {
  const [first] = tasks;
  if (first !== undefined) scene.model.observed(first.runId, incarnationOf(first), askedAt);
  scene.model.given(tasks.map(known), false);
}

// A trainer.

/** One message: some samples of one task. */
interface Part {
  readonly task: Task;
  readonly completions: readonly { readonly sampleIndex: number; readonly text: string }[];
}

/** Answered outcomes go to the model; what remains is to be sent again. True: the task's incarnation is over. */
function take({ model }: Scene, samples: readonly Sent<SentSample>[], { outcomes }: GroupOutcome): boolean | "again" {
  let stale = false;
  for (const [i, { message: outcome }] of outcomes.entries()) {
    const status = statusOf(outcome);
    // A store that failed says so, and asks for the sample again.
    if (status.kind === "not_recorded" && !status.detail.includes("closed")) return "again";
    model.answered(samples[i] as Sent<SentSample>, status, resultOf(outcome));
    stale ||= status.kind === "stale_epoch";
  }
  return stale;
}

function partsOf({ rng }: Scene, tasks: readonly Task[]): Part[] {
  return tasks.flatMap((task) => {
    const cut = rng.int(0, GENERATIONS);
    const all = Array.from({ length: GENERATIONS }, (_, sampleIndex) => {
      // Trainers generate otherwise now and then: the first completion counts.
      const text = `${complete(task, sampleIndex)}${rng.int(0, 19) === 0 ? " " : ""}`;
      return { sampleIndex, text };
    });
    return [all.slice(0, cut), all.slice(cut)].flatMap((completions) =>
      completions.length === 0 ? [] : [{ task, completions }],
    );
  });
}

/** What is known when a part is sent: by the time of its answer a later incarnation may have come into force. */
function sent({ model }: Scene, { task, completions }: Part): readonly Sent<SentSample>[] {
  return completions.map(({ sampleIndex, text }) => {
    const item = { ...known(task), sample: sampleIndex, digest: digestOf(text) };
    model.arrived(item);
    return model.sending(task.runId, item);
  });
}

/** Sends parts until each is answered; true: the run was rolled back meanwhile. */
async function deliver(scene: Scene, client: GradusClient, tasks: readonly Task[]): Promise<boolean> {
  let left = partsOf(scene, tasks);
  let stale = false;
  while (left.length > 0 && !stale) {
    const again: Part[] = [];
    const samples = new Map<Part, readonly Sent<SentSample>[]>();
    const took = (part: Part, outcome: GroupOutcome): void => {
      const told = take(scene, samples.get(part) ?? [], outcome);
      if (told === "again") again.push(part);
      else stale ||= told;
    };
    // Twice now and then, as a proxy may send them.
    const parts = left.flatMap((part) => (scene.rng.int(0, 19) === 0 ? [part, part] : [part]));
    for (const part of parts) samples.set(part, sent(scene, part));
    if (scene.rng.int(0, 1) === 0) {
      const groups = parts.map(({ task, completions }) => ({ task, completions, numGenerations: GENERATIONS }));
      const outcomes = await client.batchStep(groups, { deadlineMs: PATIENCE_MS }).catch(() => undefined);
      if (outcomes === undefined) again.push(...left);
      else for (const [i, outcome] of outcomes.entries()) took(parts[i] as Part, outcome);
    } else {
      for await (const result of client.streamSteps(parts, { deadlineMs: PATIENCE_MS })) {
        if (result.kind === "scored") took(result.group, result.outcome);
        else again.push(result.group);
      }
    }
    left = again;
    if (left.length > 0) await pause(scene.rng.int(1, 50));
  }
  return stale;
}

/** From the first open batch to the run's end, however often the server, or this trainer, is gone. */
async function train(scene: Scene, rank: number): Promise<void> {
  const { options, proxy, model, rng } = scene;
  let client = createClient(proxy.address, { retry: false });
  const firstOpen = async (): Promise<number | undefined> => {
    const run = await client
      .run(RUN)
      .create(choiceOf(options.tasks), { deadlineMs: PATIENCE_MS })
      .catch(() => undefined);
    return run?.state === undefined ? undefined : Number(run.state.firstOpenCursor);
  };
  let cursor: number | undefined;
  let done = false;
  while (!done) {
    if (!scene.isOver() && rng.int(0, 29) === 0) {
      // A trainer that is killed comes back and knows nothing.
      scene.counts.set("trainer killed", (scene.counts.get("trainer killed") ?? 0) + 1);
      client.close();
      client = createClient(proxy.address, { retry: false });
      cursor = undefined;
    }
    cursor ??= await firstOpen();
    const askedAt = model.moment();
    const asked = { cursor: BigInt(cursor ?? 0), count: rng.int(1, 2 * PROMPTS), waitMs: 100 };
    const batch = await client
      .run(RUN)
      .nextBatch(asked, { deadlineMs: PATIENCE_MS })
      .catch(() => undefined);
    if (cursor === undefined || batch === undefined) {
      cursor = undefined;
      await pause(rng.int(5, 60));
      continue;
    }
    seen(scene, batch.tasks, askedAt);
    const stale = await deliver(scene, client, batch.tasks);
    cursor = stale ? undefined : Number(batch.nextCursor);
    done = !stale && batch.done;
    if (rank === 0) options.progress?.(cursor ?? 0);
  }
  client.close();
}

// Operators.

async function exportAndImport(scene: Scene): Promise<void> {
  const { rng, model, proxy, counts } = scene;
  const client = createClient(proxy.address, { retry: false });
  const held: Uint8Array[] = [];
  const options = { deadlineMs: PATIENCE_MS };
  while (!scene.isOver()) {
    await pause(rng.int(200, 1200));
    if (held.length === 0 || rng.int(0, 2) > 0) {
      const before = model.acknowledgements();
      const exported = await client
        .run(RUN)
        .export(options)
        .catch(() => undefined);
      if (exported === undefined) continue;
      model.exported(savedIn(payloadOf(exported.state)), before);
      held.push(exported.state);
      continue;
    }
    const runId = rng.int(0, 2) === 0 ? COPY : RUN;
    counts.set(`import as ${runId}`, (counts.get(`import as ${runId}`) ?? 0) + 1);
    model.replacing(runId);
    const askedAt = model.moment();
    // The newest, so that the run gets to its end.
    const state = held.at(-1) as Uint8Array;
    const imported = await client
      .run(runId)
      .import(state, options)
      .catch(() => undefined);
    if (imported !== undefined) seen(scene, imported.outstanding, askedAt);
  }
  client.close();
}

// The server's process.

interface Host {
  readonly server: ServerProcess | undefined;
}

async function killAndStart(scene: Scene, host: { server: ServerProcess | undefined }, folder: string): Promise<void> {
  const { options, rng, counts } = scene;
  for (let kills = 0; kills < options.kills && !scene.isOver(); kills++) {
    await pause(rng.int(200, 1500));
    await host.server?.kill("SIGKILL");
    counts.set("server killed", (counts.get("server killed") ?? 0) + 1);
    host.server = undefined;
    host.server = await startServer(folder);
  }
}

function portOf({ server }: Host): number | undefined {
  return server === undefined ? undefined : Number(server.address.split(":")[1]);
}

// The end.

/** What a server that has read the runs back says of them, against the reader's own. */
async function check({ model }: Scene, folder: string): Promise<number> {
  const journals = readAll(journalsIn(folder), shortened);
  judge(journals, model);
  const server = await startServer(folder);
  const client = createClient(server.address);
  for (const { runId, reading } of journals.all) {
    const { state } = await client.run(runId).export();
    const found = differences(reading.run, readState(savedIn(payloadOf(state))));
    for (const difference of found) model.violate(`run ${runId} read back: ${difference}`);
    const shown = (await client.run(runId).get()).state?.samplesRecorded;
    if (shown !== BigInt(reading.run.samplesRecorded)) model.violate(`run ${runId} shows ${String(shown)} samples`);
  }
  client.close();
  await server.kill("SIGTERM");
  return journals.all.find(({ runId }) => runId === RUN)?.events.length ?? 0;
}

export async function againstProcesses(options: ProcessesOptions): Promise<ProcessesOutcome> {
  using folder = temporaryFolder();
  const rng = rngFor("processes", options.seed);
  const host: { server: ServerProcess | undefined } = { server: await startServer(folder.path) };
  const proxy = await startProxy(rngFor("proxy", options.seed), () => portOf(host));
  const over = { now: false };
  const counts = new Map<string, number>();
  const scene: Scene = { options, model: createModel(), rng, proxy, counts, isOver: () => over.now };
  const storm = Promise.all([killAndStart(scene, host, folder.path), exportAndImport(scene)]);
  await Promise.all(Array.from({ length: options.trainers }, (_, rank) => train(scene, rank)));
  over.now = true;
  await storm;
  await proxy.close();
  await host.server?.kill("SIGKILL");
  const events = await check(scene, folder.path);
  const samples = scene.model.acknowledged().length;
  const faults = Object.fromEntries([...counts, ...proxy.faults]);
  return { violations: scene.model.violations, samples, events, faults };
}
