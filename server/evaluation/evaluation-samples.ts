/**
 * Lists an evaluation's tasks that lack samples, lists its samples, scores submitted completions, and checks requests
 * against the suites.
 */
import { isDeepStrictEqual } from "node:util";
import type { AnswerFormat } from "../../envs/prompt.ts";
import type { TaskKey } from "../../envs/origin.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { toRanges } from "../curriculum/state.ts";
import { ok, type Refusal, type Result } from "../curriculum/types.ts";
import type { SamplePlace, StoredSample } from "../stores/evaluation-store.ts";
import type { Caller } from "../tasks/scoring/async-scorer.ts";
import { isFinal, type SampleResult } from "../tasks/scoring/results.ts";
import { asCut, type OpenTask, type OpenToken } from "../tasks/scoring/scorer.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import { isMeant, isOpen } from "../samples/sample-filter.ts";
import { scoreAlone } from "../tasks/scoring/score-alone.ts";
import type {
  Context,
  EvaluationChoice,
  OpenEvaluation,
  PendingPage,
  PendingTask,
  Sample,
  SamplePage,
  SampleQuery,
} from "./evaluation.ts";
import { factsOf } from "./report.ts";
import { type openSuite, partOf, seedOf, type Suite, type SuiteDefinition } from "./open-suite.ts";
import type { SuiteTask } from "./suite-tasks.ts";

// Finds tasks that lack completions.

/**
 * Number of tasks that are checked at a time for missing samples. It is large enough to be quick if most are complete,
 * and small enough to make the tasks in one call.
 */
const STRETCH = 200;

/**
 * Returns the specification of a task as an evaluation uses it: the suite's, with the evaluation's answer format and
 * thinking mode if set.
 */
function specOf({ answerFormat, thinking }: OpenEvaluation, { part }: SuiteTask): TaskSpec {
  if (answerFormat === undefined && thinking === undefined) return part.spec;
  return { ...part.spec, ...(answerFormat && { answerFormat }), ...(thinking && { thinking }) };
}

/** Fields of a task that are the same for all its samples. */
type PresentedTask = Pick<PendingTask, "spec" | "task">;

/** Makes tasks again for display, with their specifications, in the order of `tasks`. */
async function shown(
  { maker }: Context,
  open: OpenEvaluation,
  tasks: readonly SuiteTask[],
): Promise<Result<readonly PresentedTask[]>> {
  const specs = tasks.map((task) => specOf(open, task));
  const made = await maker.again(tasks.map(({ key }, i) => ({ spec: specs[i] as TaskSpec, key })));
  if (made.kind !== "ok") return made;
  return ok(made.value.map((task, i) => ({ spec: specs[i] as TaskSpec, task })));
}

export async function findPending(
  context: Context,
  open: OpenEvaluation,
  after: number,
  limit: number,
  signal?: AbortSignal,
): Promise<Result<PendingPage>> {
  const found: { readonly ordinal: number; readonly indices: readonly number[] }[] = [];
  // Finds one task more than requested, which shows whether another page follows.
  for (let from = after + 1; from < open.of.tasks && found.length <= limit; from += STRETCH)
    found.push(...(await missingIn(context, open, from, Math.min(open.of.tasks, from + STRETCH))));
  const page = found.slice(0, limit);
  const tasks: PendingTask[] = [];
  for (const [first, last] of toRanges(page.map(({ ordinal }) => ordinal))) {
    const made = await context.tasks.make(open.of, first, last + 1, signal);
    if (made.kind !== "ok") return made;
    const parts = await shown(context, open, made.value);
    if (parts.kind !== "ok") return parts;
    for (const [i, { ordinal }] of made.value.entries()) {
      const indices = page.find((found) => found.ordinal === ordinal)?.indices ?? [];
      tasks.push({ ordinal, ...(parts.value[i] as PresentedTask), indices });
    }
  }
  return { kind: "ok", value: { tasks, next: found.length > limit ? page.at(-1)?.ordinal : undefined } };
}

async function missingIn({ store }: Context, open: OpenEvaluation, from: number, to: number) {
  const there = Map.groupBy(await store.places(open.key, from, to), ({ ordinal }) => ordinal);
  return Array.from({ length: to - from }, (_, i) => from + i).flatMap((ordinal) => {
    const scored = new Set(there.get(ordinal)?.map(({ index }) => index));
    const indices = Array.from({ length: open.samplesPerTask }, (_, i) => i).filter((index) => !scored.has(index));
    return indices.length === 0 ? [] : [{ ordinal, indices }];
  });
}

