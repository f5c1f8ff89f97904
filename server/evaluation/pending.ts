/** Tasks whose completions are missing. */
import type { TaskFamily } from "../tasks/family.ts";
import { type PresentedTask, presentTask } from "../tasks/present.ts";
import type { Context, OpenEvaluation, PendingPage, PendingTask } from "./evaluations.ts";
import type { Result } from "./results.ts";
import type { SuiteTask } from "./tasks.ts";

/** Tasks looked at in one go: enough to be quick where most are done, few enough to make in one call. */
const STRETCH = 200;

/** The family of a task in an evaluation: the suite's, with the evaluation's answer format. */
export function familyOf({ answerFormat }: OpenEvaluation, { part }: SuiteTask): TaskFamily {
  return answerFormat === undefined ? part.family : { ...part.family, answerFormat };
}

export function present(context: Context, open: OpenEvaluation, task: SuiteTask): PresentedTask {
  return presentTask(context, familyOf(open, task), task.draft);
}

export async function findPending(
  context: Context,
  open: OpenEvaluation,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Result<PendingPage>> {
  const found: { readonly ordinal: number; readonly indices: readonly number[] }[] = [];
  // One more than asked for, to know whether another page follows.
  for (let from = after + 1; from < open.of.tasks && found.length <= limit; from += STRETCH)
    found.push(...(await missingIn(context, open, from, Math.min(open.of.tasks, from + STRETCH))));
  const shown = found.slice(0, limit);
  const tasks: PendingTask[] = [];
  for (const { from, to } of runsOf(shown.map(({ ordinal }) => ordinal))) {
    const made = await context.tasks.make(open.of, from, to, signal);
    if (made.kind !== "ok") return made;
    for (const task of made.value) {
      const indices = shown.find(({ ordinal }) => ordinal === task.ordinal)?.indices ?? [];
      tasks.push({ ordinal: task.ordinal, task: present(context, open, task), indices });
    }
  }
  return { kind: "ok", value: { tasks, next: found.length > limit ? shown.at(-1)?.ordinal : undefined } };
}

async function missingIn({ store }: Context, open: OpenEvaluation, from: number, to: number) {
  const there = Map.groupBy(await store.places(open.key, from, to), ({ ordinal }) => ordinal);
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((ordinal) => {
    const scored = new Set(there.get(ordinal)?.map(({ index }) => index));
    const indices = Array.from({ length: open.samplesPerTask }, (_, i) => i).filter((index) => !scored.has(index));
    return indices.length === 0 ? [] : [{ ordinal, indices }];
  });
}

/** Consecutive numbers as half-open ranges. */
function runsOf(ordinals: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (const ordinal of ordinals) {
    const last = runs.at(-1);
    if (last?.to === ordinal) last.to++;
    else runs.push({ from: ordinal, to: ordinal + 1 });
  }
  return runs;
}
