/**
 * A run with an arm for each environment of several mounts, each growing where it can, under the default policy: times
 * of CreateRun and NextBatch, and sizes of what the page reads. With --kills the run is played again on a server that
 * is killed (SIGKILL) during as many calls. Its tasks, rewards and state must equal those of the first to the bit.
 *
 * ```
 * node bench/mounted/many.ts --python .venv-mounts/bin/python [--mount rlve-gym …] [--batches 12] [--prompts 256]
 *   [--pause 30] [--levels 2] [--kills 0] [--seed 1] [--examined FILE]
 * ```
 *
 * `pause` is the time from the last reward to the next NextBatch, in seconds. The killed run has no pauses. An arm grows
 * over `levels` levels at most, because CreateRun tries the first and the last. The arms are named one by one: for a
 * family such as `rlve-gym/*`, CreateRun would first try all levels, which takes many minutes. `examined` is the file
 * `examined-levels` of an earlier run's data folder: its levels are not tried again.
 */
import { toBinary } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, parseArgs } from "node:util";
import {
  type ArmChoice,
  createClient,
  type GradusClient,
  GradusError,
  type GroupChoice,
  type GroupOutcome,
  type SampleChoice,
  type Task,
} from "../../clients/ts/src/index.ts";
import { HistoryRecordSchema, RunSchema } from "../../clients/ts/src/public.ts";
import { rngFor } from "../../envs/lib/rng.ts";
import { savedIn } from "../../test/simulation/operator.ts";
import { timeless } from "../../test/simulation/seen.ts";
import { payloadOf } from "../../test/simulation/stored.ts";
import { CHECKOUT } from "../../test/support/mounted/killed.ts";
import { type ServerProcess, startFull, temporaryFolder } from "../../test/support/server-process.ts";
import { createProgress } from "../progress.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: "python3" },
    mount: {
      type: "string",
      multiple: true,
      default: ["rlve-gym", "reasoning-core", "reasoning-gym", "textarena", "gem", "chuk-puzzles"],
    },
    batches: { type: "string", default: "12" },
    prompts: { type: "string", default: "256" },
    pause: { type: "string", default: "30" },
    levels: { type: "string", default: "2" },
    kills: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    examined: { type: "string" },
  },
});
const { batches, prompts, levels, kills, seed } = Object.fromEntries(
  (["batches", "prompts", "levels", "kills", "seed"] as const).map((name) => [name, Number(options[name])]),
) as Record<"batches" | "prompts" | "levels" | "kills" | "seed", number>;
const GENERATIONS = 4;
/** Maximum time of a call in milliseconds, with a server's start. */
const deadlineMs = 1_000_000;
/** Maximum number of times that completions are sent until each has a reward. */
const TRIES_MAX = 5;
/** Maximum time in milliseconds from the start of a call until the server is killed. */
const KILL_MS_MAX = 1500;
const env = { ...process.env, PYTHONPATH: CHECKOUT };
const flags = ["--python", options.python, ...options.mount.flatMap((mount) => ["--mount", mount])];
const libraries = new Set(options.mount.map((mount) => mount.replace(/:.*/, "")));
const sizes = { numGenerations: GENERATIONS, promptsPerUpdate: prompts, length: batches * prompts, seed };
const rng = rngFor("kills of many", seed);
const progress = createProgress("update batches", batches * (kills > 0 ? 2 : 1));

interface Open {
  readonly server: ServerProcess;
  readonly client: GradusClient;
}

