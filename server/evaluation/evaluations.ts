/** Evaluations: a model's completions of a suite's tasks, and how good they are. Expected outcomes are values. */
import type { AnswerFormat } from "../../envs/environment.ts";
import { didYouMean } from "../../envs/lib/did-you-mean.ts";
import type { Pool } from "../../envs/pool.ts";
import type { EvaluationStore, SamplePlace } from "../stores/evaluations/store.ts";
import type { Issuer } from "../tasks/issuer.ts";
import type { Keyring } from "../tasks/keyring.ts";
import type { PresentedTask } from "../tasks/present.ts";
import type { SampleResult, Scorer } from "../tasks/scorer.ts";
import type { SampleFacts } from "./facts.ts";
import { findPending } from "./pending.ts";
import { type Report, type ScoredTask, reportOf } from "./report.ts";
import type { Refusal, Result } from "./results.ts";
import { listSamples } from "./samples.ts";
import { type Submission, type Submitted, submit } from "./submit.ts";
import { type Suite, type SuiteDefinition, openSuite } from "./suite.ts";
import { type SuiteTasks, createSuiteTasks } from "./tasks.ts";

/** What fixes an evaluation. Plain JSON. */
export interface EvaluationChoice {
  readonly suite: string;
  /** 0 when asked for: the newest. */
  readonly suiteVersion: number;
  readonly samplesPerTask: number;
  readonly model: string;
  /** Undefined: each environment's default. */
  readonly answerFormat?: AnswerFormat;
}

export interface Evaluation extends EvaluationChoice {
  readonly id: string;
  readonly samplesTotal: number;
  readonly samplesScored: number;
}

/** An evaluation and its suite, as operations on it need them. */
export interface OpenEvaluation extends EvaluationChoice {
  readonly id: string;
  readonly key: number;
  readonly of: Suite;
}

export interface PendingTask {
  readonly ordinal: number;
  readonly task: PresentedTask;
  /** Samples that are missing. */
  readonly indices: readonly number[];
}

export interface PendingPage {
  readonly tasks: readonly PendingTask[];
  /** The ordinal after which the next page begins; undefined: there is none. */
  readonly next: number | undefined;
}

export interface Sample extends SamplePlace {
  readonly task: PresentedTask;
  readonly completion: string;
  readonly result: SampleResult;
  readonly part: string;
  readonly category: string;
}

export interface SamplePage {
  readonly samples: readonly Sample[];
  readonly next: SamplePlace | undefined;
}

export interface EvaluationReport {
  readonly evaluation: Evaluation;
  readonly suite: Suite;
  readonly report: Report;
}

export interface Evaluations {
  /** Suites that can be issued here. */
  suites(): readonly Suite[];
  /** Creates an evaluation, or gives it as it stands. */
  create(id: string, choice: EvaluationChoice): Promise<Result<Evaluation>>;
  get(id: string): Promise<Result<Evaluation>>;
  /** Tasks with missing samples, after an ordinal (−1: from the start). */
  pending(id: string, after: number, limit: number, signal?: AbortSignal): Promise<Result<PendingPage>>;
  submit(submission: Submission): Promise<Result<Submitted>>;
  samples(id: string, after: SamplePlace, limit: number): Promise<Result<SamplePage>>;
  report(id: string): Promise<Result<EvaluationReport>>;
}

export interface EvaluationDeps {
  readonly store: EvaluationStore;
  readonly issuer: Issuer;
  readonly scorer: Scorer;
  readonly keyring: Keyring;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly suites: readonly SuiteDefinition[];
}

/** What the parts of this module share. */
export interface Context extends EvaluationDeps {
  readonly tasks: SuiteTasks;
}

