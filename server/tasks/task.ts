/** Task that was made. It has a key, which the server stores, and the prompt and metadata, which the trainer sees. */
import type { Environment } from "../../envs/environment.ts";
import type { ChatMessage } from "../../envs/prompt.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { callsInstruction } from "../../envs/turns/episode.ts";
import type { TaskSpec } from "./spec.ts";

export interface MadeTask {
  readonly key: TaskKey;
  readonly prompt: readonly ChatMessage[];
  /** Information for the trainer that does not reveal the answer. */
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * Bytes of a small instance, as a string with one character for each byte, because sending a string from a worker
   * thread costs a third of sending bytes.
   */
  readonly inline?: string;
  /**
   * Set if so few instances of this kind exist that all splits share them. Unset: the instance belongs to one split.
   */
  readonly inEverySplit?: true;
  /**
   * Objective value of the answer that the environment's heuristic finds. Unset: it was not requested, or there is
   * none.
   */
  readonly heuristic?: number;
}

/** Result of making a task from one seed. */
export type MadeResult =
  | { readonly kind: "made"; readonly task: MadeTask }
  /** No instance for the seed can be made, and trying again would not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/** Result of making one task, which may also fail for now or be cancelled. */
export type MakeResult =
  | MadeResult
  | { readonly kind: "overloaded"; readonly retryDelayMs: number }
  | { readonly kind: "timeout"; readonly message: string }
  /** The task cannot be made now, e.g. because a teacher does not answer. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  | { readonly kind: "cancelled" };

/**
 * Renders a task as soon as its instance is made, so that the instance is not needed again before an answer arrives.
 */
export function renderTask<Instance>(
  environment: Environment<Instance>,
  { answerFormat, calls, tools = [] }: Pick<TaskSpec, "answerFormat" | "calls" | "tools">,
  key: TaskKey,
  instance: Instance,
): MadeTask {
  const rendered = environment.render(instance, answerFormat);
  const prompt =
    calls === undefined
      ? rendered
      : withInstruction(rendered, callsInstruction(calls, tools, environment.turns?.answersMax));
  const metadata = environment.metadata(instance);
  const bytes = inlineOf(environment, key, instance);
  const isShared = environment.inEverySplit?.(instance) === true;
  const made: MadeTask = { key, prompt, metadata, ...(isShared && { inEverySplit: true }) };
  return bytes === undefined ? made : { ...made, inline: String.fromCharCode(...bytes) };
}

/** Returns the bytes of the instance that travel in the task id, if it is small. */
export function inlineOf<Instance>(
  { asked, inline }: Environment<Instance>,
  { origin }: TaskKey,
  instance: Instance,
): Uint8Array | undefined {
  // The bytes are left out if the task's origin already contains the whole instance.
  return origin.kind === "inline" ? undefined : (asked?.carry(instance) ?? inline?.encode(instance));
}

/** Returns the prompt with an instruction at the end of its last message. */
function withInstruction(prompt: readonly ChatMessage[], instruction: string): readonly ChatMessage[] {
  return prompt.map((message, i) =>
    i < prompt.length - 1 ? message : { ...message, content: `${message.content}\n\n${instruction}` },
  );
}

/**
 * Returns the task with the objective value that its environment's heuristic reaches. It is returned unchanged if the
 * environment has no heuristic, or the heuristic finds no answer.
 */
export function withHeuristic<Instance>(
  environment: Environment<Instance>,
  task: MadeTask,
  instance: Instance,
): MadeTask {
  const answer = environment.solver?.heuristic?.(instance);
  if (answer === undefined || environment.resource !== undefined) return task;
  const facts = environment.verify(instance, answer);
  if (facts.kind !== "feasible" || facts.objective === undefined)
    throw new Error(`bug: the heuristic of ${environment.id} gave an answer that is not feasible`);
  return { ...task, heuristic: facts.objective };
}
