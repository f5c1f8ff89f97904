/** Attacks on a server while other callers use it. */
import { existsSync } from "node:fs";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunConfigSchema } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../proto/gen/gradus/v1/environment_pb.js";
import { AnswerFormat, Source, type TaskSpecSchema } from "../../proto/gen/gradus/v1/task_pb.js";
import type { Attack, Target, Unary } from "./caller.ts";
import { calling, leaving, messaging, posting, sitting, stopping } from "./gyms.ts";
import { begin, emptyPieces, endlessHeaders, flood, listPath, send, stepPath, streamOf, uint32 } from "./frames.ts";

const environments = EnvironmentService.method;
/** A checkout's interpreter has the package that mounts; else python3 must have it. */
const CHECKOUT_PYTHON = join(import.meta.dirname, "../../.venv/bin/python");
const PYTHON = existsSync(CHECKOUT_PYTHON) ? CHECKOUT_PYTHON : "python3";
const curriculum = CurriculumService.method;
const KiB = 1024;
const MiB = KiB * KiB;

type Difficulty = { case: "level"; value: string } | { case: "parameters"; value: { values: Record<string, number> } };

const given = (values: Record<string, number>): Difficulty => ({ case: "parameters", value: { values } });

function drawing(environment: string, difficulty: Difficulty, count: number): Attack["call"] {
  return ({ unary }, i) => {
    const seeds = Array.from({ length: count }, (_, k) => BigInt(i * count + k));
    return unary(environments.batchReset, { spec: { environment, difficulty }, seeds });
  };
}

/** Six numbers with exactly one solution: hardly any such instance exists. */
const barren = given({ numbers_min: 6, numbers_max: 6, solutions_min: 1, solutions_max: 1 });

function stepping(texts: readonly string[]): Attack["call"] {
  return async ({ unary }, i) => {
    const { task } = await unary(environments.reset, { spec: { environment: "countdown" }, seed: BigInt(i) });
    if (task === undefined) throw new Error("no task");
    const { taskId, groupId } = task;
    const completions = texts.map((text, sampleIndex) => ({ sampleIndex, text }));
    await unary(environments.batchStep, { groups: [{ taskId, groupId, completions }] });
  };
}

/** Steps with programs that occupy the sandbox, one for each caller. */
function running(program: string): Attack["call"] {
  const spec = { environment: "code", source: Source.REAL, answerFormat: AnswerFormat.ANSWER_TAG };
  return answering(spec, `<answer>\n\`\`\`python\n${program}\n\`\`\`\n</answer>`);
}

/** Steps with one completion of a task, one task for each caller. */
function answering(spec: MessageInitShape<typeof TaskSpecSchema>, completion: string): Attack["call"] {
  return async ({ unary }, i) => {
    const { task } = await unary(environments.reset, { spec, seed: BigInt(i) });
    if (task === undefined) throw new Error("no task");
    await unary(environments.step, { taskId: task.taskId, groupId: task.groupId, completion });
  };
}

const WORKING_AT_3_PERCENT = `import time
while True:
    until = time.perf_counter() + 0.0015
    while time.perf_counter() < until: pass
    time.sleep(0.0485)`;

const STARTING_2000_THREADS = `import threading, time
for _ in range(2000):
    try: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError: pass
time.sleep(60)`;

const countdownArms = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `arm-${i}`, spec: { environment: "countdown" } }));

function runOf(
  more: Exclude<MessageInitShape<typeof RunConfigSchema>, { readonly $typeName: string }>,
): MessageInitShape<typeof RunConfigSchema> {
  const policy = { kind: { case: "mixture", value: {} } } as const;
  return { policy, numGenerations: 2, promptsPerUpdate: 1, ...more };
}

/** Draws that many tasks of a run, and answers none. */
async function drawTasks(unary: Unary, runId: string, tasks: number): Promise<void> {
  for (let cursor = 0; cursor < tasks;) {
    const { nextCursor } = await unary(curriculum.nextBatch, { runId, cursor: BigInt(cursor), count: 1024 });
    cursor = Number(nextCursor);
  }
}

/** Sends gRPC messages of 60 MB of zeros, compressed to 60 KB. */
function bomb(headers: Record<string, string>): Attack["call"] {
  const zeros = gzipSync(Buffer.alloc(60 * MiB));
  const frame = Buffer.concat([Buffer.of(1), uint32(zeros.length), zeros]);
  return ({ target }) =>
    new Promise<void>((resolve) => {
      const session = connect(`http://127.0.0.1:${target.port}`);
      session.on("error", () => resolve());
      const stream = session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: "/gradus.v1.EnvironmentService/BatchStep",
        "content-type": "application/grpc",
        "grpc-encoding": "gzip",
        te: "trailers",
        ...headers,
      });
      stream.on("error", () => undefined);
      stream.on("close", () => {
        session.close();
        resolve();
      });
      stream.resume();
      stream.end(frame);
    });
}

