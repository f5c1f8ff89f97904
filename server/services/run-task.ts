/** Tasks of a run in the contract's words: in its template, with their places in it; some before they are asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { TaskKey } from "../../envs/origin.ts";
import type { EvaluationBatch } from "../curriculum/runs/evaluating.ts";
import type { IssuedTask } from "../curriculum/batches.ts";
import { PROMPT_MARK, type PromptTemplate, type RunConfig } from "../curriculum/types.ts";
import type { Task } from "../gen/gradus/v1/task_pb.js";
import { type ArmPlace, presentTask } from "../tasks/present.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import { inStretches, nextTurn } from "../tasks/stretches.ts";
import type { MadeTask } from "../tasks/task.ts";
import type { MadeOf, PreparedTasks, ServiceDeps } from "./deps.ts";

/** Tasks between two looks whether they are still wanted. */
const CHUNK = 16;
/** What is made ahead is often wanted as soon as a draw is answered, and the bytes of that answer take some turns. */
const ANSWER_FIRST_MS = 30;

/** Makes the messages of tasks that will probably be asked for, in stretches, until they are no longer wanted. */
export async function prepareTasks(
  deps: ServiceDeps,
  runId: string,
  tasks: readonly IssuedTask<TaskKey>[],
  config: RunConfig<TaskSpec>,
  areWanted: () => boolean,
): Promise<void> {
  if (tasks.length > 0) await sleep(ANSWER_FIRST_MS, undefined, { ref: false });
  for (let i = 0; i < tasks.length && areWanted(); i += CHUNK) {
    await inStretches(tasks.slice(i, i + CHUNK), (task) => {
      if (deps.prepared?.has(runId, task, config) === false)
        deps.prepared.keep(runId, task, config, made(deps, runId, task, config));
    });
    // Whoever waits goes first.
    await nextTurn();
  }
}

/** A task that was drawn for training. */
export function issuedToWire(
  deps: ServiceDeps,
  runId: string,
  task: IssuedTask<TaskKey>,
  config: RunConfig<TaskSpec>,
): Task {
  return deps.prepared?.take(runId, task, config) ?? made(deps, runId, task, config);
}

function made(
  deps: ServiceDeps,
  runId: string,
  { incarnation, cursor, arm: index, key, epoch, batch, probability, numGenerations }: IssuedTask<TaskKey>,
  config: RunConfig<TaskSpec>,
): Task {
  const { arms, feedbackSource } = config;
  const arm = arms[index];
  if (arm === undefined) throw new Error(`a task is of arm ${index}, and the run has ${arms.length}`);
  const feedback = feedbackSource === "step" && arm.spec.split === "train";
  const token = { runId, incarnation, arm: index, cursor, numGenerations, feedback };
  const place = { ...token, armId: arm.id, epoch, batch, probability, klCoefficient: arm.klCoefficient };
  return shown(deps, arm.spec, key, config, place);
}

/** A task of an evaluation arm. */
export function evaluationToWire(
  deps: ServiceDeps,
  runId: string,
  { ordinal, key }: EvaluationBatch<TaskSpec, TaskKey>["tasks"][number],
  { config, arm: index, round, incarnation, epoch }: EvaluationBatch<TaskSpec, TaskKey>,
): Task {
  const arm = config.evaluationArms[index];
  if (arm === undefined) throw new Error(`a task is of evaluation arm ${index} of ${config.evaluationArms.length}`);
  const token = { runId, incarnation, arm: index, cursor: ordinal, evaluationRound: round, feedback: true };
  const place = { armId: arm.id, epoch, batch: 0, probability: 0 };
  return shown(deps, arm.spec, key, config, { ...token, ...place, numGenerations: arm.numGenerations });
}

function shown(
  deps: ServiceDeps,
  spec: TaskSpec,
  key: TaskKey,
  { promptTemplate }: RunConfig<TaskSpec>,
  place: ArmPlace,
): Task {
  const made = deps.maker.again(spec, key);
  const templated = promptTemplate === undefined ? made : { ...made, prompt: inTemplate(made.prompt, promptTemplate) };
  return presentTask(deps, spec, templated, place);
}

/** A prompt with the text around it that the run gives. */
function inTemplate(prompt: MadeTask["prompt"], { system, user }: PromptTemplate): MadeTask["prompt"] {
  // Not by `replace`, to which "$&" in a prompt would mean something.
  const around = user === "" ? undefined : user.split(PROMPT_MARK);
  const last = prompt.findLastIndex(({ role }) => role === "user");
  const messages = prompt.map((message, i) =>
    around !== undefined && i === last ? { ...message, content: around.join(message.content) } : message,
  );
  if (system === undefined) return messages;
  return [{ role: "system", content: system }, ...messages.filter(({ role }) => role !== "system")];
}

// Messages that are kept until they are asked for.

/** Of all that are kept: some thousand tasks, and as many bytes again where they are written ahead too. */
const KEPT_CHARACTERS_MAX = 16 * 1024 ** 2;
/** About what a message takes beside its prompt. */
const MESSAGE_CHARACTERS = 4096;

const fields = ["cursor", "arm", "incarnation", "epoch", "batch", "probability", "numGenerations"] as const;

function isSame([runId, task, config]: MadeOf, [otherId, other, otherConfig]: MadeOf): boolean {
  return runId === otherId && config === otherConfig && fields.every((name) => task[name] === other[name]);
}

/** `write` is told of each message that is kept, which from then on does not change. */
export function createPreparedTasks(write: (message: Task) => void = () => undefined): PreparedTasks {
  // By the key, which is this very task's: of an equal one made again there is nothing.
  const kept = new LRUCache<TaskKey, { readonly of: MadeOf; readonly message: Task }>({
    maxSize: KEPT_CHARACTERS_MAX,
    sizeCalculation: ({ message: { prompt } }) =>
      prompt.reduce((sum, { content }) => sum + content.length, MESSAGE_CHARACTERS),
  });
  const find = (of: MadeOf) => {
    const found = kept.get(of[1].key);
    return found !== undefined && isSame(found.of, of) ? found.message : undefined;
  };
  return {
    has: (...of) => find(of) !== undefined,
    keep(runId, task, config, message) {
      kept.set(task.key, { of: [runId, task, config], message });
      write(message);
    },
    take(...of) {
      const message = find(of);
      kept.delete(of[1].key);
      return message;
    },
  };
}
