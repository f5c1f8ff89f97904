/**
 * A run whose server is killed again and again, held against the same run without that: the tasks that follow and the
 * state must be the same to the bit, with waves of a reserve and changes of shape in both.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  createClient,
  type GradusClient,
  type PolicyChoice,
  type RowChoice,
  type RunChoice,
  type ShapeChoice,
  type Task,
} from "../../clients/ts/src/index.ts";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { CHECKOUT, hostOf, mountedArms, mountedCompletion } from "../support/mounted/killed.ts";
import { adscRun, complete, taskLine } from "../support/scripted-policy.ts";
import { type ServerProcess, startServerIn, temporaryFolder } from "../support/server-process.ts";
import { differences } from "./compare.ts";
import { savedIn } from "./operator.ts";
import { readState } from "./reader-state.ts";
import { readJournal } from "./reader.ts";
import { shortened } from "./reading.ts";
import { journalsIn, payloadOf } from "./stored.ts";

/** A guard against hanging and nothing else. */
const PATIENCE_MS = 600_000;

const RUN = "killed";
const PROMPTS = 6;
const GENERATIONS = 4;

/** Of the undisturbed run's states between update batches. */
const COMPARED_MIN = 0.8;

/** Policies that a run is killed under: what it begins with, and what it goes on with; and what the server must load. */
export const killedPolicies = {
  bandit: { before: { kind: "bandit" }, after: { kind: "bandit", alpha: 0.3 }, flags: [] },
  frontier: {
    before: { kind: "frontier", practiceScale: 4 },
    after: { kind: "frontier", practiceScale: 4, armMeasures: { "real/T0": "solved" } },
    flags: [],
  },
  own: {
    before: ownPolicy(0.1),
    after: ownPolicy(0.5),
    flags: ["--policies", "examples/policies/weakest-part.ts"],
  },
  // The bandit once more, with arms of a file of Python whose host is killed before each kill of the server.
  mounted: {
    before: { kind: "bandit" },
    after: { kind: "bandit", alpha: 0.3 },
    flags: ["--python", ".venv/bin/python", "--python", "test/support/mounted/word.py", "--mount-workers", "2"],
  },
  rows: { before: { kind: "bandit" }, after: { kind: "bandit", alpha: 0.3 }, flags: [], rows: { retireAfter: 2 } },
} as const satisfies Readonly<Record<string, Killed>>;

export type KilledPolicy = keyof typeof killedPolicies;

interface Killed {
  readonly before: PolicyChoice;
  readonly after: PolicyChoice;
  readonly flags: readonly string[];
  /** How the arms of real rows choose among them; left out: they go through them. */
  readonly rows?: RowChoice;
}

/** One that reads a part of the rewards. */
function ownPolicy(rate: number): PolicyChoice {
  return { kind: "named", name: "weakest-part", parameters: { part: "correctness", worst: 0, rate } };
}

export interface ContinuationOptions {
  readonly kills: number;
  readonly seed: number;
  readonly policy: KilledPolicy;
  /** Told after each kill. */
  readonly progress?: () => void;
}

export interface Continuation {
  readonly violations: readonly string[];
  /** Kills in the middle of the run: none that came when it was done. */
  readonly kills: number;
  /** Of mounted environments' hosts, one before each of these. */
  readonly hostKills: number;
  readonly batches: number;
  readonly tasks: number;
  readonly samples: number;
}

/** Changes of shape by how many update batches are drawn before them. */
type Shapes = ReadonlyMap<number, ShapeChoice>;

function shapesFor(batches: number, { after }: Killed): Shapes {
  const at = (share: number): number => Math.max(1, Math.floor(share * batches));
  const arm = { id: "late/T1", environment: "countdown", level: "T1" };
  return new Map<number, ShapeChoice>([
    [at(0.2), { addArms: [arm] }],
    [at(0.4), { numGenerations: 3, promptsPerUpdate: 5 }],
    [at(0.6), { removeArms: ["synthetic/T3"], length: BigInt(batches * PROMPTS + 4) }],
    [at(0.8), { numGenerations: GENERATIONS, policy: after }],
  ]);
}

function choiceFor(batches: number, policy: KilledPolicy): RunChoice {
  const adsc = adscRun();
  const { constraints } = adsc.policy;
  const { before, rows }: Killed = killedPolicies[policy];
  const arms = adsc.arms.map((arm) => (rows !== undefined && arm.source === "real" ? { ...arm, rows } : arm));
  return adscRun({
    arms: policy === "mounted" ? [...arms, ...mountedArms()] : arms,
    policy: { ...before, ...(constraints && { constraints }) },
    length: batches * PROMPTS,
    promptsPerUpdate: PROMPTS,
    numGenerations: GENERATIONS,
    dynamicSampling: { oversampleMax: 2, alike: "solved" },
  });
}