/** Sends POSTs that declare 60 MB, send one byte, and stay open. */
async function stall({ target }: { readonly target: Target }): Promise<void> {
  const headers = { "content-type": "application/json", "content-length": 60 * MiB };
  const path = "/gradus.v1.EnvironmentService/BatchStep";
  const requests = Array.from({ length: 50 }, () => {
    const sent = request({ host: "127.0.0.1", port: target.httpPort, method: "POST", path, headers });
    sent.on("error", () => undefined);
    sent.write("{");
    return sent;
  });
  await sleep(500);
  for (const sent of requests) sent.destroy();
}

/** A run of 8 million samples, of which a million are open and 131,072 instances are known, exported once. */
function importing(): Pick<Attack, "prepare" | "call"> {
  let exported: Promise<Uint8Array> | undefined;
  return {
    prepare: async (unary) => {
      const config = runOf({ arms: countdownArms(4), numGenerations: 64, promptsPerUpdate: 1024 });
      await unary(curriculum.createRun, { runId: "samples", config });
      await drawTasks(unary, "samples", 131_072);
    },
    call: async ({ unary }, i) => {
      exported ??= unary(curriculum.exportRun, { runId: "samples" }).then(({ state }) => state);
      const runId = `samples-${process.pid}-${i % 4}`;
      await unary(curriculum.importRun, { state: await exported, runId });
      await unary(curriculum.deleteRun, { runId });
    },
  };
}

/** Sends forged ids of 8,000 characters, arguments of 1 MB, and thousands of calls in one message, by turns. */
async function changedTurns({ unary }: { readonly unary: Unary }, i: number): Promise<void> {
  const spec = { environment: "games/mastermind", tools: ["guess"] };
  const { task } = await unary(environments.reset, { spec, seed: BigInt(i) });
  const { taskId = "", groupId = "" } = task ?? {};
  const call = (argumentsJson: string) => ({ id: "x", name: "guess", argumentsJson });
  const forged = Array.from({ length: 1024 }, (_, sampleIndex) => ({
    sampleIndex,
    taskId: taskId.slice(0, 100) + "A".repeat(7_900),
    toolCalls: [call("{}")],
  }));
  const kinds = [
    forged,
    [{ toolCalls: Array.from({ length: 16_384 }, () => call("{}")) }],
    Array.from({ length: 4 }, (_, sampleIndex) => ({ sampleIndex, toolCalls: [call("x".repeat(MiB))] })),
  ];
  await unary(environments.batchStep, { groups: [{ taskId, groupId, completions: kinds[i % kinds.length]! }] });
}

// Time that a connection lasts if the server does not close it. These connections send frames that no library sends.

const STAYS_MS = 2000;

const resets = begin(20_000, "reset after the headers");
const objects = (bytes: number): string => `[${"{},".repeat(bytes / 3)}{}]`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"${i}":1`).join()}}`;

const reflectionPath = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** A reflection request for the file that defines one of our services (field 4), after gRPC's five bytes. */
const symbol = Buffer.from("gradus.v1.CurriculumService");
const reflectionRequest = Buffer.concat([
  Buffer.of(0),
  uint32(symbol.length + 2),
  Buffer.of(34, symbol.length),
  symbol,
]);

/** Connections that each send the same bytes again and again. */
function sending(callers: number, bytes: Buffer, reads = true): Pick<Attack, "callers" | "call"> {
  return { callers, call: ({ target }) => send(target.port, bytes, { reads, forMs: STAYS_MS }) };
}

const rapidResets = [false, true].map((settles) => begin(20_000, "reset after the headers", stepPath, settles));

/** Malformed bytes, sent one after the other. */
const oddities: readonly Buffer[] = [
  begin(20_000, "reset after the message"),
  begin(20_000, "left open"),
  begin(20_000, "whole"),
  flood(100_000, "pings"),
  flood(100_000, "settings"),
  flood(100_000, "priorities"),
  flood(100_000, "window updates of 1"),
  endlessHeaders(2000),
  emptyPieces(100_000),
];

