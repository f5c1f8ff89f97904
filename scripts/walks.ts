/**
 * Which files of ours calls really pass, by the functions that run, on the store that a server has by default and with its
 * threads. docs/walks.md lists them whole; it is written here and held to what runs, and each list to the most that it may
 * have. A list that grows has a reason, which stands beside its number.
 *
 *   node scripts/walks.ts [--write]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { format } from "prettier";
import { CurriculumService } from "../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../proto/gen/gradus/v1/environment_pb.js";
import { openServer } from "../test/support/in-process.ts";

const root = join(import.meta.dirname, "..");
const documentPath = join(root, "docs/walks.md");

/**
 * What each walk is, and how many files it may pass. The aims are 24, 45, 35 and 50. Runs of 1,024 arms added by-arm,
 * history-records and packing; rows that are chosen row-arms; the page kept-samples to a Step and run-ids to a NextBatch.
 * Rows that keep their identity added row-lists and run-rows, and the warning of a model that never keeps its answer
 * format malformed; what metrics have in common stands in samples.
 */
const walks = {
  "a Step outside a run": 29,
  "a Step in a run": 59,
  "a NextBatch whose tasks were made ahead": 68,
  "a NextBatch that plans and makes its tasks": 82,
} as const;

type Walk = keyof typeof walks;
type Walked = Readonly<Record<Walk, readonly string[]>>;

