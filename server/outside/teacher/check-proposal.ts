/**
 * Checks whether a task that a teacher model proposed is of the wanted environment, level and split. The proposal has
 * the form of a row of a data pool.
 */
import type { Environment } from "../../../envs/environment.ts";
import { madeOf } from "../../../envs/origin.ts";
import { instanceHash, splitOf } from "../../../envs/splits.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { type MadeTask, renderTask } from "../../tasks/task.ts";

/**
 * Why a proposal is rejected. "malformed": it is not a row of the environment. "duplicate": it was accepted before.
 * "no_level": the solver cannot determine its level. "other_split" and "other_level": it is not of the wanted split or
 * level. "excess": the reply has too many proposals.
 */
export type Rejection = "malformed" | "too_large" | "duplicate" | "other_split" | "no_level" | "other_level" | "excess";

export type Examined =
  { readonly kind: "task"; readonly task: MadeTask } | { readonly kind: "rejected"; readonly why: Rejection };

const rejected = (why: Rejection): Examined => ({ kind: "rejected", why });

export function takesTeachers({ teacher, rows, inline }: Environment): boolean {
  return teacher !== undefined && rows !== undefined && inline !== undefined;
}

/**
 * Reads a proposal and checks it. The solver runs last, because it takes longest. `isKnown` returns whether the task
 * with this hash was accepted before.
 */
export function examine(
  environment: Environment,
  spec: Pick<TaskSpec, "split" | "level" | "answerFormat">,
  row: unknown,
  isKnown: (hash: string) => boolean,
): Examined {
  const { rows, inline } = environment;
  const { split, level } = spec;
  const read = rows?.read(row);
  if (rows === undefined || read?.kind !== "answer") return rejected("malformed");
  const instance = read.answer;
  const bytes = inline?.encode(instance);
  if (bytes === undefined) return rejected("too_large");
  const hash = instanceHash(environment, instance);
  if (isKnown(hash)) return rejected("duplicate");
  if (splitOf(environment, instance) !== split) return rejected("other_split");
  const found = rows.levelOf(instance);
  if (found === undefined) return rejected("no_level");
  if (found !== level) return rejected("other_level");
  const made = madeOf(environment, { kind: "inline", instance: new Uint8Array(bytes) }, hash, instance);
  if (made.kind !== "made") return rejected("no_level");
  return { kind: "task", task: renderTask(environment, spec, made.key, instance) };
}
