/**
 * What a sample of a run costs over the same sample outside of a run: CPU of the server's process, by turns.
 *
 *   node bench/runs/run.ts [--json] [--repetitions 15] [--characters 0] [--profile FOLDER] [--other FOLDER]
 *
 * Tasks are countdown's, an arm for each tier. Samples come as short completions, one group a message, over a stream for
 * each update batch, as many on their way as the SDKs have. What update batches cost is in bench/draws: before each
 * measurement, samples outside of runs are scored until V8 has collected what was left of drawing them. --characters:
 * so many more of thoughts in each completion. --other: of the server of another checkout.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WINDOW } from "../../clients/ts/src/defaults.ts";
import { CurriculumService } from "../../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService, StreamStepsRequestSchema } from "../../proto/gen/gradus/v1/environment_pb.js";
import type { Task } from "../../proto/gen/gradus/v1/task_pb.js";
import { spreadOf } from "../transport/measure.ts";
import { startOther, startOurs, type ServerProcess } from "../transport/processes.ts";
import { messageTemplate, openWire, type Template, type Wire } from "../transport/wire.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    repetitions: { type: "string", default: "15" },
    characters: { type: "string", default: "0" },
    profile: { type: "string" },
    other: { type: "string" },
  },
});
const repetitions = Number(options.repetitions);
const thoughts = "hm, ".repeat(Number(options.characters) / 4);
/** Not counted: compiled code, full caches. */
const WARM_UP = 5;

/** Times that 256 groups of 16 are scored before a measurement: some 100 MB of garbage, two collections of young garbage. */
const TURN_OVERS = 6;
/** Longer than what the server leaves to a quiet moment waits for one: snapshots, the copy of the store's log. */
const QUIET_MS = 150;

interface Shape {
  readonly prompts: number;
  readonly completions: number;
  /** Update batches in one measurement. */
  readonly batches: number;
}

const shapes: readonly Shape[] = [
  { prompts: 256, completions: 16, batches: 4 },
  { prompts: 16, completions: 4, batches: 64 },
];

const levels = ["T0", "T1", "T2", "T3"];
const specOf = (level: string) => ({ environment: "countdown", difficulty: { case: "level", value: level } as const });

interface Services {
  readonly server: ServerProcess;
  readonly environments: Client<typeof EnvironmentService>;
  readonly curriculum: Client<typeof CurriculumService>;
}

/** Microseconds of the server's CPU that some work takes. */
async function serverMicros({ server }: Services, work: () => Promise<unknown>): Promise<number> {
  const before = server.cpuSeconds();
  await work();
  return (server.cpuSeconds() - before) * 1e6;
}

/** Of pairs of measurements, each in microseconds for one unit. */
function report(name: string, pairs: readonly { readonly run: number; readonly plain: number }[]) {
  const counted = pairs.slice(WARM_UP);
  const rounded = (value: number): number => Number(value.toPrecision(3));
  const { lowerQuartile, median, upperQuartile } = spreadOf(counted.map(({ run, plain }) => run / plain));
  return {
    name,
    run: rounded(spreadOf(counted.map(({ run }) => run)).median),
    plain: rounded(spreadOf(counted.map(({ plain }) => plain)).median),
    ratio: rounded(median),
    quartiles: `${rounded(lowerQuartile)} – ${rounded(upperQuartile)}`,
  };
}

// Samples.

/** Of tasks that are not counted, far from those that are. */
const OTHER_SEEDS = 2 ** 40;

let nextCompletion = 0;

/** A group's completions, none twice, so that no cache and no retry helps. */
function messageOf({ taskId, groupId }: Task, count: number): Template {
  const completions = Array.from({ length: count }, (_, sampleIndex) => {
    const thought = `<think>try ${nextCompletion++}${thoughts}</think><answer>`;
    return { sampleIndex, text: `${thought}${sampleIndex} + ${1 + (nextCompletion % 90)}</answer>` };
  });
  const groups = [{ taskId, groupId, completions, numGenerations: count }];
  return messageTemplate(
    toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { requestId: "1", groups })),
  );
}

