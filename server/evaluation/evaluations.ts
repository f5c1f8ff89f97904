/**
 * Evaluations: a model's completions of a suite's tasks, and statistics about them. Expected failures are returned as
 * values, not thrown.
 */
import type { Caller } from "../tasks/scoring/async-scorer.ts";
import type { Refusal, Result } from "../curriculum/types.ts";
import type { Release, StoredEvaluation } from "../stores/evaluation-store.ts";
import type {
  Context,
  Evaluation,
  EvaluationChoice,
  EvaluationDeps,
  EvaluationPage,
  ListedEvaluation,
  OpenEvaluation,
  SampleQuery,
} from "./evaluation.ts";
import { makeReport, type Report } from "./report.ts";
import { difference, findPending, findSuite, formatProblem, listSamples } from "./evaluation-samples.ts";
import { type Submission, submit } from "./submissions.ts";
import { openSuite, type Suite } from "./open-suite.ts";
import { createSuiteTasks } from "./suite-tasks.ts";

export interface EvaluationReport {
  readonly evaluation: Evaluation;
  readonly suite: Suite;
  readonly report: Report;
}

export type Evaluations = ReturnType<typeof createEvaluations>;

/** Evaluation as it is stored, in JSON. */
interface Body extends EvaluationChoice {
  /** Digest that the suite had when the evaluation was created. */
  readonly digest: string;
  readonly createdAtMs?: number;
}

function bodyOf({ body }: StoredEvaluation): Body {
  return JSON.parse(body) as Body;
}

export function noEvaluation(id: string): Refusal {
  return { kind: "not_found", message: `there is no evaluation "${id}"` };
}

/**
 * Returns a stored evaluation with its suite. Refuses a suite whose digest has changed since the evaluation was
 * created.
 */
function openStored(suites: Parameters<typeof findSuite>[0], stored: StoredEvaluation): Result<OpenEvaluation> {
  const { digest, createdAtMs, ...choice } = bodyOf(stored);
  const found = findSuite(suites, choice.suite, choice.suiteVersion);
  if (found.kind !== "ok") return found;
  if (found.value.digest !== digest)
    return {
      kind: "failed_precondition",
      message: `suite '${choice.suite}' was changed without a new version (${choice.suiteVersion}): give the changed suite another version`,
    };
  return { kind: "ok", value: { ...choice, createdAtMs, id: stored.id, key: stored.key, of: found.value } };
}

export function createEvaluations(deps: EvaluationDeps) {
  const context: Context = { ...deps, tasks: createSuiteTasks(deps) };
  const opened = deps.suites.map((definition) => ({
    definition,
    result: openSuite(deps.registry, definition, deps.sources),
  }));
  const open = (stored: StoredEvaluation): Result<OpenEvaluation> => openStored(opened, stored);
  const withOpen = async <T>(id: string, work: (open: OpenEvaluation) => Promise<Result<T>>): Promise<Result<T>> => {
    const stored = await deps.store.find(id);
    const found = stored === undefined ? noEvaluation(id) : open(stored);
    return found.kind === "ok" ? work(found.value) : found;
  };
  const stateOf = async ({ of, key, ...rest }: OpenEvaluation): Promise<Evaluation> => {
    return { ...rest, samplesTotal: of.tasks * rest.samplesPerTask, samplesScored: await deps.store.count(key) };
  };
  const listed = async (stored: StoredEvaluation): Promise<ListedEvaluation> => {
    const opened = open(stored);
    if (opened.kind === "ok") return { kind: "evaluation", evaluation: await stateOf(opened.value) };
    return { kind: "unreadable", id: stored.id, choice: bodyOf(stored), message: opened.message };
  };

  return {
    /** Returns the suites that this server can use, i.e. whose environments, pools and external resources it has. */
    suites: (): readonly Suite[] => opened.flatMap(({ result }) => (result.kind === "open" ? [result.suite] : [])),
    /**
     * Creates an evaluation. If one with this id exists, returns it if its settings are equal, and refuses the call
     * otherwise.
     */
    create: async (id: string, asked: EvaluationChoice): Promise<Result<Evaluation>> => {
      const found = findSuite(opened, asked.suite, asked.suiteVersion);
      if (found.kind !== "ok") return found;
      const suite = found.value;
      const choice = { ...asked, suiteVersion: suite.definition.version };
      const wrong = formatProblem(suite, choice.answerFormat);
      if (wrong !== undefined) return wrong;
      const body: Body = { ...choice, digest: suite.digest, createdAtMs: deps.now() };
      const created = await deps.store.create(id, JSON.stringify(body));
      return withOpen(id, async (open) => {
        const other = created === "exists" ? difference(open, choice) : undefined;
        return other ?? { kind: "ok", value: await stateOf(open) };
      });
    },
    get: (id: string) => withOpen<Evaluation>(id, async (open) => ({ kind: "ok", value: await stateOf(open) })),
    /**
     * Returns evaluations ordered by id, beginning after `afterId`. An empty `afterId` means from the first, and an
     * empty `suite` means of all suites.
     */
    list: async (afterId: string, limit: number, suite: string): Promise<EvaluationPage> => {
      const found = await deps.store.list(afterId, limit + 1);
      const page = found.slice(0, limit);
      const items: ListedEvaluation[] = [];
      for (const stored of page) if (suite === "" || bodyOf(stored).suite === suite) items.push(await listed(stored));
      return { items, next: found.length > limit ? page.at(-1)?.id : undefined };
    },
    /** Deletes an evaluation with its samples. */
    remove: async (id: string): Promise<Result<null>> => {
      const stored = await deps.store.find(id);
      if (stored === undefined || !(await deps.store.remove(stored.key))) return noEvaluation(id);
      return { kind: "ok", value: null };
    },
    /**
     * Reserves an evaluation for one client, so that two clients do not complete it at once. Returns a function that
     * ends the reservation, or a refusal if another client has reserved the evaluation. `onLost` is called if another
     * client may have reserved it meanwhile.
     */
    hold: (id: string, onLost: () => void) =>
      withOpen<Release>(id, async () => {
        const release = await deps.holds.hold(id, onLost);
        if (release !== undefined) return { kind: "ok", value: release };
        const message = `another client is working on evaluation "${id}": wait until that client has finished`;
        return { kind: "failed_precondition", message };
      }),
    /**
     * Returns tasks that lack samples, in the suite's order, beginning after the task with the number `after`. −1
     * begins with the first task.
     */
    pending: (id: string, after: number, limit: number, signal?: AbortSignal) =>
      withOpen(id, (open) => findPending(context, open, after, limit, signal)),
    /**
     * Scores and stores a completion, or plays calls of an episode. `stepAside` is called when the completion waits for
     * an external resource (e.g. a judge). If the caller leaves, that waiting ends.
     */
    submit: (submission: Submission, caller: Caller, stepAside: () => void) =>
      withOpen(submission.evaluationId, (open) => submit(context, open, submission, caller, stepAside)),
    samples: (id: string, query: SampleQuery) => withOpen(id, (open) => listSamples(context, open, query)),
    report: (id: string) =>
      withOpen<EvaluationReport>(id, async (open) => {
        const [evaluation, report] = await Promise.all([stateOf(open), makeReport(context, open)]);
        return { kind: "ok", value: { evaluation, suite: open.of, report } };
      }),
  };
}
