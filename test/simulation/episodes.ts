/**
 * Plays episodes of a run on two replicas with PostgreSQL behind HAProxy, and on one undisturbed server in memory. One
 * replica is killed at each call number, and each tenth request goes out twice. Each episode must count once, and its
 * replies and returns must be equal to the bit.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toJsonString } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import {
  FeedbackStatus,
  type Outcome,
  OutcomeSchema,
  ScoreSchema,
  TurnSchema,
} from "../../proto/gen/gradus/v1/outcome_pb.js";
import type { Task, ToolCall } from "../../proto/gen/gradus/v1/task_pb.js";
import { startPostgres } from "../support/postgres.ts";
import { type Replicas, startReplicas } from "../support/replicas.ts";
import { startServer, temporaryFolder } from "../support/server-process.ts";

export interface EpisodesOptions {
  readonly seed: number;
  /** Approximate number of episodes. */
  readonly episodes: number;
  /** Called for each closed episode, of the undisturbed run and of the other. */
  readonly onEpisode?: () => void;
}

export interface EpisodesOutcome {
  readonly violations: readonly string[];
  readonly episodes: number;
  readonly calls: number;
  /** Number of requests that went out twice. */
  readonly twice: number;
  /** Kills by the number of the call that was under way. */
  readonly kills: Readonly<Record<string, number>>;
}

const CALLS = 8;
const GENERATIONS = 8;
const TASKS = 16;
const RUN = "episodes";
const REPEAT_EVERY = 10;

const runOf = (length: number) => ({
  arms: [
    { id: "games", spec: { environment: "games/mastermind", tools: ["guess"], calls: CALLS } },
    { id: "tries", spec: { environment: "np/tsp", calls: CALLS, rewardScheme: { name: "best" } } },
    { id: "numbers", spec: { environment: "countdown", calls: CALLS, rewardScheme: { name: "sum" } } },
  ],
  policy: { kind: { case: "bandit", value: {} } as const },
  numGenerations: GENERATIONS,
  promptsPerUpdate: TASKS,
  feedbackLag: 2,
  length: BigInt(length),
  seed: 11n,
});

/** Transcripts and facts of a run, by names that do not depend on the run's incarnation. */
interface Log {
  readonly violations: Set<string>;
  /** Replies of each call by cursor, sample and call number. */
  readonly replies: Map<string, string>;
  readonly tasks: Map<string, string>;
  readonly recorded: Set<string>;
  calls: number;
  requests: number;
  twice: number;
}

const newLog = (): Log => ({
  violations: new Set(),
  replies: new Map(),
  tasks: new Map(),
  recorded: new Set(),
  calls: 0,
  requests: 0,
  twice: 0,
});

interface Player {
  readonly log: Log;
  readonly environments: ReturnType<typeof clientsOf>["environments"];
  readonly curriculum: ReturnType<typeof clientsOf>["curriculum"];
  /** Called when a request with calls of this number goes out. */
  readonly onCall: (number: number) => void;
  readonly onEpisode: () => void;
}

function clientsOf(address: string) {
  const transport = createGrpcTransport({ baseUrl: `http://${address}`, defaultTimeoutMs: 20_000 });
  return {
    environments: createClient(EnvironmentService, transport),
    curriculum: createClient(CurriculumService, transport),
  };
}

const PASSING = [Code.Unavailable, Code.DeadlineExceeded, Code.Canceled, Code.Internal, Code.Unknown, Code.Aborted];

/** Repeats a call while replicas are killed. */
async function lasting<T>(call: () => Promise<T>): Promise<T> {
  const endsAt = performance.now() + 60_000;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!PASSING.includes(ConnectError.from(error).code) || performance.now() > endsAt) throw error;
      await sleep(50);
    }
  }
}

/** Returns the call that the policy makes: equal for equal tasks, samples and call numbers. */
function callOf(task: Task, sample: number, number: number) {
  const metadata = task.hints?.metadata ?? {};
  const rng = rngFor("episodes", Number(task.cursor), sample, number);
  switch (task.armId) {
    case "games": {
      const [length, colours] = [Number(metadata["length"]), Number(metadata["colours"])];
      const code = Array.from({ length }, () => rng.int(1, colours));
      const call = { id: `call_${number}`, name: "guess", argumentsJson: JSON.stringify({ code }) };
      return { text: "", toolCalls: [call] };
    }
    case "tries": {
      const cities = rng.shuffle(Array.from({ length: Number(metadata["cities"]) }, (_, city) => city));
      return answer(`[${[...cities, cities[0]].join(", ")}]`);
    }
    default: {
      const numbers = rng.shuffle((metadata["numbers"] ?? "").split(" "));
      return answer(numbers.reduce((text, each) => `${text} ${rng.pick(["+", "-", "*"])} ${each}`));
    }
  }
}