export function createEvaluations(deps: EvaluationDeps): Evaluations {
  const context: Context = { ...deps, tasks: createSuiteTasks(deps) };
  const opened = deps.suites.map((definition) => ({ definition, result: openSuite(definition) }));
  const find = async (id: string): Promise<Result<OpenEvaluation>> => {
    const stored = await deps.store.find(id);
    if (stored === undefined) return { kind: "not_found", message: `there is no evaluation "${id}"` };
    const { digest, ...choice } = JSON.parse(stored.body) as EvaluationChoice & { readonly digest: string };
    const found = findSuite(opened, choice.suite, choice.suiteVersion);
    if (found.kind !== "ok") return found;
    if (found.value.digest !== digest)
      return {
        kind: "failed_precondition",
        message: `suite '${choice.suite}' is not what it was under version ${choice.suiteVersion}: give a changed suite another version`,
      };
    return { kind: "ok", value: { ...choice, id, key: stored.key, of: found.value } };
  };
  const withOpen = async <T>(id: string, work: (open: OpenEvaluation) => Promise<Result<T>>): Promise<Result<T>> => {
    const found = await find(id);
    return found.kind === "ok" ? work(found.value) : found;
  };
  const stateOf = async (open: OpenEvaluation): Promise<Evaluation> => {
    const { of, key, ...rest } = open;
    return { ...rest, samplesTotal: of.tasks * open.samplesPerTask, samplesScored: await deps.store.count(key) };
  };

  return {
    suites: () => opened.flatMap(({ result }) => (result.kind === "open" ? [result.suite] : [])),
    create: async (id, asked) => {
      const found = findSuite(opened, asked.suite, asked.suiteVersion);
      if (found.kind !== "ok") return found;
      const suite = found.value;
      const choice = { ...asked, suiteVersion: suite.definition.version };
      const wrong = formatProblem(suite, choice.answerFormat);
      if (wrong !== undefined) return wrong;
      const created = await deps.store.create(id, JSON.stringify({ ...choice, digest: suite.digest }));
      return withOpen(id, async (open) => {
        const other = created === "exists" ? difference(open, choice) : undefined;
        return other ?? { kind: "ok", value: await stateOf(open) };
      });
    },
    get: (id) => withOpen(id, async (open) => ({ kind: "ok", value: await stateOf(open) })),
    pending: (id, after, limit, signal) => withOpen(id, (open) => findPending(context, open, after, limit, signal)),
    submit: (submission) => withOpen(submission.evaluationId, (open) => submit(context, open, submission)),
    samples: (id, after, limit) => withOpen(id, (open) => listSamples(context, open, after, limit)),
    report: (id) =>
      withOpen(id, async (open) => {
        const [evaluation, report] = await Promise.all([stateOf(open), makeReport(context, open)]);
        return { kind: "ok", value: { evaluation, suite: open.of, report } };
      }),
  };
}

interface Opened {
  readonly definition: SuiteDefinition;
  readonly result: ReturnType<typeof openSuite>;
}

/** Version 0 is the newest. */
function findSuite(opened: readonly Opened[], id: string, version: number): Result<Suite> {
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

function formatProblem(suite: Suite, format: AnswerFormat | undefined): Refusal | undefined {
  const part = suite.parts.find(({ definition }) => format !== undefined && !definition.answerFormats.includes(format));
  if (part === undefined) return undefined;
  const message = `${part.environment} takes ${part.definition.answerFormats.join(", ")}`;
  return { kind: "invalid", field: "answer_format", message };
}

/** An id stands for one evaluation: to ask for it with other choices is a mistake. */
function difference(open: EvaluationChoice, asked: EvaluationChoice): Refusal | undefined {
  const fields = [
    ["suite", open.suite, asked.suite],
    ["suite_version", open.suiteVersion, asked.suiteVersion],
    ["samples_per_task", open.samplesPerTask, asked.samplesPerTask],
    ["model", open.model, asked.model],
    ["answer_format", open.answerFormat ?? "the default", asked.answerFormat ?? "the default"],
  ] as const;
  const other = fields.find(([, was, now]) => was !== now);
  if (other === undefined) return undefined;
  const [field, was, now] = other;
  const message = `${field}: the evaluation of this id has ${was}, and ${now} was asked for: choose another evaluation_id`;
  return { kind: "already_exists", field, message };
}

async function makeReport({ store, tasks }: Context, open: OpenEvaluation): Promise<Report> {
  const made = await tasks.made(open.of, 0, open.of.tasks);
  const categoryOf = new Map(made.map(({ ordinal, category }) => [ordinal, category]));
  const byTask = Map.groupBy(await store.facts(open.key), ({ ordinal }) => ordinal);
  const scored = [...byTask].map(([ordinal, samples]): ScoredTask => {
    const category = categoryOf.get(ordinal);
    if (category === undefined) throw new Error(`task ${ordinal} has samples, and was never made`);
    return { ordinal, category, samples: samples.map(({ facts }) => JSON.parse(facts) as SampleFacts) };
  });
  return reportOf(open.of, open.samplesPerTask, scored, categoryCounts(open.of, [...categoryOf.values()]));
}

/** Tasks of each category. Where only a task's instance tells its category, tasks that were not made are not counted. */
function categoryCounts(suite: Suite, made: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number): void => void counts.set(name, (counts.get(name) ?? 0) + count);
  const named = new Set<string>();
  for (const { category, tasks } of suite.parts) {
    if (typeof category !== "string") continue;
    named.add(category);
    add(category, tasks);
  }
  for (const category of made.toSorted()) if (!named.has(category)) add(category, 1);
  return counts;
}