/** Returns the stored result of scoring a sample. */
function resultOf({ result }: StoredSample): SampleResult {
  return JSON.parse(result) as SampleResult;
}

/**
 * Number of samples read from the store at a time. The next constant is the number of UTF-16 units of completions and
 * results after which one call stops reading.
 */
const READ_SAMPLES = 256;
const SCAN_LENGTH = 8 * 1024 ** 2;

export async function listSamples(
  context: Context,
  open: OpenEvaluation,
  query: SampleQuery,
): Promise<Result<SamplePage>> {
  const samples: Sample[] = [];
  let [place, scanned] = [query.after, 0];
  while (scanned < SCAN_LENGTH) {
    // Without a filter it reads only as many samples as the page needs, and one more that shows whether another page
    // follows.
    const wanted = isOpen(query.filter) ? Math.min(READ_SAMPLES, query.limit - samples.length + 1) : READ_SAMPLES;
    const found = await context.store.samples(open.key, place, wanted);
    for (const [ordinal, ofTask] of Map.groupBy(found, (sample) => sample.ordinal)) {
      const meant = await meantOf(context, open, query, ordinal, ofTask);
      if (meant.kind !== "ok") return meant;
      for (const sample of meant.value) {
        if (samples.length === query.limit) return { kind: "ok", value: { samples, next: placeOf(samples.at(-1)) } };
        samples.push(sample);
      }
    }
    if (found.length < wanted) return { kind: "ok", value: { samples, next: undefined } };
    place = found.at(-1) ?? place;
    scanned += found.reduce((sum, { completion, result }) => sum + completion.length + result.length, 0);
  }
  return { kind: "ok", value: { samples, next: place } };
}

function placeOf(sample: SamplePlace | undefined): SamplePlace | undefined {
  return sample && { ordinal: sample.ordinal, index: sample.index };
}

/** Returns the samples of one task that match the query. */
async function meantOf(
  context: Context,
  open: OpenEvaluation,
  { filter, part, category, instanceHash }: SampleQuery,
  ordinal: number,
  ofTask: readonly StoredSample[],
): Promise<Result<readonly Sample[]>> {
  if (part !== "" && partOf(open.of, ordinal).name !== part) return ok([]);
  const meant = isOpen(filter)
    ? ofTask
    : ofTask.filter((sample) => isMeant(filter, sample.completion, resultOf(sample)));
  if (meant.length === 0) return ok([]);
  const [task] = await context.tasks.made(open.of, ordinal, ordinal + 1);
  if (task === undefined) throw new Error(`bug: task ${ordinal} has samples, but was never made`);
  if (category !== "" && task.category !== category) return ok([]);
  if (instanceHash !== "" && task.key.hash !== instanceHash) return ok([]);
  const parts = await shown(context, open, [task]);
  if (parts.kind !== "ok") return parts;
  const [of] = parts.value as readonly [PresentedTask];
  return ok(meant.map((sample) => shownSample(task, of, sample)));
}

function shownSample(task: SuiteTask, of: PresentedTask, sample: StoredSample): Sample {
  const { ordinal, index, completion } = sample;
  const { category, part } = task;
  const place = { ordinal, index, completion, category, part: part.name };
  return { ...place, ...of, result: resultOf(sample) };
}

// Submissions. A completion is scored, and it is stored if it is the first one of its sample.

export interface Submission {
  readonly evaluationId: string;
  readonly taskId: string;
  readonly index: number;
  readonly completion: string;
  /** Whether the client says that the completion was cut off at the maximum length. */
  readonly truncated: boolean;
}

export interface Submitted {
  /** Result of the sample's first completion, also if the submitted one is another. */
  readonly result: SampleResult;
  /** Value `not_recorded` means that there is no reward yet; the client may submit again later. */
  readonly status: "recorded" | "duplicate" | "conflicting_completion" | "not_recorded";
}

export async function submit(
  context: Context,
  open: OpenEvaluation,
  { taskId, index, completion, truncated }: Submission,
  caller: Caller,
  stepAside: () => void,
): Promise<Result<Submitted>> {
  if (index >= open.samplesPerTask) {
    const message = `it is ${index}, and the evaluation has ${open.samplesPerTask} samples of each task, from 0`;
    return { kind: "invalid", field: "sample_index", message };
  }
  const task = context.scorer.open(taskId);
  if (task.kind === "none") return notOfTheSuite(task.detail.replace(/^task_id:? /, ""));
  const ordinal = await ordinalOf(context, open, task);
  if (ordinal === undefined) return notOfTheSuite("it is not a task of this evaluation, in its answer format");
  const result = await scoreAlone(context, truncated ? asCut(task) : task, completion, caller, stepAside);
  if (!isFinal(result)) return { kind: "ok", value: { result, status: "not_recorded" } };
  const facts = JSON.stringify(factsOf(result.kind === "score" ? result.score : result));
  const sample = { ordinal, index, completion, facts, result: JSON.stringify(result) };
  const added = await context.store.addSample(open.key, sample);
  if (added.kind === "added") return { kind: "ok", value: { result, status: "recorded" } };
  if (added.kind === "gone") return { kind: "not_found", message: `evaluation "${open.id}" was deleted` };
  const status = added.sample.completion === completion ? "duplicate" : "conflicting_completion";
  return { kind: "ok", value: { result: resultOf(added.sample), status } };
}

