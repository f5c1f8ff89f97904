/** The requests of the benchmark: countdown tasks from a server's BatchReset, and completions of 4 KB for them. */
import { create, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Rng, rngFor } from "../../envs/lib/rng.ts";
import {
  BatchStepRequestSchema,
  EnvironmentService,
  StepRequestSchema,
  StreamStepsRequestSchema,
} from "../../proto/gen/gradus/v1/environment_pb.js";
import { AnswerFormat, type Task } from "../../proto/gen/gradus/v1/task_pb.js";

export const scenarios = ["batch", "unary", "stream"] as const;
export type Scenario = (typeof scenarios)[number];

/** Sizes of one request of a scenario. */
export const shapes = {
  batch: { groups: 16, completions: 16 },
  unary: { groups: 1, completions: 1 },
  stream: { groups: 1, completions: 16 },
} as const satisfies Readonly<Record<Scenario, { readonly groups: number; readonly completions: number }>>;

export const completionBytes = 4096;
export const taskCount = 1024;

export async function resetTasks(port: number): Promise<readonly Task[]> {
  const client = createClient(EnvironmentService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
  const seeds = Array.from({ length: taskCount }, (_, seed) => BigInt(seed));
  const spec = { environment: "countdown", answerFormat: AnswerFormat.THINK_ANSWER };
  const { results } = await client.batchReset({ spec, seeds });
  return results.map(({ result }) => {
    if (result.case !== "task") throw new Error(`no task: ${result.value?.message ?? "unset"}`);
    return result.value;
  });
}

/** Messages of a scenario, ready to be sent: each task is in one of them. */
export function requestsOf(scenario: Scenario, tasks: readonly Task[]): readonly Uint8Array[] {
  const { groups, completions } = shapes[scenario];
  const rng = rngFor("bench/transport", scenario);
  const made = tasks.map((task) => ({
    taskId: task.taskId,
    groupId: task.groupId,
    completions: Array.from({ length: completions }, (_, sampleIndex) => ({
      sampleIndex,
      text: completionFor(task, (sampleIndex + task.taskId.length) % 2 === 0, rng),
    })),
  }));
  if (scenario === "unary") {
    return made.map(({ taskId, groupId }, index) => {
      const completion = completionFor(tasks[index], index % 2 === 0, rng);
      return toBinary(StepRequestSchema, create(StepRequestSchema, { taskId, groupId, completion }));
    });
  }
  const messages = Array.from({ length: Math.floor(made.length / groups) }, (_, index) =>
    made.slice(index * groups, (index + 1) * groups),
  );
  return messages.map((of, index) =>
    scenario === "batch"
      ? toBinary(BatchStepRequestSchema, create(BatchStepRequestSchema, { groups: of }))
      : toBinary(StreamStepsRequestSchema, create(StreamStepsRequestSchema, { requestId: `${index}`, groups: of })),
  );
}

const words = "so we try first then combine add subtract times over gives not equal target number left with".split(" ");
const operators = ["+", "-", "*", "/"] as const;

/**
 * Text as a model writes it, 4 KB of UTF-8: thoughts with numbers, in one of four with signs beyond ASCII, and at its
 * end an answer, of which the malformed kind has a digit where an operator should be, or no closing mark.
 */
function completionFor(task: Task | undefined, malformed: boolean, rng: Rng): string {
  const numbers = (task?.hints?.metadata["numbers"] ?? "1 2 3").split(" ");
  const answer = malformed ? malformedAnswer(numbers, rng) : expression(numbers, rng);
  const head = "<think>";
  const tail = `</think>\n<answer>${answer}`;
  const sign = rng.int(0, 3) === 0 ? "×" : "*";
  let thoughts = "";
  let bytes = Buffer.byteLength(head + tail);
  for (;;) {
    const thought = rng.int(0, 5) === 0 ? `${rng.pick(numbers)} ${sign} ${rng.pick(numbers)}` : rng.pick(words);
    bytes += Buffer.byteLength(thought) + 1;
    if (bytes > completionBytes) break;
    thoughts += `${thought} `;
  }
  const text = head + thoughts + tail;
  return text + (malformed && rng.int(0, 1) === 0 ? "" : "</answer>");
}

/** An expression that uses each number once, seldom the right one. */
function expression(numbers: readonly string[], rng: Rng): string {
  return rng.shuffle(numbers).reduce((left, right) => `(${left} ${rng.pick(operators)} ${right})`);
}

function malformedAnswer(numbers: readonly string[], rng: Rng): string {
  return `${expression(numbers, rng)} ${rng.pick(numbers)}`;
}