export const attacks = {
  idle: { callers: 0, call: async () => undefined },
  "np/tsp benchmark": { callers: 4, call: drawing("np/tsp", { case: "level", value: "benchmark" }, 256) },
  "largest prompts": { callers: 4, call: drawing("np/tsp", given({ cities_min: 200, cities_max: 200 }), 256) },
  "largest bisections": {
    callers: 6,
    call: drawing("np/bisection", given({ vertices_min: 52, vertices_max: 52, density: 0.7, noise: 0.5 }), 100),
  },
  "arm without tasks": { callers: 4, call: drawing("countdown", barren, 16) },
  "runs without tasks": {
    callers: 4,
    call: ({ unary }, i) => {
      const arms = [{ id: "barren", spec: { environment: "countdown", difficulty: barren } }];
      return unary(curriculum.createRun, { runId: `barren-${process.pid}-${i}`, config: runOf({ arms }) });
    },
  },
  "large groups": {
    callers: 2,
    call: stepping(Array.from({ length: 64 }, () => `<think></think><answer>${"1 + ".repeat(64 * KiB - 16)}</answer>`)),
  },
  marks: { callers: 2, call: stepping(Array.from({ length: 240 }, () => "<".repeat(256 * KiB))) },
  "long history": {
    callers: 2,
    prepare: async (unary) => {
      await unary(curriculum.createRun, { runId: "long", config: runOf({ arms: countdownArms(256) }) });
      await drawTasks(unary, "long", 4096);
    },
    call: ({ unary }) => unary(curriculum.getHistory, { runId: "long", pageSize: 10_000 }),
  },
  "large exports": {
    callers: 2,
    prepare: async (unary) => {
      const config = runOf({ arms: countdownArms(4), numGenerations: 512, promptsPerUpdate: 1024 });
      await unary(curriculum.createRun, { runId: "large", config });
      await drawTasks(unary, "large", 2048);
    },
    call: async ({ unary }, i) => {
      const { state } = await unary(curriculum.exportRun, { runId: "large" });
      await unary(curriculum.importRun, { state, runId: `large-${process.pid}-${i % 4}` });
      await unary(curriculum.deleteRun, { runId: `large-${process.pid}-${i % 4}` });
    },
  },
  "bombs, no token": { callers: 40, call: bomb({}), args: ["--token-file", "TOKEN"] },
  "bombs with it": { callers: 40, call: bomb({ authorization: "Bearer TOKEN" }), args: ["--token-file", "TOKEN"] },
  "programs at 3%": { callers: 2, call: running(WORKING_AT_3_PERCENT) },
  "programs asleep": { callers: 12, call: running("import time\ntime.sleep(1e6)") },
  "programs of 2,000 threads": { callers: 2, call: running(STARTING_2000_THREADS) },
  "one-byte POSTs": { callers: 6, call: stall },
  "rapid resets": {
    callers: 1,
    call: async ({ target }, i) => {
      await send(target.port, rapidResets[i % 2] as Buffer, { reads: true, forMs: STAYS_MS });
      await sleep(1000);
    },
  },
  "unread lists": sending(1, begin(1000, "whole", listPath), false),
  "unread lists, 8 connections": sending(8, begin(1000, "whole", listPath), false),
  "odd frames": {
    callers: 1,
    call: ({ target }, i) =>
      send(target.port, oddities[i % oddities.length] as Buffer, { reads: true, forMs: STAYS_MS }),
  },
  "empty messages": sending(1, streamOf("/gradus.v1.EnvironmentService/StreamSteps", Buffer.alloc(5), 400_000), false),
  "unread reflection": sending(1, streamOf(reflectionPath, reflectionRequest, 20_000), false),
  "resets over new connections": sending(8, resets),
  "rows of 20 MB of objects": { callers: 4, call: posting(objects(20 * MiB)) },
  "rows of 15 MB of objects": { callers: 4, call: posting(objects(15 * MiB)) },
  "rows of 60,000 keys": { callers: 4, call: posting(keys(60_000)) },
  "32,000 empty groups": {
    callers: 4,
    call: ({ unary }) => unary(environments.batchStep, { groups: Array.from({ length: 32_000 }, () => ({})) }),
  },
  "task ids of 60 MB": {
    callers: 4,
    call: ({ unary }) => unary(environments.batchStep, { groups: [{ taskId: "x".repeat(60 * MiB) }] }),
  },
  "JSON of 20 MB of objects": { callers: 4, call: calling(`{"groups":${objects(20 * MiB)}}`) },
  "JSON of a million objects": { callers: 4, call: calling(`{"groups":${objects(3 * 2 ** 19)}}`) },
  "JSON of 60 MB of text": { callers: 4, call: calling(`{"groups":[{"taskId":"${"x".repeat(60 * MiB)}"}]}`) },
  "messages over 8 sockets": { callers: 8, call: messaging(objects(1.5 * MiB)) },
  "long texts over 8 sockets": { callers: 8, call: messaging(`"${"x".repeat(1.5 * MiB)}"`) },
  "messages not whole": { callers: 1, call: stopping },
  "4,096 sessions": { callers: 1, call: sitting },
  "left sessions": { callers: 16, call: leaving },
  "256 programs asleep": { callers: 256, call: running("import time\ntime.sleep(1e6)") },
  "changed turns": { callers: 4, call: changedTurns },
  "mounted answers asleep": {
    callers: 16,
    call: answering({ environment: "attacked/asleep" }, "<think></think><answer>sleep</answer>"),
    args: ["--python", PYTHON, "--python", join(import.meta.dirname, "asleep.py")],
  },
  imports: { callers: 2, ...importing() },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;
export const attackNames = Object.keys(attacks) as readonly AttackName[];

/** Placeholder for the token in an attack, and for the token's file in the server's arguments. */
export const TOKEN = "an-attacker-who-knows-the-token";

export function serverArgs(attack: AttackName, tokenFile: string): readonly string[] {
  const { args = [] }: Attack = attacks[attack];
  return args.map((arg) => (arg === "TOKEN" ? tokenFile : arg));
}
