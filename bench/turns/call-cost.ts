/**
 * Compares the server CPU of a call of an episode with that of a Step of countdown T0, in interleaved pairs. Requests of
 * both have equal sizes.
 *
 * ```
 * node bench/turns/call-cost.ts [--environment games/mastermind] [--bytes 1024] [--pairs 9] [--seconds 2] [--json]
 * ```
 *
 * Episodes are played once to make the requests: 64 tasks, 16 samples each, 6 random calls each, half of them calls of
 * a tool and half marked answers. Then the server gets all first calls, all second calls, and so on, for ever.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import {
  BatchStepRequestSchema,
  EnvironmentService,
  StepRequestSchema,
} from "../../proto/gen/gradus/v1/environment_pb.js";
import type { Task } from "../../proto/gen/gradus/v1/task_pb.js";
import { spreadOf } from "../transport/measure.ts";
import { type LoadClient, type ServerProcess, startLoadClient, startOurs } from "../transport/processes.ts";
import { machineText } from "../transport/report.ts";

const { values: options } = parseArgs({
  options: {
    environment: { type: "string", multiple: true, default: ["games/mastermind", "games/maze"] },
    bytes: { type: "string", default: "1024" },
    pairs: { type: "string", default: "9" },
    seconds: { type: "string", default: "2" },
    json: { type: "boolean", default: false },
  },
});
const [TASKS, SAMPLES, CALLS] = [64, 16, 6];

type Scenario = "unary" | "batch";
const bytes = Number(options.bytes);

type Step = MessageInitShape<typeof StepRequestSchema>;
type Written = Pick<Step, "completion" | "toolCalls">;

/** Returns a random call: of the tool if `isTool`, else a marked answer. */
type Player = (rng: Rng, isTool: boolean) => Written;

const answering = (answer: string): Written => ({ completion: `<think></think><answer>${answer}</answer>` });
const calling = (name: string, given: object): Written => ({
  toolCalls: [{ id: "call00000", name, argumentsJson: JSON.stringify(given) }],
});

const players: Readonly<Record<string, { readonly tool: string; readonly play: Player }>> = {
  "games/mastermind": {
    tool: "guess",
    play(rng, isTool) {
      const code = Array.from({ length: 4 }, () => rng.int(1, 6));
      return isTool ? calling("guess", { code }) : answering(JSON.stringify(code));
    },
  },
  "games/maze": {
    tool: "move",
    play(rng, isTool) {
      const direction = rng.pick(["north", "east", "south", "west"]);
      return isTool ? calling("move", { direction }) : answering(direction);
    },
  },
};

async function tasksOf(client: Client<typeof EnvironmentService>, spec: object): Promise<readonly Task[]> {
  const seeds = Array.from({ length: TASKS }, (_, seed) => BigInt(seed));
  const { results } = await client.batchReset({ spec, seeds });
  return results.map(({ result }) => {
    if (result.case !== "task") throw new Error(`no task: ${result.value?.message ?? "unset"}`);
    return result.value;
  });
}

/** Returns the request with thoughts, so that it has the size that was asked for. */
function padded(step: Step): Step {
  const { completion = "" } = step;
  const sizeNow = toBinary(StepRequestSchema, create(StepRequestSchema, step)).length;
  const thoughts = "so we try this one first, because it splits the others best. ".repeat(Math.ceil(bytes / 60));
  const text = completion.startsWith("<think>") ? completion : `<think></think>${completion}`;
  const room = bytes - sizeNow - (text.length - completion.length) - 2;
  return { ...step, completion: text.replace("<think>", `<think>${thoughts.slice(0, Math.max(0, room))}`) };
}

/** Requests of many episodes: a list for each call, in which each sample has at most one. */
type Rounds = readonly (readonly Step[])[];

async function callsOf(client: Client<typeof EnvironmentService>, environment: string): Promise<Rounds> {
  const player = players[environment];
  if (player === undefined) throw new Error(`no player is known of ${environment}: add one`);
  const difficulty = { case: "level", value: environment === "games/mastermind" ? "classic" : "medium" };
  const tasks = await tasksOf(client, { environment, difficulty, tools: [player.tool], split: 1 });
  const rng = rngFor("bench/turns", environment);
  const made: Step[][] = [];
  let open = tasks.flatMap((task) => Array.from({ length: SAMPLES }, (_, i) => ({ i, id: task.taskId, task })));
  for (let call = 0; call < CALLS; call++) {
    const steps = open.map(({ i, id, task }) =>
      padded({ taskId: id, groupId: task.groupId, sampleIndex: i, ...player.play(rng, i % 2 === 0) }),
    );
    made.push(steps);
    const { groups } = await client.batchStep({ groups: steps.map(groupOf) });
    open = open.flatMap((episode, at) => {
      const result = groups[at]?.outcomes[0]?.result;
      return result?.case === "turn" ? [{ ...episode, id: result.value.taskId }] : [];
    });
  }
  return made;
}