const answer = (text: string): { text: string; toolCalls: Pick<ToolCall, "id" | "name" | "argumentsJson">[] } => ({
  text: `<think></think><answer>${text}</answer>`,
  toolCalls: [],
});

interface Episode {
  readonly sample: number;
  taskId: string;
}

/** Plays one group to its end: as one batch a call, or each sample by itself. */
async function playGroup(player: Player, task: Task): Promise<void> {
  let open: Episode[] = Array.from({ length: GENERATIONS }, (_, sample) => ({ sample, taskId: task.taskId }));
  for (let number = 0; open.length > 0; number++) {
    const outcomes =
      task.cursor % 2n === 0n
        ? await batch(player, task, open, number)
        : await Promise.all(open.map((episode) => step(player, task, episode, number)));
    open = open.filter((episode, i) => take(player, task, episode, number, outcomes[i]!));
  }
}

async function batch(player: Player, task: Task, open: readonly Episode[], number: number): Promise<Outcome[]> {
  const completions = open.map(({ sample, taskId }) => ({
    sampleIndex: sample,
    taskId,
    ...callOf(task, sample, number),
  }));
  const groups = [{ groupId: task.groupId, completions }];
  return sent(player, number, async () => (await player.environments.batchStep({ groups })).groups[0]?.outcomes ?? []);
}

async function step(player: Player, task: Task, { sample, taskId }: Episode, number: number): Promise<Outcome> {
  const { text, toolCalls } = callOf(task, sample, number);
  const request = { taskId, groupId: task.groupId, sampleIndex: sample, completion: text, toolCalls };
  const [outcome] = await sent(player, number, async () => {
    const reply = await player.environments.step(request);
    return [reply.outcome ?? create(OutcomeSchema)];
  });
  return outcome!;
}

/** Sends a request until it is answered. Each tenth goes out twice, and both replies must be equal. */
async function sent(player: Player, number: number, call: () => Promise<Outcome[]>): Promise<Outcome[]> {
  const { log } = player;
  const settled = async (): Promise<Outcome[]> => {
    for (;;) {
      const outcomes = await lasting(call);
      const waits = outcomes.some(
        ({ result, feedback }) =>
          (result.case === "noReward" && result.value.retryDelayMs > 0) ||
          (feedback?.status === FeedbackStatus.NOT_RECORDED && !feedback.detail.includes("closed")),
      );
      if (!waits) return outcomes;
      await sleep(50);
    }
  };
  const isTwice = log.requests++ % REPEAT_EVERY === 0;
  const asked = settled();
  player.onCall(number);
  if (!isTwice) return asked;
  log.twice++;
  const [first, second] = await Promise.all([asked, settled()]);
  for (const [i, outcome] of first.entries()) {
    if (plain(outcome) !== plain(second[i]!)) log.violations.add(`two replies differ: ${plain(outcome)}`);
  }
  // One of both is recorded, and the other one is its duplicate.
  return first.map((outcome, i) => (outcome.feedback?.status === FeedbackStatus.RECORDED ? outcome : second[i]!));
}

/** Returns the reply as text, without task ids and what depends on the moment. */
function plain({ result }: Outcome): string {
  switch (result.case) {
    case "turn":
      return toJsonString(TurnSchema, { ...result.value, taskId: "" });
    case "score":
      return toJsonString(ScoreSchema, result.value);
    default:
      return `no reward: ${JSON.stringify(result.value?.detail)}`;
  }
}

/** Notes a reply. Returns whether the episode goes on. */
function take({ log, onEpisode }: Player, task: Task, episode: Episode, number: number, outcome: Outcome): boolean {
  const name = `${String(task.cursor)}/${episode.sample}`;
  log.calls++;
  log.replies.set(`${name}/${number}`, plain(outcome));
  if (outcome.result.case === "turn") {
    episode.taskId = outcome.result.value.taskId;
    if (outcome.feedback !== undefined) log.violations.add(`call ${name}/${number} was recorded`);
    return true;
  }
  const { status = FeedbackStatus.UNSPECIFIED, detail = "" } = outcome.feedback ?? {};
  if (outcome.result.case !== "score") log.violations.add(`episode ${name} has no score: ${plain(outcome)}`);
  if (status !== FeedbackStatus.RECORDED && status !== FeedbackStatus.DUPLICATE)
    log.violations.add(`episode ${name} is ${FeedbackStatus[status]}: ${detail}`);
  log.recorded.add(name);
  onEpisode();
  return false;
}