function notOfTheSuite(message: string): Refusal {
  return { kind: "invalid", field: "task_id", message };
}

/**
 * Returns the ordinal of a task in the suite, found by its seed or row. Undefined: the suite's task there differs in
 * some other way.
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
  return isOf(task.token, specOf(open, known), known.key) ? ordinal : undefined;
}

/**
 * Returns whether a task id is one that the evaluation gave out. A task with the same seed may differ in all other
 * fields.
 */
function isOf(token: OpenToken, spec: TaskSpec, { origin }: TaskKey): boolean {
  const chosen = ({ version, level, split, answerFormat, thinking, rewardScheme }: TaskSpec | OpenToken) => {
    return { version, level, split, answerFormat, thinking, rewardScheme };
  };
  // A task id for a row of a pool has no level.
  const asked = origin.kind === "row" ? { ...chosen(spec), level: "" } : chosen(spec);
  const plain = token.run === undefined && Object.keys(token.rewardParameters).length === 0;
  return plain && isDeepStrictEqual(token.key.origin, origin) && isDeepStrictEqual(chosen(token), asked);
}

/**
 * Ordinals of the suite's rows by name. Only tasks that were made are included, because only those were given to
 * clients.
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

/** Ordinals by environment and seed. They are computed once for each suite, and there are few suites. */
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

// Checks of requests for evaluations, against this server's suites and the stored evaluation.

export interface OpenedSuite {
  readonly definition: SuiteDefinition;
  readonly result: ReturnType<typeof openSuite>;
}

/** Returns a suite by id and version; version 0 is the newest. */
export function findSuite(opened: readonly OpenedSuite[], id: string, version: number): Result<Suite> {
  const versions = opened
    .filter(({ definition }) => definition.id === id)
    .sort((a, b) => b.definition.version - a.definition.version);
  if (versions.length === 0) {
    const ids = opened.flatMap(({ definition, result }) => (result.kind === "open" ? [definition.id] : []));
    const message = `suite: there is no suite '${id.slice(0, 128)}' here${didYouMean(id, ids)}; there is: ${ids.join(", ")}`;
    return { kind: "not_found", message };
  }
  const found = version === 0 ? versions[0] : versions.find(({ definition }) => definition.version === version);
  if (found === undefined) {
    const numbers = versions.map(({ definition }) => definition.version).join(", ");
    return { kind: "not_found", message: `suite_version: '${id}' has no version ${version} here; it has: ${numbers}` };
  }
  const { result } = found;
  return result.kind === "open"
    ? { kind: "ok", value: result.suite }
    : { kind: "not_found", message: `suite: ${result.message}` };
}

export function formatProblem(suite: Suite, format: AnswerFormat | undefined): Refusal | undefined {
  const part = suite.parts.find(({ definition }) => format !== undefined && !definition.answerFormats.includes(format));
  if (part === undefined) return undefined;
  const message = `${part.environment} takes ${part.definition.answerFormats.join(", ")}`;
  return { kind: "invalid", field: "answer_format", message };
}

/** Returns a refusal if the stored evaluation with this id was created with other choices. */
export function difference(open: EvaluationChoice, asked: EvaluationChoice): Refusal | undefined {
  const fields = [
    ["suite", open.suite, asked.suite],
    ["suite_version", open.suiteVersion, asked.suiteVersion],
    ["samples_per_task", open.samplesPerTask, asked.samplesPerTask],
    ["model", open.model, asked.model],
    ["answer_format", open.answerFormat ?? "the default", asked.answerFormat ?? "the default"],
    ["thinking", open.thinking ?? "required", asked.thinking ?? "required"],
  ] as const;
  const other = fields.find(([, was, now]) => was !== now);
  if (other === undefined) return undefined;
  const [field, was, now] = other;
  const message = `${field}: the evaluation of this id has ${was}, and ${now} was asked for: choose another evaluation_id`;
  return { kind: "already_exists", field, message };
}
