/**
 * Sends changed calls and task ids of episodes, and counts those that the server accepts: forged, cut and spliced ids, turns
 * of other samples, groups, runs and incarnations, other keys, arguments of wrong types and of 1 MB, unknown tools, and
 * thousands of calls in one message. Ends with 1 if one was accepted. What others notice of it is measured by
 * `bench/attacks/run.ts --attack "changed turns"`.
 *
 * ```
 * node bench/turns/hostile.ts [--count 100000] [--seed 1] [--json]
 * ```
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { rngFor } from "../../envs/lib/rng.ts";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { type CompletionSchema, EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { FeedbackStatus, NoRewardReason, type Outcome } from "../../proto/gen/gradus/v1/outcome_pb.js";
import { unaryOf } from "../attacks/caller.ts";
import { createProgress } from "../progress.ts";
import { startOurs } from "../transport/processes.ts";

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const wanted = Number(options.count);

type Completion = Exclude<MessageInitShape<typeof CompletionSchema>, { readonly $typeName: string }>;

/** A sample after its first call: its turn's id is valid for it alone. */
interface Turn {
  readonly groupId: string;
  /** Id of the group's task, before any call. */
  readonly firstId: string;
  readonly taskId: string;
  readonly sampleIndex: number;
  readonly sampleKey: string;
}

const GENERATIONS = 4;
const GROUPS = 16;
const KEY = "a-key";

const folder = mkdtempSync(join(tmpdir(), "gradus-turns-"));
const server = await startOurs(folder);
const unary = unaryOf(server.port);
const environments = EnvironmentService.method;
const curriculum = CurriculumService.method;
const rng = rngFor("hostile turns", Number(options.seed));

const spec = {
  environment: "games/mastermind",
  difficulty: { case: "level", value: "hard" } as const,
  tools: ["guess"],
};
const config = {
  arms: [{ id: "games", spec }],
  policy: { kind: { case: "mixture", value: {} } as const },
  numGenerations: GENERATIONS,
  promptsPerUpdate: GROUPS,
};
const first = [{ id: "x", name: "guess", argumentsJson: '{"code": [1, 1, 1, 1]}' }];

/** Makes a run and plays the first call of all its samples, the last one of each group under a key. */
async function turnsOf(runId: string): Promise<readonly Turn[]> {
  await unary(curriculum.createRun, { runId, config });
  const { tasks } = await unary(curriculum.nextBatch, { runId, count: GROUPS });
  const turns: Turn[] = [];
  for (const { taskId, groupId } of tasks) {
    const completions = Array.from({ length: GENERATIONS }, (_, i): Completion =>
      i === GENERATIONS - 1 ? { sampleKey: KEY, toolCalls: first } : { sampleIndex: i, toolCalls: first },
    );
    const { groups } = await unary(environments.batchStep, { groups: [{ taskId, groupId, completions }] });
    for (const [sampleIndex, { result }] of (groups[0]?.outcomes ?? []).entries()) {
      if (result.case !== "turn") throw new Error(`the first call of a sample has no turn: ${result.case}`);
      const sampleKey = sampleIndex === GENERATIONS - 1 ? KEY : "";
      turns.push({ groupId, firstId: taskId, taskId: result.value.taskId, sampleIndex, sampleKey });
    }
  }
  return turns;
}

const old = await turnsOf("one");
await unary(curriculum.deleteRun, { runId: "one" });
const [own, others] = [await turnsOf("one"), await turnsOf("other")];

/** Returns an id that the sample may not use: one of the server's for another sample, or one that the server did not make. */
const badIds = {
  "bits flipped": ({ taskId }: Turn) => {
    const bytes = Buffer.from(taskId, "base64url");
    for (let flips = rng.int(1, 3); flips > 0; flips--) bytes[rng.int(0, bytes.length - 1)]! ^= 1 << rng.int(0, 7);
    return bytes.equals(Buffer.from(taskId, "base64url")) ? "AAAA" : bytes.toString("base64url");
  },
  cut: ({ taskId }: Turn) => taskId.slice(0, rng.int(1, taskId.length - 1)),
  longer: ({ taskId }: Turn) => taskId + "A".repeat(rng.int(4, 7_000)),
  spliced: ({ taskId }: Turn) => {
    const other = rng.pick(others).taskId;
    const at = rng.int(8, Math.min(taskId.length, other.length) - 8);
    const spliced = taskId.slice(0, at) + other.slice(at);
    return spliced === taskId || spliced === other ? "AAAA" : spliced;
  },
  "of another sample": (turn: Turn) =>
    rng.pick(own.filter(({ groupId, taskId }) => groupId === turn.groupId && taskId !== turn.taskId)).taskId,
  "of another group": (turn: Turn) => rng.pick(own.filter(({ groupId }) => groupId !== turn.groupId)).taskId,
  "of another run": () => rng.pick(others).taskId,
  "of another incarnation": () => rng.pick(old).taskId,
} as const;

const wrongArguments = [
  "", "null", "[]", "7", '"guess"', "{", "{}", '{"code":', '{"code": null}', '{"code": "1111"}', '{"code": [[1, 1, 1, 1]]}',
  '{"code": [1, 1, 1]}', '{"code": [1, 1, 1, 1, 1]}', '{"code": [1, 1, 1, 1e400]}', '{"code": [1, 1, 1, 1.5]}',
  '{"code": [1, 1, 1, -1]}', '{"code": [1, 1, 1, true]}', '{"code": [1, 1, 1, "1"]}', '{"code": {"0": 1}}',
  '{"__proto__": {"code": [1, 1, 1, 1]}}', '{"constructor": 1}', '{"code": [1, 1, 1, 99]}', "\u0000", "[".repeat(4096),
]; // prettier-ignore

