/** What is done to a server while others use it. Runs as a process of its own: run.ts starts it. */
import { fork } from "node:child_process";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { credentials, makeGenericClientConstructor, Metadata } from "@grpc/grpc-js";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMethodUnary, MessageInitShape, MessageShape, DescMessage } from "@bufbuild/protobuf";
import type { RunConfigSchema } from "../../server/gen/gradus/v1/curriculum_pb.js";
import { CurriculumService } from "../../server/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../../server/gen/gradus/v1/environment_pb.js";
import { AnswerFormat, Source } from "../../server/gen/gradus/v1/task_pb.js";

const environments = EnvironmentService.method;
const curriculum = CurriculumService.method;
const KiB = 1024;
const MiB = KiB * KiB;

/** Where the server is. */
export interface Target {
  readonly port: number;
  readonly httpPort: number;
}

/** Told to an attacker; it says 0 once it attacks and then how many calls have ended, until it is killed. */
export interface Order {
  readonly attack: AttackName;
  readonly target: Target;
}

export interface Attacker {
  /** How many of its calls have been answered, refused or given up. */
  readonly calls: () => number;
  readonly stop: () => void;
}

type Unary = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
) => Promise<MessageShape<O>>;

interface Attack {
  /** Connections; each calls again as soon as it was answered or refused. */
  readonly callers: number;
  /** Before the attack begins. */
  readonly prepare?: (unary: Unary) => Promise<void>;
  readonly call: (caller: { readonly unary: Unary; readonly target: Target }, i: number) => Promise<unknown>;
  /** Of the server. */
  readonly args?: readonly string[];
}

type Difficulty = { case: "level"; value: string } | { case: "parameters"; value: { values: Record<string, number> } };

const given = (values: Record<string, number>): Difficulty => ({ case: "parameters", value: { values } });

function drawing(environment: string, difficulty: Difficulty, count: number): Attack["call"] {
  return ({ unary }, i) => {
    const seeds = Array.from({ length: count }, (_, k) => BigInt(i * count + k));
    return unary(environments.batchReset, { spec: { environment, difficulty }, seeds });
  };
}

/** Six numbers with exactly one solution: there is hardly an instance. */
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

/** Programs that sit in the sandbox, one for each caller. */
function running(program: string): Attack["call"] {
  const completion = `<answer>\n\`\`\`python\n${program}\n\`\`\`\n</answer>`;
  return async ({ unary }, i) => {
    const spec = { environment: "code", source: Source.REAL, answerFormat: AnswerFormat.ANSWER_TAG };
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

const countdownArms = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `arm-${i}`, spec: { environment: "countdown" } }));

function runOf(
  more: Exclude<MessageInitShape<typeof RunConfigSchema>, { readonly $typeName: string }>,
): MessageInitShape<typeof RunConfigSchema> {
  const policy = { kind: { case: "mixture", value: {} } } as const;
  return { policy, numGenerations: 2, promptsPerUpdate: 1, ...more };
}

/** Draws so many tasks of a run, without an answer to any. */
async function drawTasks(unary: Unary, runId: string, tasks: number): Promise<void> {
  for (let cursor = 0; cursor < tasks;) {
    const { nextCursor } = await unary(curriculum.nextBatch, { runId, cursor: BigInt(cursor), count: 1024 });
    cursor = Number(nextCursor);
  }
}

/** gRPC messages of 60 MB of zeros, compressed to 60 KB. */
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

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** POSTs that declare 60 MB and send one byte, and stay. */
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

/** By name. */
const attacks = {
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
  "one-byte POSTs": { callers: 6, call: stall },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;
export const attackNames = Object.keys(attacks) as readonly AttackName[];

/** What stands for the token in an attack, and for its file in the server's arguments. */
export const TOKEN = "an-attacker-who-knows-the-token";

export function serverArgs(attack: AttackName, tokenFile: string): readonly string[] {
  const { args = [] }: Attack = attacks[attack];
  return args.map((arg) => (arg === "TOKEN" ? tokenFile : arg));
}

/** Longest that a call is waited for. */
export const CALL_MS = 30_000;

/** A connection of its own. */
export function unaryOf(port: number, token?: string): Unary & { readonly close: () => void } {
  const Client = makeGenericClientConstructor({}, "attack");
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
  });
  const metadata = new Metadata();
  if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
  const unary: Unary = (method, message) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(toBinary(method.input, create(method.input, message)));
      const path = `/${method.parent.typeName}/${method.name}`;
      const same = (value: Buffer): Buffer => value;
      client.makeUnaryRequest(path, same, same, bytes, metadata, { deadline: Date.now() + CALL_MS }, (error, answer) =>
        error === null && answer !== undefined ? resolve(fromBinary(method.output, answer)) : reject(error as Error),
      );
    });
  return Object.assign(unary, { close: () => client.close() });
}

/** `nice`: how much of its priority it gives up, for it stands for other machines, whose cores are not the server's. */
export async function startAttack(attack: AttackName, target: Target, nice: number): Promise<Attacker> {
  const execArgv = ["-n", String(nice), process.execPath, ...process.execArgv];
  const child = fork(import.meta.filename, { execPath: "nice", execArgv });
  const attacking = new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the attacker ended with ${code}`)));
  });
  child.send({ attack, target } satisfies Order);
  await attacking;
  let calls = 0;
  child.on("message", (told: number) => {
    calls = told;
  });
  return { calls: () => calls, stop: () => void child.kill("SIGKILL") };
}

async function carryOut({ attack: name, target }: Order): Promise<void> {
  const { callers, call, prepare }: Attack = attacks[name];
  if (prepare !== undefined) await prepare(unaryOf(target.port));
  let next = 0;
  let ended = 0;
  const again = async (): Promise<never> => {
    const unary = unaryOf(target.port);
    for (;;) {
      // What is refused is asked for again, as by one who does not care; but not in a loop that waits for nothing.
      await call({ unary, target }, next++).catch(() => sleep(1));
      ended++;
    }
  };
  const running = Array.from({ length: callers }, again);
  process.send?.(0);
  setInterval(() => process.send?.(ended), 100);
  await Promise.all(running);
}

if (process.argv[1] === import.meta.filename) process.once("message", (order) => void carryOut(order as Order));
