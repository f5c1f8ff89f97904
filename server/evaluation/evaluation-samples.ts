/** Lists an evaluation's samples, and the tasks that still lack samples. Also checks requests against the suites. */
import type { AnswerFormat } from "../../envs/prompt.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import { toRanges } from "../curriculum/state.ts";
import { ok, type Refusal, type Result } from "../curriculum/types.ts";
import type { SamplePlace, StoredSample } from "../stores/evaluation-store.ts";
import type { TaskSpec } from "../tasks/spec.ts";
import { isMeant, isOpen } from "../samples/sample-filter.ts";
import type {
  Context,
  EvaluationChoice,
  OpenEvaluation,
  PendingPage,
  PendingTask,
  Sample,
  SamplePage,
  SampleQuery,
  StoredResult,
} from "./evaluation.ts";
import { type openSuite, partOf, type Suite, type SuiteDefinition } from "./open-suite.ts";
import type { SuiteTask } from "./suite-tasks.ts";

// Functions that find the tasks of an evaluation that lack completions.

/**
 * Number of tasks of an evaluation that are checked for missing samples at a time. It is large enough to be fast if
 * most tasks are complete, and small enough that one call can make the tasks.
 */
const STRETCH = 200;

/**
 * Returns the specification of a task of an evaluation: the suite's specification, with the answer format and thinking
 * mode that the evaluation sets, if any.
 */
export function specOf({ answerFormat, thinking }: OpenEvaluation, { part }: SuiteTask): TaskSpec {
  if (answerFormat === undefined && thinking === undefined) return part.spec;
  return { ...part.spec, ...(answerFormat && { answerFormat }), ...(thinking && { thinking }) };
}

/** Fields of a listed task that are the same for all its samples. */
type PresentedTask = Pick<PendingTask, "spec" | "task">;

/**
 * Makes a suite's stored tasks again, so that clients can see them. Returns them with their specifications, in the
 * order of `tasks`.
 */
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

function resultOf({ result }: StoredSample): StoredResult {
  return JSON.parse(result) as StoredResult;
}

/** Maximum number of samples that are read from the store at a time. */
const READ_SAMPLES = 256;
/**
 * Number of UTF-16 units (of completions and results) after which one call stops searching for samples that match the
 * filter.
 */
const SCAN_LENGTH = 8 * 1024 ** 2;

export async function listSamples(
  context: Context,
  open: OpenEvaluation,
  query: SampleQuery,
): Promise<Result<SamplePage>> {
  const samples: Sample[] = [];
  let [place, scanned] = [query.after, 0];
  while (scanned < SCAN_LENGTH) {
    // Without a filter, only the page's samples are read, and one more, which shows whether another page follows.
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
  const { transcript, toolCalls, isCut = false, ...result } = resultOf(sample);
  const conversation = { ...(transcript && { transcript }), ...(toolCalls && { toolCalls }) };
  return { ordinal, index, completion, category, part: part.name, ...of, result, isCut, conversation };
}

// Functions that check requests for evaluations against this server's suites and the stored evaluation.

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
    const message = `suite: there is no suite '${id.slice(0, 128)}'${didYouMean(id, ids)}; there is: ${ids.join(", ")}`;
    return { kind: "not_found", message };
  }
  const found = version === 0 ? versions[0] : versions.find(({ definition }) => definition.version === version);
  if (found === undefined) {
    const numbers = versions.map(({ definition }) => definition.version).join(", ");
    return { kind: "not_found", message: `suite_version: '${id}' has no version ${version}; it has: ${numbers}` };
  }
  const { result } = found;
  return result.kind === "open"
    ? { kind: "ok", value: result.suite }
    : { kind: "not_found", message: `suite: ${result.message}` };
}

export function formatProblem(suite: Suite, format: AnswerFormat | undefined): Refusal | undefined {
  const part = suite.parts.find(({ definition }) => format !== undefined && !definition.answerFormats.includes(format));
  if (part === undefined) return undefined;
  const message = `${part.environment} accepts only ${part.definition.answerFormats.join(", ")}`;
  return { kind: "invalid", field: "answer_format", message };
}

/**
 * Returns a refusal if the stored evaluation with this id was created with other settings (suite, version, samples per
 * task, model, answer format or thinking).
 */
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
  const message = `${field}: the evaluation with this id has ${was}, and the request has ${now}: choose another evaluation_id`;
  return { kind: "already_exists", field, message };
}