/** V8's counts of function calls, in one thread. */
interface Counter {
  post(method: string, parameters?: object): Promise<unknown>;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Counters of this thread and of all that it starts from now on. */
async function countersOf(session: Session): Promise<readonly Counter[]> {
  const counters: Counter[] = [session];
  const answers = new Map<string, (result: unknown) => void>();
  let id = 0;
  session.on("NodeWorker.receivedMessageFromWorker", ({ params: { sessionId, message } }) => {
    const { id: of, result } = JSON.parse(message) as { readonly id?: number; readonly result: unknown };
    answers.get(`${sessionId}/${of}`)?.(result);
  });
  session.on("NodeWorker.attachedToWorker", ({ params: { sessionId } }) => {
    const post = (method: string, params: object = {}): Promise<unknown> => {
      const message = JSON.stringify({ id: ++id, method, params });
      const answer = new Promise((resolve) => answers.set(`${sessionId}/${id}`, resolve));
      void session.post("NodeWorker.sendMessageToWorker", { sessionId, message });
      return answer;
    };
    counters.push({ post });
  });
  await session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
  return counters;
}

/** Functions of envs and server that ran in any thread, each by its file and its place there; what is generated does not count. */
async function functionsOf(counters: readonly Counter[], work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const all = <T>(method: string, parameters?: object) =>
    Promise.all(counters.map((counter) => counter.post(method, parameters) as Promise<T>));
  await all("Profiler.enable");
  await all("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // What ran until now is counted and put away.
  await all("Profiler.takePreciseCoverage");
  await work();
  await settled();
  const scripts = (await all<Coverage>("Profiler.takePreciseCoverage")).flatMap(({ result }) => result);
  await all("Profiler.stopPreciseCoverage");
  const ran = scripts.flatMap(({ url, functions }) => {
    const file = url.startsWith("file:") ? relative(root, fileURLToPath(url)) : "";
    if (!/^(envs|server)\/(?!gen\/)/.test(file)) return [];
    const called = functions.flatMap(({ ranges: [range] }) => (range !== undefined && range.count > 0 ? [range] : []));
    return called.map(({ startOffset }) => `${file}:${startOffset}`);
  });
  return new Set(ran);
}

/** Files of which a function ran for a call. What runs by the clock, such as a look at the disk, is no part of it. */
async function filesOf(
  counters: readonly Counter[],
  byTheClock: ReadonlySet<string>,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const ran = (await functionsOf(counters, work)).difference(byTheClock);
  return [...new Set([...ran].map((place) => place.slice(0, place.lastIndexOf(":"))))].sort();
}

/** What a call leaves to be done behind it, such as what is written and tasks that are made ahead, is done. */
const settled = (): Promise<void> => sleep(1000);

/** Longer than what comes once a second takes to come on a busy machine. */
const CLOCK_MS = 4000;

const arms = ["T0", "T1"].map((value) => {
  return { id: value, spec: { environment: "countdown", difficulty: { case: "level", value } as const } };
});

async function walked(): Promise<Walked> {
  const session = new Session();
  session.connect();
  const counters = await countersOf(session);
  await using server = await openServer({ store: "sqlite", workers: "1", logLevel: "silent" });
  const transport = createGrpcTransport({ baseUrl: `http://${server.address}` });
  const curriculum = createClient(CurriculumService, transport);
  const environments = createClient(EnvironmentService, transport);
  const policy = { kind: { case: "bandit", value: {} } } as const;
  const config = {
    arms,
    policy,
    numGenerations: 2,
    promptsPerUpdate: 1,
    lag: { case: "feedbackLag", value: 0 },
  } as const;
  await curriculum.createRun({ runId: "warm", config });
  // Their last update batch leaves nothing to be planned or made behind it.
  await curriculum.createRun({ runId: "one", config: { ...config, length: 1n } });
  await curriculum.createRun({ runId: "two", config: { ...config, length: 2n } });
  const next = async (runId: string, cursor: number) => {
    const { tasks } = await curriculum.nextBatch({ runId, cursor: BigInt(cursor), count: 1 });
    if (tasks[0] === undefined) throw new Error(`${runId} has no task at ${cursor}`);
    return tasks[0];
  };
  const step = (task: { readonly taskId: string; readonly groupId: string }, sampleIndex = 0) =>
    environments.step({
      taskId: task.taskId,
      groupId: task.groupId,
      sampleIndex,
      completion: "<think></think><answer>1 + 2</answer>",
    });
  const alone = async (seed: bigint) => {
    const { task } = await environments.reset({ spec: { environment: "countdown" }, seed });
    if (task === undefined) throw new Error("a reset gave no task");
    return task;
  };
  // All is done before it is watched, so that what is made once is no part of a walk.
  await step(await alone(1n));
  for (let cursor = 0; cursor < 3; cursor++) {
    const task = await next("warm", cursor);
    for (const sample of [0, 1]) await step(task, sample);
    await settled();
  }
  const outside = await alone(2n);
  const byTheClock = await functionsOf(counters, () => sleep(CLOCK_MS));
  const planned = await filesOf(counters, byTheClock, () => next("one", 0));
  const last = await next("one", 0);
  await step(last, 0);
  const first = await next("two", 0);
  for (const sample of [0, 1]) await step(first, sample);
  await settled();
  const stepped = await filesOf(counters, byTheClock, () => step(outside));
  const fed = await filesOf(counters, byTheClock, () => step(last, 1));
  const ahead = await filesOf(counters, byTheClock, () => next("two", 1));
  session.disconnect();
  return {
    "a Step outside a run": stepped,
    "a Step in a run": fed,
    "a NextBatch whose tasks were made ahead": ahead,
    "a NextBatch that plans and makes its tasks": planned,
  };
}

/** The document. */
function written(lists: Walked): Promise<string> {
  const sections = Object.entries(lists).map(([walk, files]) => {
    const list = files.map((file) => `- [${file}](../${file})`).join("\n");
    return `## The files of ${walk}: ${files.length}\n\n${list}\n`;
  });
  const head =
    "# Walks\n\nEvery file of `envs` and `server` of which a function runs for a call, in all threads, on SQLite, by " +
    "V8's own counts, but for what runs by the clock. `node scripts/walks.ts --write` writes this page, and `make check` holds it to what runs. It says " +
    "countdown and a bandit where another environment or policy has files of its own. The step in a run is the one that " +
    "closes its group and its update batch. What the files do is in " +
    "[architecture.md](architecture.md).\n";
  return format([head, ...sections].join("\n"), { parser: "markdown" });
}

/** What ran both times: on a busy machine what comes now and then by the clock may fall into a walk. */
async function twice(first: Walked): Promise<Walked> {
  const second = await walked();
  const both = Object.entries(first).map(([walk, files]) => [
    walk,
    files.filter((file) => second[walk as Walk].includes(file)),
  ]);
  return Object.fromEntries(both) as Walked;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
  const kept = readFileSync(documentPath, "utf8");
  const once = await walked();
  const lists = (await written(once)) === kept ? once : await twice(once);
  const document = await written(lists);
  if (values.write) writeFileSync(documentPath, document);
  const listed = new Map(kept.split("\n## The files of ").map((part) => [part.split(":")[0], part]));
  for (const [walk, files] of Object.entries(lists)) {
    console.log(`${walk}: ${files.length} files (at most ${walks[walk as Walk]})`);
    for (const file of files)
      if (!listed.get(walk)?.includes(`- [${file}]`)) console.error(`it passes ${file}, which is not in its list`);
    if (files.length <= walks[walk as Walk]) continue;
    console.error(`${walk} passes too many files: see docs/walks.md`);
    process.exitCode = 1;
  }
  if (kept !== document && !values.write) {
    console.error("docs/walks.md is not what runs: node scripts/walks.ts --write, and look at what it changes");
    process.exitCode = 1;
  }
}
