/** A made task: the part that is stored, and the part that a trainer sees. */
import type { Environment } from "../../envs/environment.ts";
import type { AnswerFormat, ChatMessage } from "../../envs/prompt.ts";
import type { TaskKey } from "../../envs/origin.ts";

export interface MadeTask {
  readonly key: TaskKey;
  readonly prompt: readonly ChatMessage[];
  /** Facts for the trainer that do not reveal the answer. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Instance, if it is small: one character for each byte, because threads pass these on at a third of the cost. */
  readonly inline?: string;
  /** Whether there are so few similar instances that they lie in every split. Unset: the instance lies in one split. */
  readonly inEverySplit?: true;
  /** Objective of the heuristic's answer, if it was requested and there is one. */
  readonly heuristic?: number;
}

/** Result of a seed. */
export type MadeResult =
  | { readonly kind: "made"; readonly task: MadeTask }
  /** There is no such instance, and a retry will not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/** Result of making one task. */
export type MakeResult =
  | MadeResult
  | { readonly kind: "overloaded"; readonly retryDelayMs: number }
  | { readonly kind: "timeout"; readonly message: string }
  /** A teacher gives no task now. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  | { readonly kind: "cancelled" };

/**
 * Renders a task where its instance is available, so that the instance is not needed again before an answer arrives.
 */
export function renderTask<Instance>(
  environment: Environment<Instance>,
  format: AnswerFormat,
  key: TaskKey,
  instance: Instance,
): MadeTask {
  const prompt = environment.render(instance, format);
  const metadata = environment.metadata(instance);
  // An inline instance is already in its origin.
  const isWhole = key.origin.kind === "inline";
  const bytes = isWhole ? undefined : (environment.asked?.carry(instance) ?? environment.inline?.encode(instance));
  const isShared = environment.inEverySplit?.(instance) === true;
  const made: MadeTask = { key, prompt, metadata, ...(isShared && { inEverySplit: true }) };
  return bytes === undefined ? made : { ...made, inline: String.fromCharCode(...bytes) };
}

/**
 * Returns the task with the objective of its environment's heuristic. It is unchanged if there is no heuristic, or if
 * it finds no answer.
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
