/** A task as it was made: what is kept of it, and what a trainer is shown. */
import type { Environment } from "../../envs/environment.ts";
import type { AnswerFormat, ChatMessage } from "../../envs/prompt.ts";
import type { TaskKey } from "../../envs/origin.ts";

export interface MadeTask {
  readonly key: TaskKey;
  readonly prompt: readonly ChatMessage[];
  /** Facts for the trainer that give no answer away. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The instance, where it is small: a character for each byte, for threads hand these on at a third of the cost. */
  readonly inline?: string;
  /** There are so few instances like it that they lie in every split; left out: it lies in one. */
  readonly inEverySplit?: true;
  /** Objective of the heuristic's answer, where that was asked for and there is one. */
  readonly heuristic?: number;
}

/** What a seed has. */
export type MadeResult =
  | { readonly kind: "made"; readonly task: MadeTask }
  /** There is no such instance, and asking again will not help. */
  | { readonly kind: "exhausted"; readonly message: string };

/** What making one task came to. */
export type MakeResult =
  | MadeResult
  | { readonly kind: "overloaded"; readonly retryDelayMs: number }
  | { readonly kind: "timeout"; readonly message: string }
  /** A teacher gives none now. */
  | { readonly kind: "unavailable"; readonly message: string; readonly retryDelayMs: number }
  | { readonly kind: "cancelled" };

/** Rendered where its instance is at hand, so that nobody needs it again before an answer comes. */
export function renderTask<Instance>(
  environment: Environment<Instance>,
  format: AnswerFormat,
  key: TaskKey,
  instance: Instance,
): MadeTask {
  const prompt = environment.render(instance, format);
  const metadata = environment.metadata(instance);
  // What is inline stands in its origin.
  const isWhole = key.origin.kind === "inline";
  const bytes = isWhole ? undefined : (environment.asked?.carry(instance) ?? environment.inline?.encode(instance));
  const isShared = environment.inEverySplit?.(instance) === true;
  const made: MadeTask = { key, prompt, metadata, ...(isShared && { inEverySplit: true }) };
  return bytes === undefined ? made : { ...made, inline: String.fromCharCode(...bytes) };
}

/** The task with what its environment's heuristic attains; as it is where there is no heuristic, or it finds no answer. */
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