async function countdownOf(client: Client<typeof EnvironmentService>): Promise<Rounds> {
  const tasks = await tasksOf(client, { environment: "countdown", difficulty: { case: "level", value: "T0" } });
  const rng = rngFor("bench/turns", "countdown");
  const stepOf = (n: number): Step => {
    const task = tasks[n % TASKS] as Task;
    const numbers = rng.shuffle((task.hints?.metadata["numbers"] ?? "").split(" "));
    const expression = numbers.reduce((left, right) => `(${left} ${rng.pick(["+", "-", "*"])} ${right})`);
    const sampleIndex = Math.floor(n / TASKS);
    return padded({ taskId: task.taskId, groupId: task.groupId, sampleIndex, ...answering(expression) });
  };
  return Array.from({ length: CALLS }, () => Array.from({ length: TASKS * SAMPLES }, (_, n) => stepOf(n)));
}

const encodeStep = (step: Step): Uint8Array => toBinary(StepRequestSchema, create(StepRequestSchema, step));

function groupOf({ groupId = "", taskId = "", sampleIndex = 0, completion = "", toolCalls = [] }: Step) {
  return { groupId, taskId, completions: [{ sampleIndex, text: completion, toolCalls }] };
}

/** Packs steps of one group each into messages of BatchStep. */
function batchesOf(rounds: Rounds): readonly Uint8Array[] {
  const groups = rounds.flatMap((steps) => [...Map.groupBy(steps, ({ groupId }) => groupId).values()]);
  return groups.map((group) => {
    const completions = group.map(({ completion = "", taskId = "", sampleIndex = 0, toolCalls = [] }) => {
      return { text: completion, taskId, sampleIndex, toolCalls };
    });
    const [{ groupId = "", taskId = "" }] = group as [Step];
    const isShared = completions.every((completion) => completion.taskId === taskId);
    const own = isShared ? completions.map((completion) => ({ ...completion, taskId: "" })) : completions;
    const wire = { groups: [{ groupId, taskId: isShared ? taskId : "", completions: own }] };
    return toBinary(BatchStepRequestSchema, create(BatchStepRequestSchema, wire));
  });
}

async function microsOf(scenario: Scenario, server: ServerProcess, client: LoadClient): Promise<number> {
  const before = server.cpuSeconds();
  const { requests } = await client.run(scenario, server.port, Number(options.seconds) * 1000);
  return ((server.cpuSeconds() - before) * 1e6) / requests;
}

async function measure(server: ServerProcess, scenario: Scenario, calls: LoadClient, steps: LoadClient) {
  for (const client of [calls, steps]) await client.run(scenario, server.port, 8_000);
  const pairs: { readonly call: number; readonly step: number }[] = [];
  for (let pair = 0; pair < Number(options.pairs); pair++) {
    if (pair % 2 === 0) {
      const call = await microsOf(scenario, server, calls);
      pairs.push({ call, step: await microsOf(scenario, server, steps) });
    } else {
      const step = await microsOf(scenario, server, steps);
      pairs.push({ call: await microsOf(scenario, server, calls), step });
    }
  }
  return {
    callMicros: spreadOf(pairs.map(({ call }) => call)).median,
    stepMicros: spreadOf(pairs.map(({ step }) => step)).median,
    ratio: spreadOf(pairs.map(({ call, step }) => call / step)),
  };
}

const folder = mkdtempSync(join(tmpdir(), "gradus-bench-"));
const loads = [startLoadClient(), startLoadClient()] as const;
const server = await startOurs(folder, [], ["--workers", "1"]);
try {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` });
  const client = createClient(EnvironmentService, transport);
  const [callLoad, stepLoad] = loads;
  const steps = await countdownOf(client);
  await stepLoad.prepare("unary", steps.flat().map(encodeStep));
  await stepLoad.prepare("batch", batchesOf(steps));
  const results = [];
  for (const environment of options.environment) {
    const calls = await callsOf(client, environment);
    await callLoad.prepare("unary", calls.flat().map(encodeStep));
    await callLoad.prepare("batch", batchesOf(calls));
    for (const scenario of ["unary", "batch"] as const)
      results.push({ environment, scenario, ...(await measure(server, scenario, callLoad, stepLoad)) });
  }
  const machine = machineText(cpus(), process.version);
  if (options.json) console.log(JSON.stringify({ machine, bytes, results }, undefined, 2));
  else {
    console.log(machine);
    for (const { environment, scenario, callMicros, stepMicros, ratio } of results)
      console.log(
        `${environment}, ${scenario}: ${ratio.median.toFixed(2)} times (${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}); µs of CPU a request: call ${callMicros.toFixed(1)}, countdown ${stepMicros.toFixed(1)}`,
      );
  }
} finally {
  for (const load of loads) load.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