const call = (argumentsJson: string, name = "guess") => ({ id: "x", name, argumentsJson });

/** Calls that no environment can carry out. */
const badCalls = {
  "wrong arguments": () => [call(rng.pick(wrongArguments))],
  "unknown tools": () => [call('{"code": [1, 1, 1, 1]}', rng.pick(["gues", "", "__proto__", "x".repeat(5_000)]))],
  "1 MB of arguments": () => [call(`{"code": "${"x".repeat(1_000_000)}"}`)],
  "thousands of calls": () => Array.from({ length: 16_384 }, () => call("{}")),
} as const;

/** Kinds whose messages are large, and the number of rounds of which one has them. */
const DEAR = ["1 MB of arguments", "thousands of calls"] as const;
const DEAR_EVERY = 10;

const counts = new Map<string, number>();
const accepted: string[] = [];

function judge(kind: string, isId: boolean, { result, feedback }: Outcome): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const status = feedback?.status ?? FeedbackStatus.NOT_RECORDED;
  const isRecorded = status === FeedbackStatus.RECORDED || status === FeedbackStatus.DUPLICATE;
  const isRefused = result.case === "noReward" && result.value.reason === NoRewardReason.INVALID_TASK_ID;
  const isUnpaid =
    (result.case === "turn" && (result.value.turnReward ?? 0) === 0) ||
    (result.case === "score" && result.value.reward === 0 && !result.value.solved);
  if (isId ? !isRefused || isRecorded : !isUnpaid) accepted.push(`${kind}: ${JSON.stringify(result, bigints)}`);
}

const bigints = (_: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value);

/** Sends a changed id for each sample of the run, in one message. */
async function sendIds(): Promise<void> {
  const kinds = own.map(() => rng.pick(idKinds));
  const completions = own.map((turn, i): Completion & { readonly of: Turn } => {
    const forge: (turn: Turn) => string = badIds[kinds[i] as keyof typeof badIds];
    return { ...whoOf(turn), of: turn, taskId: forge(turn), end: true };
  });
  const groups = Map.groupBy(completions, ({ of }) => of.groupId);
  const reply = await unary(environments.batchStep, {
    groups: [...groups].map(([groupId, ofGroup]) => ({
      groupId,
      taskId: ofGroup[0]!.of.firstId,
      completions: ofGroup.map(({ of: _, ...completion }) => completion),
    })),
  });
  for (const [i, outcome] of reply.groups.flatMap(({ outcomes }) => outcomes).entries())
    judge(kinds[i] ?? "", true, outcome);
}

const whoOf = ({ sampleIndex, sampleKey }: Turn) => (sampleKey === "" ? { sampleIndex } : { sampleKey });

/** Sends calls that nobody can carry out, outside of runs. */
async function sendCalls({ taskId, groupId }: Turn, kinds: readonly string[]): Promise<void> {
  await Promise.all(
    kinds.map(async (kind) => {
      const toolCalls = badCalls[kind as keyof typeof badCalls]();
      const { outcome } = await unary(environments.step, { taskId, groupId, toolCalls });
      if (outcome !== undefined) judge(kind, false, outcome);
    }),
  );
}

/** Returns a turn outside of runs, whose calls are recorded nowhere. */
async function alone(): Promise<Turn> {
  const { task } = await unary(environments.reset, { spec, seed: BigInt(rng.int(0, 1e9)) });
  const { taskId = "", groupId = "" } = task ?? {};
  const { outcome } = await unary(environments.step, { taskId, groupId, toolCalls: first });
  if (outcome?.result.case !== "turn") throw new Error("the first call of a task has no turn");
  return { groupId, firstId: taskId, taskId: outcome.result.value.taskId, sampleIndex: 0, sampleKey: "" };
}

const progress = createProgress("% of the changed calls", 100);
const idKinds = Object.keys(badIds);
const callKinds = Object.keys(badCalls).filter((kind) => !DEAR.some((dear) => dear === kind));
const [lone, startMs] = [await alone(), performance.now()];
let [sent, shown] = [0, 0];
for (let round = 0; sent < wanted; round++) {
  await sendIds();
  const calls = Array.from({ length: 16 }, () => rng.pick(callKinds));
  if (round % DEAR_EVERY === 0) calls.push(...DEAR);
  await sendCalls(lone, calls);
  sent += own.length + calls.length;
  for (; shown < Math.min(100, (100 * sent) / wanted); shown++) progress.step();
}
progress.stop();
const seconds = (performance.now() - startMs) / 1000;

// The samples can still be played, and nothing but what follows is recorded.
let recorded = 0;
for (const turn of own) {
  const completions = [{ ...whoOf(turn), taskId: turn.taskId, end: true }];
  const { groups } = await unary(environments.batchStep, { groups: [{ groupId: turn.groupId, completions }] });
  if (groups[0]?.outcomes[0]?.feedback?.status === FeedbackStatus.RECORDED) recorded++;
}
if (recorded !== own.length) accepted.push(`only ${recorded} of ${own.length} samples could be ended afterwards`);

await server.stop();
rmSync(folder, { recursive: true, force: true });
const report = {
  sent,
  accepted: accepted.length,
  seconds: Number(seconds.toFixed(1)),
  kinds: Object.fromEntries(counts),
};
if (options.json) console.log(JSON.stringify(report, undefined, 2));
else {
  console.log(`${sent} changed calls in ${report.seconds} s, ${accepted.length} accepted`);
  console.table(report.kinds);
}
for (const what of accepted.slice(0, 5)) console.error(`accepted: ${what.slice(0, 500)}`);
if (accepted.length > 0) process.exitCode = 1;