/** A trainer, and what it keeps over a crash of the server. */
interface Trainer {
  cursor: bigint;
  /** By cursor. */
  readonly tasks: Map<bigint, string>;
  /** The state, but for times and names, by how many update batches were drawn and closed. */
  readonly states: Map<number, unknown>;
}

const newTrainer = (): Trainer => ({ cursor: 0n, tasks: new Map(), states: new Map() });

/** What of a state does not depend on when anything happened. */
export function timeless(saved: Uint8Array): unknown {
  const { batches, arms, lists, malformed, ...state } = readState(saved);
  const { runId: _id, version: _version, createdAtMs: _at, incarnations: _names, handedOut: _given, ...rest } = state;
  return {
    ...rest,
    lists: lists.map(({ loadedAtMs: _at, ...list }) => list),
    // Which samples a window has depends on the order in which they came.
    malformed: { samples: malformed.samples, kinds: [...malformed.kinds].sort() },
    // In the order in which groups were whole.
    arms: arms.map((arm) => ({ ...arm, recent: arm.recent.map((sums) => JSON.stringify(sums)).sort() })),
    batches: batches.map(({ drawnAtMs: _drawn, groups, ...batch }) => ({
      ...batch,
      groups: groups.map(({ handedOutAtMs: _given, ...group }) => group),
    })),
  };
}

/** Between update batches: what a trainer sees is noted, and the shape is changed where that is due and not yet done. */
async function between(client: GradusClient, trainer: Trainer, shapes: Shapes, options: Every): Promise<void> {
  const run = client.run(RUN);
  const { state } = await run.create(options.choice);
  if (state === undefined || state.batchesDrawn !== state.batchesClosed) return;
  const drawn = Number(state.batchesDrawn);
  const due = [...shapes].filter(([at]) => at <= drawn);
  const done = (await run.history()).filter(
    ({ kind }) => kind.case === "control" && kind.value.kind === "shape",
  ).length;
  for (const [, shape] of due.slice(done)) await run.updateShape(shape);
  const { state: bytes } = await run.export();
  options.onReply();
  trainer.states.set(drawn, timeless(savedIn(payloadOf(bytes))));
}

interface Every {
  readonly choice: RunChoice;
  readonly onReply: () => void;
}

/** How many completions a task is to have: the changes of shape say it. */
function generationsOf({ updateBatch }: Task, shapes: Shapes): number {
  const said = [...shapes].filter(([at]) => at <= Number(updateBatch)).map(([, shape]) => shape.numGenerations);
  return said.findLast((count) => count !== undefined) ?? GENERATIONS;
}

/** Asks for tasks and answers them, each sample alone, so that a kill falls between the samples of a group. */
async function oneStep(client: GradusClient, trainer: Trainer, shapes: Shapes, options: Every): Promise<boolean> {
  await between(client, trainer, shapes, options);
  const batch = await client.run(RUN).nextBatch({ cursor: trainer.cursor });
  options.onReply();
  const parts = batch.tasks.flatMap((task) =>
    Array.from({ length: generationsOf(task, shapes) }, (_, sampleIndex) => ({
      task,
      completions: [{ sampleIndex, text: mountedCompletion(task, sampleIndex) ?? complete(task, sampleIndex) }],
    })),
  );
  for await (const result of client.streamSteps(parts, { deadlineMs: PATIENCE_MS })) {
    if (result.kind === "failed") throw result.error;
    options.onReply();
  }
  for (const task of batch.tasks) {
    const line = `${task.updateBatch} ${task.armProbability} ${taskLine(task)} ${task.instanceHash}`;
    const first = trainer.tasks.get(task.cursor) ?? line;
    if (first !== line) throw new Error(`cursor ${task.cursor} was "${first}" and is "${line}"`);
    trainer.tasks.set(task.cursor, line);
  }
  trainer.cursor = batch.nextCursor;
  return !(batch.done && batch.tasks.length === 0);
}

/** The run, and how its server is started. */
interface Course {
  readonly shapes: Shapes;
  readonly choice: RunChoice;
  readonly flags: readonly string[];
}

/** Hosts find the Python package here, whatever is installed. */
function start(folder: string, flags: readonly string[]): Promise<ServerProcess> {
  return startServerIn({ ...process.env, PYTHONPATH: CHECKOUT }, folder, ...flags);
}

/** `first`: what is asked of the server before. */
async function toItsEnd(
  folder: string,
  trainer: Trainer,
  { shapes, choice, flags }: Course,
  first: (client: GradusClient) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const server = await start(folder, flags);
  const client = createClient(server.address);
  await first(client);
  while (await oneStep(client, trainer, shapes, { choice, onReply: () => undefined }));
  const samples = Number((await client.run(RUN).get()).state?.samplesRecorded ?? 0n);
  client.close();
  await server.kill("SIGTERM");
  return samples;
}