/** Plays the run to its end: tasks of an update batch at once. */
async function playRun(player: Player, length: number): Promise<void> {
  const { log, curriculum } = player;
  await lasting(() => curriculum.createRun({ runId: RUN, config: runOf(length) }));
  for (let cursor = 0n; cursor < BigInt(length);) {
    const asked = { runId: RUN, cursor, count: TASKS, waitMs: 2_000 };
    const { tasks, nextCursor } = await lasting(() => curriculum.nextBatch(asked));
    for (const task of tasks) {
      const { updateBatch, armId, armProbability, instanceHash } = task;
      log.tasks.set(String(task.cursor), `${String(updateBatch)} ${armId} ${armProbability} ${instanceHash}`);
    }
    await Promise.all(tasks.map((task) => playGroup(player, task)));
    cursor = nextCursor;
  }
  const { run } = await lasting(() => curriculum.getRun({ runId: RUN }));
  const recorded = run?.state?.samplesRecorded;
  if (recorded !== BigInt(log.recorded.size))
    log.violations.add(`the run has ${String(recorded)} samples, and ${log.recorded.size} were acknowledged`);
}

/** Kills a replica while a call of each number is under way, one after the other. */
function killer(replicas: Replicas, rng: Rng, episodes: number) {
  const kills = new Map<number, number>();
  let [due, closed, restarting]: [number, number, Promise<void>] = [0, 0, Promise.resolve()];
  let isDown = false;
  return {
    kills,
    restarted: () => restarting,
    onEpisode: () => void closed++,
    onCall: (number: number): void => {
      const at = ((due + 0.5) * episodes) / (2 * CALLS + 1);
      if (isDown || number !== due % CALLS || closed < at) return;
      due++;
      isDown = true;
      kills.set(number, (kills.get(number) ?? 0) + 1);
      const replica = replicas.all[rng.int(0, replicas.all.length - 1)]!;
      restarting = replica
        .kill("SIGKILL")
        .then(() => replica.start())
        .finally(() => (isDown = false));
    },
  };
}

export async function episodesOnReplicas({ seed, episodes, onEpisode = () => undefined }: EpisodesOptions) {
  const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()] as const;
  await using stack = new AsyncDisposableStack();
  stack.defer(() => folders.forEach((folder) => folder[Symbol.dispose]()));
  const [calmFolder, ...own] = folders.map(({ path }) => path) as [string, string, string];
  const length = TASKS * Math.ceil(episodes / GENERATIONS / TASKS);

  const calm = newLog();
  const server = await startServer(calmFolder, "--store", "memory");
  await playRun({ log: calm, ...clientsOf(server.address), onCall: () => undefined, onEpisode }, length);
  await server.kill("SIGTERM");

  const stormy = newLog();
  const postgres = stack.use(await startPostgres());
  const database = await postgres.database();
  for (const path of own) copyFileSync(join(calmFolder, "task-keys"), join(path, "task-keys"));
  const options = own.map((dataDir) => ({ dataDir, flags: ["--store", database] }));
  const replicas = stack.use(await startReplicas(options));
  const killing = killer(replicas, rngFor("kills", seed), length * GENERATIONS);
  const noted = (): void => (killing.onEpisode(), onEpisode());
  const player = { log: stormy, ...clientsOf(replicas.address), onCall: killing.onCall, onEpisode: noted };
  await playRun(player, length);
  await killing.restarted();

  const violations = [...calm.violations, ...stormy.violations];
  for (const [what, one, other] of [
    ["task", calm.tasks, stormy.tasks],
    ["reply", calm.replies, stormy.replies],
  ] as const)
    for (const name of new Set([...one.keys(), ...other.keys()]))
      if (one.get(name) !== other.get(name))
        violations.push(`${what} ${name} is ${other.get(name)}, and was ${one.get(name)} undisturbed`);
  const { calls, twice } = stormy;
  return {
    violations,
    episodes: stormy.recorded.size,
    calls,
    twice,
    kills: Object.fromEntries([...killing.kills].sort()),
  } satisfies EpisodesOutcome;
}
