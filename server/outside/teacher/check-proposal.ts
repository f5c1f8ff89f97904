/**
 * Checks whether a teacher's proposal is a task of the wanted spec. Proposals are read, searched
 * and compared as the rows of a pool are.
 */
import type { Environment } from "../../../envs/environment.ts";
import { madeOf } from "../../../envs/origin.ts";
import { instanceHash, splitOf } from "../../../envs/splits.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import { type MadeTask, renderTask } from "../../tasks/task.ts";

/**
 * Reason for rejecting a proposal. It is no row of the environment, too large, a duplicate, or of
 * another split. Or the search finds no solution (no level), it is of another level, or it is
 * beyond PROPOSALS_MAX.
 */
export type Rejection = "malformed" | "too_large" | "duplicate" | "other_split" | "no_level" | "other_level" | "excess";

export type Examined =
  { readonly kind: "task"; readonly task: MadeTask } | { readonly kind: "rejected"; readonly why: Rejection };

const rejected = (why: Rejection): Examined => ({ kind: "rejected", why });

export function takesTeachers({ teacher, rows, inline }: Environment): boolean {
  return teacher !== undefined && rows !== undefined && inline !== undefined;
}

/**
 * Examines a proposal. The search is last because it takes longest. `isKnown` returns whether a
 * task has this hash.
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
