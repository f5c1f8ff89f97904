/**
 * Takes completions that clients submit to an evaluation. A completion is scored, or it plays calls of an episode. It
 * is stored if it is the first one that ends its sample.
 */
import { isDeepStrictEqual } from "node:util";
import type { TaskKey } from "../../envs/origin.ts";
import type { Refusal, Result } from "../curriculum/types.ts";
import type { Conversation } from "../samples/conversation.ts";
import type { StoredSample } from "../stores/evaluation-store.ts";
import type { Caller } from "../tasks/scoring/async-scorer.ts";
import type { CompletionForm, PlayedCompletion } from "../tasks/scoring/play-turn.ts";
import { isFinal, type SampleResult, type StepResult } from "../tasks/scoring/results.ts";
import { scoreAlone } from "../tasks/scoring/score-alone.ts";
import type { OpenTask, OpenToken } from "../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import type { Context, OpenEvaluation, StoredResult } from "./evaluation.ts";
import { partOf, seedOf, type Suite } from "./open-suite.ts";
import { factsOf } from "./report.ts";
import { specOf } from "./evaluation-samples.ts";

export interface Submission {
  readonly evaluationId: string;
  readonly taskId: string;
  readonly completion: PlayedCompletion;
  readonly form: CompletionForm;
  /** Messages of the episode, which are stored with its last completion for people to read. */
  readonly conversation: Conversation;
}

export type Submitted =
  /** The completion was a call of an episode that is not over yet. Nothing was stored. */
  | { readonly kind: "turn"; readonly result: StepResult }
  /** The completion has no reward yet, or the task needs no further sample. `detail` says which, and what to do. */
  | { readonly kind: "not_recorded"; readonly result: SampleResult; readonly detail: string }
  | {
      readonly kind: "recorded" | "duplicate" | "conflicting_completion";
      /** Result of the first completion of the sample, even if another completion was submitted now. */
      readonly result: SampleResult;
      /**
       * Index that the server assigned to the sample with the client's sample_key. Undefined: the sample has no key.
       */
      readonly index: number | undefined;
    };

export async function submit(
  context: Context,
  open: OpenEvaluation,
  { taskId, completion, form, conversation }: Submission,
  caller: Caller,
  stepAside: () => void,
): Promise<Result<Submitted>> {
  const { sampleIndex: index, sampleKey = "", text } = completion;
  if (sampleKey === "" && index >= open.samplesPerTask) {
    const message = `must be below ${open.samplesPerTask}, the number of samples of each task in this evaluation; got ${index}`;
    return { kind: "invalid", field: "sample_index", message };
  }
  const task = context.scorer.open(taskId);
  if (task.kind === "none") return notOfTheSuite(withoutField(task.detail));
  const ordinal = await ordinalOf(context, open, task);
  if (ordinal === undefined) return notOfTheSuite("must be the id of a task of this evaluation, in its answer format");
  const result = await scoreAlone(context, task, { ...completion, isEvaluated: true }, form, caller, stepAside);
  if (result.kind === "turn") return { kind: "ok", value: { kind: "turn", result } };
  if (result.kind === "none" && result.reason === "invalid_task_id") return notOfTheSuite(withoutField(result.detail));
  if (!isFinal(result)) {
    const detail = "the completion has no reward yet: send it again";
    return { kind: "ok", value: { kind: "not_recorded", result, detail } };
  }
  const key = sampleKey === "" ? undefined : sampleKey;
  const cut = form.isCut && ({ isCut: true } as const);
  const stored: StoredResult = { ...result, ...conversation, ...cut, ...(key !== undefined && { key }) };
  const facts = JSON.stringify(factsOf(result.kind === "score" ? result.score : result));
  return record(context, open, { ordinal, index, completion: text, facts, result: JSON.stringify(stored) }, stored);
}

/**
 * Stores a sample unless another completion ended it before. A sample with a key gets the first index of its task that
 * no other sample has; samples are never removed, so equal keys always find the same index.
 */