/** Sends messages over one stream, a window of them at a time, until each is answered. */
async function stream(wire: Wire, messages: readonly Template[]): Promise<void> {
  await new Promise<void>((resolve) => {
    let sent = 0;
    let answered = 0;
    const open = wire.open(
      "/gradus.v1.EnvironmentService/StreamSteps",
      () => {
        answered++;
        fill();
        if (answered === messages.length) open.end();
      },
      () => resolve(),
    );
    const fill = (): void => {
      while (sent < messages.length && sent - answered < WINDOW && open.send(messages[sent] as Template)) sent++;
    };
    fill();
  });
}

async function plainTasks({ environments }: Services, count: number, from: number): Promise<readonly Task[]> {
  const half = count / levels.length;
  const replies = await Promise.all(
    levels.map((level, i) => {
      const seeds = Array.from({ length: half }, (_, k) => BigInt(from + i * half + k));
      return environments.batchReset({ spec: specOf(level), seeds });
    }),
  );
  return replies.flatMap(({ results }) =>
    results.flatMap(({ result }) => (result.case === "task" ? [result.value] : [])),
  );
}

async function measureSamples(services: Services, shape: Shape) {
  const { prompts, completions, batches } = shape;
  const arms = levels.map((level) => ({ id: level, spec: specOf(level) }));
  const sizes = { numGenerations: completions, promptsPerUpdate: prompts };
  const lag = { case: "feedbackLag", value: batches } as const;
  const policy = { kind: { case: "bandit", value: {} } } as const;
  // A run each time that has no more update batches than are scored: else the feedback that closes one has the tasks of
  // the next made, shown and signed, which is the cost of a draw.
  const length = BigInt(prompts * batches);
  const tasksOf = async (repetition: number): Promise<readonly Task[]> => {
    const runId = `samples-${prompts}-${repetition}`;
    await services.curriculum.createRun({ runId, config: { arms, policy, lag, length, ...sizes } });
    const tasks: Task[] = [];
    for (let batch = 0; batch < batches; batch++) {
      const cursor = BigInt(batch * prompts);
      tasks.push(...(await services.curriculum.nextBatch({ runId, cursor })).tasks);
    }
    return tasks;
  };
  const count = prompts * batches;
  const others = await plainTasks(services, 256, OTHER_SEEDS);
  const settle = async (wire: Wire): Promise<void> => {
    for (let i = 0; i < TURN_OVERS; i++) {
      const messages = others.map((task) => messageOf(task, 16));
      await stream(wire, messages);
    }
    await sleep(QUIET_MS);
  };
  const cost = async (tasks: readonly Task[]): Promise<number> => {
    const messages = tasks.map((task) => messageOf(task, completions));
    const wire = await openWire(services.server.port);
    await settle(wire);
    const micros = await serverMicros(services, async () => {
      for (let from = 0; from < count; from += prompts) await stream(wire, messages.slice(from, from + prompts));
    });
    wire.close();
    return micros / (count * completions);
  };
  const pairs = [];
  for (let repetition = 0; repetition < WARM_UP + repetitions; repetition++) {
    const tasks = { run: await tasksOf(repetition), plain: await plainTasks(services, count, repetition * count) };
    const first = repetition % 2 === 0 ? "run" : "plain";
    const second = first === "run" ? "plain" : "run";
    const measured = { [first]: await cost(tasks[first]), [second]: await cost(tasks[second]) };
    pairs.push({ run: measured["run"] ?? NaN, plain: measured["plain"] ?? NaN });
  }
  return report(`a streamed sample, ${prompts} × ${completions}, µs`, pairs);
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const profiling = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
const server = await (options.other === undefined ? startOurs(folder, profiling) : startOther(folder, options.other));
try {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` });
  const services: Services = {
    server,
    environments: createClient(EnvironmentService, transport),
    curriculum: createClient(CurriculumService, transport),
  };
  const results = [];
  for (const shape of shapes) {
    results.push(await measureSamples(services, shape));
  }
  if (options.json) console.log(JSON.stringify(results, undefined, 2));
  else console.table(results);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