/** Returns a server that is killed during the calls with these numbers, and then started again in the same folder. */
function serverIn(folder: string, deadly: ReadonlySet<number>) {
  let [calls, open]: [number, Open | undefined] = [0, undefined];
  const here = async (): Promise<GradusClient> => {
    if (open !== undefined) return open.client;
    const server = await startFull(join(import.meta.dirname, "../.."), env, folder, ...flags);
    process.once("exit", () => void server.kill("SIGKILL"));
    open = { server, client: createClient(server.address, { deadlineMs, onFeedback: "ignore" }) };
    return open.client;
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await open?.server.kill(signal);
    open?.client.close();
    open = undefined;
  };
  const call = async <T>(make: (client: GradusClient) => Promise<T>): Promise<T> => {
    if (deadly.has(calls++)) {
      const lost = make(await here()).catch(() => undefined);
      await sleep(rng.int(0, KILL_MS_MAX));
      await end("SIGKILL");
      // The lost call may be tried again until its deadline, so nothing waits for it.
      void lost;
    }
    return make(await here());
  };
  /** Returns an arm for each environment of the mounts, once all are mounted. Arms grow along the first axis. */
  const armsOf = async (): Promise<readonly ArmChoice[]> => {
    const client = await here();
    const isMounted = (line: string): boolean => line.includes('"msg":"mounted"');
    while ((open?.server.lines.filter(isMounted).length ?? 0) < options.mount.length) await sleep(100);
    const environments = await client.listEnvironments();
    return environments
      .filter(({ id }) => libraries.has(id.replace(/\/.*/, "")))
      .map(({ id, levels: [first], axes: [axis] }) => {
        if (axis === undefined) return { id, environment: id, level: first?.name ?? "" };
        return { id, environment: id, grow: { axis: axis.name, cap: Math.min(axis.last, axis.first + levels - 1) } };
      });
  };
  return { here, end, call, armsOf };
}

type Server = ReturnType<typeof serverIn>;

/** Returns the completions of a task: the reference answer in three of five, and otherwise a digit. Games end with it. */
async function completionsOf(client: GradusClient, task: Task): Promise<readonly SampleChoice[]> {
  const right = await client.solveTask(task).then(
    ({ completion }) => completion,
    (error: unknown) => {
      if (error instanceof GradusError && error.code === "FAILED_PRECONDITION") return undefined;
      throw error;
    },
  );
  return Array.from({ length: GENERATIONS }, (_, sample) => {
    const chance = rngFor("many mounted", task.instanceHash, sample).float();
    const other = `<think></think><answer>${Math.floor(chance * 10)}</answer>`;
    return { sampleIndex: sample, text: chance < 0.6 ? (right ?? other) : other, end: true };
  });
}

/** Scores groups as trainers do: if a sample has no reward yet, sends them again. */
async function scored({ call }: Server, groups: readonly GroupChoice[]): Promise<readonly GroupOutcome[]> {
  for (let tries = 1; ; tries++) {
    const outcomes = await call((client) => client.batchStep(groups));
    const all = outcomes.flatMap((group) => group.outcomes);
    const failed = all.filter((each) => each.kind === "unscored").find(({ retryDelayMs }) => retryDelayMs);
    if (failed === undefined) return outcomes;
    if (tries === TRIES_MAX) throw new Error(`no reward after ${tries} tries: ${failed.reason}, ${failed.detail}`);
    await sleep(failed.retryDelayMs);
  }
}

/** Creates the run without the arms that give no task. Prints its arms. */
async function createRun({ armsOf, call }: Server): Promise<void> {
  const beganMs = performance.now();
  const choice = { policy: { kind: "frontier" }, ...sizes } as const;
  const all = await armsOf();
  const { problems } = await call((client) => client.checkRun({ arms: all, ...choice }));
  for (const { field, message } of problems) console.log(`left out  ${field}: ${message}`);
  console.log(`all arms tried after ${seconds(beganMs)}`);
  const refused = new Set(problems.map(({ field }) => Number(/arms\[(\d+)\]/.exec(field)?.[1])));
  const arms = all.filter((_, i) => !refused.has(i));
  const { state } = await call((client) => client.run("many").create({ arms, ...choice }));
  const counts = state?.arms.map(({ growth }) => (growth ? growth.cap - growth.frontier + 1 : 0)) ?? [];
  const growing = counts.filter((count) => count > 0).length;
  const sum = counts.reduce((a, b) => a + b, 0);
  console.log(`${counts.length} arms, ${growing} of them growing over ${sum} levels, ${seconds(beganMs)}`);
}

