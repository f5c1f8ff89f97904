/** A completion comes in: it is scored, and kept if it is the first of its sample. */
import { isDeepStrictEqual } from "node:util";
import type { TaskFamily } from "../tasks/family.ts";
import type { OpenTask, SampleResult } from "../tasks/scorer.ts";
import type { Ticket } from "../tasks/ticket.ts";
import type { Draft } from "../workers/jobs.ts";
import type { Context, OpenEvaluation } from "./evaluations.ts";
import { factsOf, isFinal } from "./facts.ts";
import { familyOf } from "./pending.ts";
import type { Refusal, Result } from "./results.ts";
import { resultOf } from "./samples.ts";
import { type Suite, partOf, seedOf } from "./suite.ts";

export interface Submission {
  readonly evaluationId: string;
  readonly taskId: string;
  readonly index: number;
  readonly completion: string;
}

export interface Submitted {
  /** Of the completion that came first. */
  readonly result: SampleResult;
  /** not_recorded: there is no reward yet, and a later attempt may have one. */
  readonly status: "recorded" | "duplicate" | "conflicting_completion" | "not_recorded";
}

export async function submit(
  context: Context,
  open: OpenEvaluation,
  { taskId, index, completion }: Submission,
): Promise<Result<Submitted>> {
  if (index >= open.samplesPerTask) {
    const message = `it is ${index}, and the evaluation has ${open.samplesPerTask} samples of each task, from 0`;
    return { kind: "invalid", field: "sample_index", message };
  }
  const task = context.scorer.open(taskId);
  if (task.kind === "none") return notOfTheSuite(task.detail.replace(/^task_id:? /, ""));
  const ordinal = await ordinalOf(context, open, task);
  if (ordinal === undefined) return notOfTheSuite("it is not a task of this evaluation, in its answer format");
  const result = context.scorer.score(task, completion);
  if (!isFinal(result)) return { kind: "ok", value: { result, status: "not_recorded" } };
  const facts = JSON.stringify(factsOf(result.kind === "score" ? result.score : result));
  const sample = { ordinal, index, completion, facts, result: JSON.stringify(result) };
  const added = await context.store.addSample(open.key, sample);
  if (added.kind === "added") return { kind: "ok", value: { result, status: "recorded" } };
  const status = added.sample.completion === completion ? "duplicate" : "conflicting_completion";
  return { kind: "ok", value: { result: resultOf(added.sample), status } };
}

function notOfTheSuite(message: string): Refusal {
  return { kind: "invalid", field: "task_id", message };
}

/** Which task of the suite this is: the one of its seed, if it is the same in all else. */
async function ordinalOf(context: Context, open: OpenEvaluation, task: OpenTask): Promise<number | undefined> {
  const { origin, environment } = task.ticket;
  if (origin.kind !== "generated") return undefined;
  const ordinal = ordinalsOf(open.of).get(`${environment}/${origin.seed}`);
  if (ordinal === undefined) return undefined;
  const [known] = await context.tasks.made(open.of, ordinal, ordinal + 1);
  if (known === undefined) return undefined;
  return isOf(task.ticket, familyOf(open, known), known.draft) ? ordinal : undefined;
}

/** Whether a task id is one that the evaluation gave: a task by the same seed may differ in all the rest. */
function isOf(ticket: Ticket, family: TaskFamily, { origin }: Draft): boolean {
  const chosen = ({ version, level, split, answerFormat, rewardScheme }: TaskFamily | Ticket) => {
    return { version, level, split, answerFormat, rewardScheme };
  };
  const plain = ticket.run === undefined && Object.keys(ticket.rewardParameters).length === 0;
  return plain && isDeepStrictEqual(ticket.origin, origin) && isDeepStrictEqual(chosen(ticket), chosen(family));
}

/** Made once for each suite, of which there are few. */
const ordinals = new WeakMap<Suite, ReadonlyMap<string, number>>();

function ordinalsOf(suite: Suite): ReadonlyMap<string, number> {
  const known = ordinals.get(suite);
  if (known !== undefined) return known;
  const made = new Map(
    Array.from({ length: suite.tasks }, (_, ordinal) => {
      const part = partOf(suite, ordinal);
      return [`${part.environment}/${seedOf(suite, part, ordinal)}`, ordinal] as const;
    }),
  );
  ordinals.set(suite, made);
  return made;
}
