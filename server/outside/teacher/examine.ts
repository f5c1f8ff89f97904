/** Whether what a teacher proposed is a task of what was asked for: read, searched and told apart as a pool's rows are. */
import type { Environment } from "../../../envs/environment.ts";
import { madeOf } from "../../../envs/origin.ts";
import { instanceHash, splitOf } from "../../../envs/splits.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { type MadeTask, renderTask } from "../../tasks/task.ts";

/**
 * Why a proposal is no task: not a row of the environment, too large to travel, there was the same before, of another
 * split, of no level (so it is where the search finds no solution), or of another one.
 */
export type Rejection = "malformed" | "too_large" | "duplicate" | "other_split" | "no_level" | "other_level" | "excess";

export type Examined =
  { readonly kind: "task"; readonly task: MadeTask } | { readonly kind: "rejected"; readonly why: Rejection };

const rejected = (why: Rejection): Examined => ({ kind: "rejected", why });

export function takesTeachers({ teacher, rows, inline }: Environment): boolean {
  return teacher !== undefined && rows !== undefined && inline !== undefined;
}

/** The search comes last, for it takes longest. `isKnown`: whether there was a task of this hash. */
export function examine(
  environment: Environment,
  { split, level, answerFormat }: TaskSpec,
  row: unknown,
  isKnown: (hash: string) => boolean,
): Examined {
  const { rows, inline } = environment;
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
  return { kind: "task", task: renderTask(environment, answerFormat, made.key, instance) };
}