/** Plays the run. Returns a line for each task, its waits for NextBatch in milliseconds, and its last state. */
async function play(server: Server, pauseMs: number) {
  const { here, call } = server;
  const [lines, waitsMs]: [string[], number[]] = [[], []];
  for (let batch = 0; batch < batches; batch++) {
    await sleep(pauseMs);
    const askedMs = performance.now();
    const cursor = BigInt(batch * prompts);
    const { tasks } = await call((client) => client.run("many").nextBatch({ cursor }));
    waitsMs.push(performance.now() - askedMs);
    const client = await here();
    const texts = await Promise.all(tasks.map((task) => completionsOf(client, task)));
    const groups = tasks.map((task, i) => ({ task, completions: texts[i] ?? [] }));
    const outcomes = await scored(server, groups);
    for (const [i, { cursor: at, armId, instanceHash, prompt }] of tasks.entries()) {
      const words = createHash("sha256").update(JSON.stringify(prompt)).digest("base64url");
      const rewards = outcomes[i]?.outcomes.map((each) => (each.kind === "scored" ? each.reward : each.reason));
      lines.push(`${at} ${armId} ${instanceHash} ${words} ${rewards?.join()}`);
    }
    progress.step();
  }
  const exported = await call((client) => client.run("many").export());
  return { lines, waitsMs, state: timeless(savedIn(payloadOf(exported.state))) };
}

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(2)} s`;

async function report({ call }: Server, waitsMs: readonly number[]): Promise<void> {
  // The first batch is made after the run's creation, and not between two batches.
  const sorted = waitsMs.slice(1).toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? NaN).toFixed(1);
  console.log(`NextBatch of ${prompts}: ${at(0.5)} ms in the middle, ${at(0.99)} ms at the 99th percentile`);
  for (const [name, bytesOf] of [
    ["GetRun", async (client: GradusClient) => [toBinary(RunSchema, await client.run("many").get())]],
    [
      "GetHistory",
      async (client: GradusClient) =>
        (await client.run("many").history()).map((record) => toBinary(HistoryRecordSchema, record)),
    ],
  ] as const) {
    const beganMs = performance.now();
    const bytes = (await call(bytesOf)).reduce((sum, { length }) => sum + length, 0);
    console.log(`${name}: ${Math.round(bytes / 1024)} KiB after ${seconds(beganMs)}`);
  }
}

const [calm, stormy] = [temporaryFolder(), temporaryFolder()];
if (options.examined !== undefined) cpSync(options.examined, join(calm.path, "examined-levels"));
const server = serverIn(calm.path, new Set());
await createRun(server);
if (kills > 0) {
  // Both runs begin with the same levels, whatever a busy machine refuses later.
  await server.end("SIGTERM");
  cpSync(calm.path, stormy.path, { recursive: true });
}
const first = await play(server, Number(options.pause) * 1000);
await report(server, first.waitsMs);
await server.end("SIGTERM");
if (kills > 0) {
  const points = Array.from({ length: kills }, (_, i) => Math.floor(((i + rng.float()) * 2 * batches) / kills));
  const victim = serverIn(stormy.path, new Set(points));
  const second = await play(victim, 0);
  await victim.end("SIGTERM");
  const other = first.lines.filter((line, i) => second.lines[i] !== line);
  for (const line of other.slice(0, 3)) console.log(`${second.lines[first.lines.indexOf(line)]}; undisturbed: ${line}`);
  const isSame = isDeepStrictEqual(first.state, second.state);
  console.log(`after ${new Set(points).size} kills ${other.length} tasks differ; equal state: ${isSame}`);
  if (other.length > 0 || !isSame || second.lines.length !== first.lines.length) process.exitCode = 1;
}
progress.stop();
for (const folder of [calm, stormy]) folder[Symbol.dispose]();
process.exit();
