/** Evaluations: a model's completions of a suite's tasks, and how good they are. Expected outcomes are values. */
import type { Caller } from "../scoring/async-scorer.ts";
import type { Result } from "../curriculum/core/types.ts";
import type { Release, SamplePlace } from "../stores/evaluation-store.ts";
import type {
  Context,
  Evaluation,
  EvaluationChoice,
  EvaluationDeps,
  OpenEvaluation,
  PendingPage,
  SamplePage,
} from "./evaluation.ts";
import { makeReport, type Report } from "./report.ts";
import {
  difference,
  findPending,
  findSuite,
  formatProblem,
  listSamples,
  type Submission,
  submit,
  type Submitted,
} from "./samples.ts";
import { openSuite, type Suite } from "./suite.ts";
import { createSuiteTasks } from "./tasks.ts";

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
  /** Holds an evaluation that nobody holds; what it gives lets go of it. `onLost`: another may hold it now. */
  hold(id: string, onLost: () => void): Promise<Result<Release>>;
  /** Tasks with missing samples, after an ordinal (−1: from the start). */
  pending(id: string, after: number, limit: number, signal?: AbortSignal): Promise<Result<PendingPage>>;
  /** A caller that leaves takes along what waits for a resource; `stepAside` is told when it begins to wait for one. */
  submit(submission: Submission, caller: Caller, stepAside: () => void): Promise<Result<Submitted>>;
  samples(id: string, after: SamplePlace, limit: number): Promise<Result<SamplePage>>;
  report(id: string): Promise<Result<EvaluationReport>>;
}

export function createEvaluations(deps: EvaluationDeps): Evaluations {
  const context: Context = { ...deps, tasks: createSuiteTasks(deps) };
  const opened = deps.suites.map((definition) => ({
    definition,
    result: openSuite(deps.registry, definition, deps.sources),
  }));
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
    hold: (id, onLost) =>
      withOpen(id, async () => {
        const release = await deps.holds.hold(id, onLost);
        if (release !== undefined) return { kind: "ok", value: release };
        const message = `another client is completing evaluation "${id}": wait until it is done`;
        return { kind: "failed_precondition", message };
      }),
    pending: (id, after, limit, signal) => withOpen(id, (open) => findPending(context, open, after, limit, signal)),
    submit: (submission, caller, stepAside) =>
      withOpen(submission.evaluationId, (open) => submit(context, open, submission, caller, stepAside)),
    samples: (id, after, limit) => withOpen(id, (open) => listSamples(context, open, after, limit)),
    report: (id) =>
      withOpen(id, async (open) => {
        const [evaluation, report] = await Promise.all([stateOf(open), makeReport(context, open)]);
        return { kind: "ok", value: { evaluation, suite: open.of, report } };
      }),
  };
}