/** Goes on from where the trainer is until the server is killed, at a random point; what was killed before the end. */
async function untilKilled(
  folder: string,
  trainer: Trainer,
  { shapes, choice, flags }: Course,
  rng: Rng,
): Promise<{ readonly server: number; readonly host: number }> {
  const server = await start(folder, flags);
  const client = createClient(server.address, { retry: false });
  // After so many replies, with others on their way, or (0) while the first call is.
  const point = rng.int(0, Math.floor(1.5 * PROMPTS * GENERATIONS));
  // A host is killed before, and the run goes on meanwhile.
  const host = hostOf(server.pid);
  const hostPoint = rng.int(Math.min(1, point), point);
  let replies = 0;
  const killed = { server: 0, host: 0 };
  const killHost = (): void => {
    if (host === undefined) return;
    killed.host++;
    process.kill(host, "SIGKILL");
  };
  const kill = (): void => {
    killed.server++;
    void server.kill("SIGKILL");
  };
  const onReply = (): void => {
    if (++replies === hostPoint) killHost();
    if (replies === point) kill();
  };
  if (point === 0) {
    killHost();
    setTimeout(kill, rng.int(0, 20));
  }
  try {
    while (await oneStep(client, trainer, shapes, { choice, onReply }));
  } catch (error) {
    // The server is gone; the trainer goes on from its cursor with the next one.
    if (killed.server === 0) throw error;
  }
  client.close();
  await server.kill("SIGKILL");
  return killed;
}

/**
 * What is in the journal after a kill must be what the next server makes of it: what is wrong is asked of that server, which
 * the run then goes on with.
 */
function readBack(folder: string): (client: GradusClient) => Promise<readonly string[]> {
  const [journal] = journalsIn(folder);
  if (journal === undefined) return () => Promise.resolve([]);
  const { run, faults } = readJournal(journal.events, shortened);
  return async (client) => {
    const { state } = await client.run(RUN).export();
    return [...faults, ...differences(run, readState(savedIn(payloadOf(state))))];
  };
}

function unlike(one: Trainer, other: Trainer): string[] {
  const found: string[] = [];
  for (const cursor of new Set([...one.tasks.keys(), ...other.tasks.keys()])) {
    const [calm, stormy] = [one.tasks.get(cursor), other.tasks.get(cursor)];
    if (calm !== stormy) found.push(`task ${cursor}: ${stormy ?? "none"}; undisturbed: ${calm ?? "none"}`);
  }
  // Not all are noted by both. A kill may come between a batch and its note. And where a killed trainer asks again, the tasks
  // that its batch's reserve has let out meanwhile come with those that it had, and not with the next batch's.
  let compared = 0;
  for (const [drawn, state] of other.states) {
    const calm = one.states.get(drawn);
    if (calm === undefined) continue;
    compared++;
    for (const place of placesUnlike(calm, state))
      found.push(`the state after ${drawn} update batches is another: ${place}`);
  }
  if (compared < COMPARED_MIN * one.states.size)
    found.push(`of ${one.states.size} states between update batches only ${compared} could be compared`);
  return found;
}

/** Where two values differ, and by what; the first few places. */
export function placesUnlike(one: unknown, other: unknown, path = "it"): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isObject(one) || !isObject(other)) return [`${path} is ${shown(other)}; undisturbed: ${shown(one)}`];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => placesUnlike(one[name], other[name], `${path}.${name}`)).slice(0, 8);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each)) ?? "nothing";
}

export async function killedAndNot({ kills, seed, policy, progress }: ContinuationOptions): Promise<Continuation> {
  using calm = temporaryFolder();
  using stormy = temporaryFolder();
  const rng = rngFor("kills", seed);
  // More than the kills let pass, which are three quarters of a batch apart: the last one must not come after the end.
  const updates = 8 + kills;
  const under: Killed = killedPolicies[policy];
  const course = { choice: choiceFor(updates, policy), shapes: shapesFor(updates, under), flags: under.flags };
  const [undisturbed, disturbed] = [newTrainer(), newTrainer()];
  const samples = await toItsEnd(calm.path, undisturbed, course);
  copyFileSync(join(calm.path, "task-keys"), join(stormy.path, "task-keys"));
  let [done, hostKills] = [0, 0];
  for (let i = 0; i < kills; i++) {
    const killed = await untilKilled(stormy.path, disturbed, course, rng);
    done += killed.server;
    hostKills += killed.host;
    progress?.();
  }
  const violations: string[] = [];
  const unlikeItsJournal = readBack(stormy.path);
  const again = await toItsEnd(stormy.path, disturbed, course, async (client) => {
    violations.push(...(await unlikeItsJournal(client)));
  });
  if (again !== samples) violations.push(`${again} samples are recorded; undisturbed: ${samples}`);
  violations.push(...unlike(undisturbed, disturbed));
  const [batches, tasks] = [undisturbed.states.size, undisturbed.tasks.size];
  return { violations, kills: done, hostKills, batches, tasks, samples };
}
