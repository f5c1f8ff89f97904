/** Converts tasks of a run to protobuf messages, with the run's prompt template and each task's arm and cursor. */
import { isDeepStrictEqual } from "node:util";
import { toBinary } from "@bufbuild/protobuf";
import type { TaskKey } from "../../../envs/origin.ts";
import type { EvaluationBatch } from "../../runs/next-evaluation.ts";
import type { IssuedTask } from "../../curriculum/batches.ts";
import { PROMPT_MARK, type PromptTemplate, type RunConfig } from "../../curriculum/types.ts";
import { type Task, TaskSchema } from "../../../proto/gen/gradus/v1/task_pb.js";
import { encodedAhead } from "../../base/rpc.ts";
import { type ArmPlace, presentTask } from "../write-task.ts";
import { levelOf } from "../../curriculum/growth.ts";
import { specAt, type TaskSpec } from "../../tasks/spec.ts";
import type { MadeTask } from "../../tasks/task.ts";
import type { StoredTask } from "../../tasks/making/make.ts";
import { mapInSlices } from "../../base/time-slices.ts";
import type { ServiceDeps } from "../deps.ts";
import { okOrThrow } from "../to-rpc-error.ts";

/** Converts tasks that were drawn for training to protobuf messages, in order. */
export async function issuedToWire(
  deps: ServiceDeps,
  runId: string,
  tasks: readonly IssuedTask<TaskKey>[],
  config: RunConfig<TaskSpec>,
): Promise<Task[]> {
  return shown(deps, placed(runId, tasks, config), config);
}

/** Message that was made before its task was issued, and what it was made from. */
interface Ahead {
  readonly wanted: PlacedTask;
  readonly template: PromptTemplate | undefined;
  readonly message: Task;
}

/** Messages of tasks that the next draws will probably issue. */
const messagesAhead = new WeakMap<TaskKey, Ahead>();

/** Makes the messages of tasks that the next draw will probably issue, and their bytes. */
export async function presentAhead(
  deps: ServiceDeps,
  runId: string,
  tasks: readonly IssuedTask<TaskKey>[],
  config: RunConfig<TaskSpec>,
): Promise<void> {
  const places = placed(runId, tasks, config);
  const made = await deps.maker.again(places);
  // A task that cannot be made again is refused by NextBatch.
  if (made.kind !== "ok") return;
  const { promptTemplate: template } = config;
  await mapInSlices(places, (wanted, i) => {
    const task = made.value[i] as MadeTask;
    deps.maker.keep(task);
    const message = messageOf(deps, wanted, task, template);
    encodedAhead.set(message, toBinary(TaskSchema, message));
    messagesAhead.set(task.key, { wanted, template, message });
  });
}

/** Returns the message that was made ahead for exactly this task, and forgets it. Undefined: there is none. */
function takeAhead(wanted: PlacedTask, template: PromptTemplate | undefined): Task | undefined {
  const ahead = messagesAhead.get(wanted.key);
  messagesAhead.delete(wanted.key);
  const isSame = ahead?.template === template && isDeepStrictEqual(ahead?.wanted, wanted);
  return isSame ? ahead?.message : undefined;
}

function placed(
  runId: string,
  tasks: readonly IssuedTask<TaskKey>[],
  { arms, feedbackSource }: RunConfig<TaskSpec>,
): readonly PlacedTask[] {
  return tasks.map(({ arm: index, ordinal, key, epoch, batch, probability, ...task }) => {
    const { incarnation, cursor, numGenerations } = task;
    const arm = arms[index];
    if (arm === undefined) throw new Error(`bug: a task is of arm ${index}, but the run has only ${arms.length}`);
    const { klCoefficient } = arm;
    const spec = specAt(arm.spec, levelOf(arm, ordinal));
    const feedback = feedbackSource === "step" && spec.split === "train";
    const token = { runId, incarnation, arm: index, cursor, numGenerations, feedback };
    return { spec, key, place: { ...token, armId: arm.id, epoch, batch, probability, klCoefficient } };
  });
}

/** Converts tasks of an evaluation arm to protobuf messages, in order. */
export function evaluationToWire(
  deps: ServiceDeps,
  runId: string,
  { tasks, config, arm: index, round, incarnation, epoch }: EvaluationBatch<TaskSpec, TaskKey>,
): Promise<Task[]> {
  const arm = config.evaluationArms[index];
  if (arm === undefined)
    throw new Error(`bug: a task is of evaluation arm ${index}, but the run has only ${config.evaluationArms.length}`);
  const { id: armId, spec, numGenerations } = arm;
  const token = { runId, incarnation, arm: index, evaluationRound: round, feedback: true, numGenerations };
  const place = { ...token, armId, epoch, batch: 0, probability: 0 };
  return shown(
    deps,
    tasks.map(({ ordinal, key }) => ({ spec, key, place: { ...place, cursor: ordinal } })),
    config,
  );
}

/**
 * Makes an issued task again from its id, and converts it to the protobuf message Task. Undefined: this server cannot
 * decrypt the id, or no run issued the task.
 */
export async function keptToWire(
  deps: ServiceDeps,
  taskId: string,
  { id: armId, spec }: { readonly id: string; readonly spec: TaskSpec },
  config: RunConfig<TaskSpec>,
): Promise<Task | undefined> {
  const task = deps.scorer.open(taskId);
  if (task.kind === "none" || task.token.run === undefined) return undefined;
  const { key, run } = task.token;
  const place = { ...run, armId, epoch: 0, batch: 0, probability: 0 };
  const [made] = await shown(deps, [{ spec, key, place }], config);
  return made;
}

interface PlacedTask extends StoredTask {
  readonly place: ArmPlace;
}

async function shown(
  deps: ServiceDeps,
  tasks: readonly PlacedTask[],
  { promptTemplate }: RunConfig<TaskSpec>,
): Promise<Task[]> {
  const ahead = tasks.map((wanted) => takeAhead(wanted, promptTemplate));
  const missing = tasks.filter((_, i) => ahead[i] === undefined);
  const made = okOrThrow(await deps.maker.again(missing)).values();
  return mapInSlices(tasks, (wanted, i) => {
    return ahead[i] ?? messageOf(deps, wanted, made.next().value as MadeTask, promptTemplate);
  });
}

function messageOf(
  deps: ServiceDeps,
  { spec, place }: PlacedTask,
  task: MadeTask,
  template: PromptTemplate | undefined,
): Task {
  const templated = template === undefined ? task : { ...task, prompt: inTemplate(task.prompt, template) };
  return presentTask(deps, spec, templated, place);
}

/**
 * Applies the run's prompt template: sets the system message, and puts the template's user text around the last message
 * of the user.
 */
function inTemplate(prompt: MadeTask["prompt"], { system, user }: PromptTemplate): MadeTask["prompt"] {
  // The text is split and joined, because `replace` would interpret "$&" in a prompt.
  const around = user === "" ? undefined : user.split(PROMPT_MARK);
  const last = prompt.findLastIndex(({ role }) => role === "user");
  const messages = prompt.map((message, i) =>
    around !== undefined && i === last ? { ...message, content: around.join(message.content) } : message,
  );
  if (system === undefined) return messages;
  return [{ role: "system", content: system }, ...messages.filter(({ role }) => role !== "system")];
}