async function record(
  { store }: Context,
  open: OpenEvaluation,
  sample: StoredSample,
  { key, ...result }: StoredResult,
): Promise<Result<Submitted>> {
  const last = key === undefined ? sample.index : open.samplesPerTask - 1;
  for (let index = key === undefined ? sample.index : 0; index <= last; index++) {
    const given = key === undefined ? undefined : index;
    const added = await store.addSample(open.key, { ...sample, index });
    if (added.kind === "gone") return { kind: "not_found", message: `evaluation "${open.id}" was deleted` };
    if (added.kind === "added") return { kind: "ok", value: { kind: "recorded", result, index: given } };
    const first = JSON.parse(added.sample.result) as StoredResult;
    if (key !== undefined && first.key !== key) continue;
    const isSame =
      result.kind === "score" && result.digest !== undefined
        ? first.kind === "score" && first.digest === result.digest
        : added.sample.completion === sample.completion;
    const kind = isSame ? "duplicate" : "conflicting_completion";
    return { kind: "ok", value: { kind, result: first, index: given } };
  }
  const detail = `sample_key: all ${open.samplesPerTask} samples of the task are already stored, under other keys or indices`;
  return { kind: "ok", value: { kind: "not_recorded", result, detail } };
}

function withoutField(detail: string): string {
  return detail.replace(/^task_id:? /, "");
}

function notOfTheSuite(message: string): Refusal {
  return { kind: "invalid", field: "task_id", message };
}

/**
 * Returns the number of a task in the suite, found by the seed or row in its id. Undefined: the suite has no such task,
 * or the task id has other settings.
 */
async function ordinalOf(context: Context, open: OpenEvaluation, task: OpenTask): Promise<number | undefined> {
  const { key, environment } = task.token;
  const { origin } = key;
  if (origin.kind === "inline") return undefined;
  const ordinal =
    origin.kind === "row"
      ? await ordinalOfRow(context, open.of, `${environment}/${origin.pool}/${origin.row}`)
      : ordinalsOf(open.of).get(`${environment}/${origin.seed}`);
  if (ordinal === undefined) return undefined;
  const [known] = await context.tasks.made(open.of, ordinal, ordinal + 1);
  if (known === undefined) return undefined;
  return isOf(task, specOf(open, known), known.key) ? ordinal : undefined;
}

/**
 * Returns whether a task id has the evaluation's settings, so that the evaluation may have issued it. Other ids with
 * the same seed or row may have other settings.
 */
function isOf({ token, scoring }: OpenTask, spec: TaskSpec, { origin }: TaskKey): boolean {
  const chosen = ({ version, level, split, answerFormat, thinking, rewardScheme, ...turns }: TaskSpec | OpenToken) => {
    const { calls, detail } = turns;
    return { version, level, split, answerFormat, thinking, rewardScheme, calls, detail };
  };
  // Level is not compared for rows of a pool, because their task ids have none.
  const asked = origin.kind === "row" ? { ...chosen(spec), level: "" } : chosen(spec);
  const plain = token.run === undefined && Object.keys(token.rewardParameters).length === 0;
  const all = scoring.environment.turns?.tools ?? [];
  const tools = token.tools?.flatMap((place) => all[place - 1]?.name ?? []);
  const hasTools = isDeepStrictEqual(new Set(tools), new Set(spec.tools));
  const isSame = isDeepStrictEqual(token.key.origin, origin) && isDeepStrictEqual(chosen(token), asked);
  return plain && hasTools && isSame;
}

/**
 * Cache of the position in its suite of each task that was made from a data row, by environment, pool and row number.
 * Tasks that were never made are left out, because no client has them.
 */
const rowOrdinals = new WeakMap<Suite, ReadonlyMap<string, number>>();

async function ordinalOfRow({ tasks }: Context, suite: Suite, name: string): Promise<number | undefined> {
  const known = rowOrdinals.get(suite)?.get(name);
  if (known !== undefined) return known;
  const made = await tasks.made(suite, 0, suite.tasks);
  const found = new Map<string, number>(
    made.flatMap(({ ordinal, part, key: { origin } }) =>
      origin.kind === "row" ? [[`${part.environment}/${origin.pool}/${origin.row}`, ordinal] as const] : [],
    ),
  );
  rowOrdinals.set(suite, found);
  return found.get(name);
}

/** Cache of the numbers of a suite's generated tasks, by environment and seed. */
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
