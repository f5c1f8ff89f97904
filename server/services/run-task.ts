/** Tasks of a run in the contract's words: in its template, with their places in it. */
import type { TaskKey } from "../../envs/origin.ts";
import type { EvaluationBatch } from "../curriculum/runs/evaluating.ts";
import type { IssuedTask } from "../curriculum/core/batches.ts";
import { PROMPT_MARK, type PromptTemplate, type RunConfig } from "../curriculum/core/types.ts";
import type { Task } from "../gen/gradus/v1/task_pb.js";
import { type ArmPlace, presentTask } from "./present.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { MadeTask } from "../tasks/task.ts";
import type { ServiceDeps } from "./deps.ts";

/** A task that was drawn for training. */
export function issuedToWire(
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

/** A task that was given out before, as far as its id tells of it; undefined: this server cannot make it. */
export function keptToWire(
  deps: ServiceDeps,
  taskId: string,
  { id: armId, spec }: { readonly id: string; readonly spec: TaskSpec },
  config: RunConfig<TaskSpec>,
): Task | undefined {
  const task = deps.scorer.open(taskId);
  if (task.kind === "none" || task.token.run === undefined) return undefined;
  const { key, run } = task.token;
  return shown(deps, spec, key, config, { ...run, armId, epoch: 0, batch: 0, probability: 0 });
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
