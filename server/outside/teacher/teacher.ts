/**
 * Makes tasks by asking a teacher model for proposals. The tasks of a run's arm are numbered. For each number, returns
 * the next accepted proposal; when a number is requested again, returns the same task if it is still in the cache.
 *
 * A task that a teacher proposed has no seed, so it cannot be made again. Runs therefore store each such task
 * completely.
 */
import { LRUCache } from "lru-cache";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Environment } from "../../../envs/environment.ts";
import type { Resource } from "../../../envs/resource.ts";
import { type Failed, type Facts, unavailable } from "../../../envs/facts.ts";
import { rngFor } from "../../../envs/lib/rng.ts";
import type { Registry } from "../../../envs/registry.ts";
import { unlessAborted } from "../../base/waiting.ts";
import { type AskModel, createEndpoint, type EndpointOptions } from "../chat-endpoint.ts";
import type { Party } from "../../base/fair-turns.ts";
import { countUp, type SampledMetric } from "../../runtime/sampled-metrics.ts";
import type { Resources } from "../gate/resources.ts";
import type { TaskSpec } from "../../tasks/spec.ts";
import type { MakeResult } from "../../tasks/task.ts";
import {
  type Counter,
  createCounters,
  type RequestOutcome,
  type TeacherCounts,
  teacherMetrics,
} from "./teacher-metrics.ts";
import { examine } from "./check-proposal.ts";
import { type Failure, give, type KnownTasks, learn, noAcceptedTasks, type AcceptedTasks } from "./accepted-tasks.ts";

/**
 * Number of tasks that one request asks for. With more tasks per request, the prompt costs less per task, but the reply
 * must arrive within a minute.
 */
const TASKS_PER_REQUEST = 16;
/** Maximum number of proposals that are examined in one reply. */
const PROPOSALS_MAX = 64;
/** Maximum number of requests to the teacher at the same time, per environment, level and split. */
const CONCURRENCY = 2;
/**
 * Maximum number of requests that wait for the teacher, per environment, level and split. Further requests are refused,
 * and must be retried later.
 */
const WAITING_MAX = 256;
const RETRY_DELAY_MS = 1000;
const SCOPES_MAX = 256;

export interface WantedOfTeacher {
  /** Name of the run that needs the tasks, or of another scope. No task occurs twice within a scope. */
  readonly scope: string;
  /** Names of the places that need a task. A place is an arm of the run, and the number of the task within the arm. */
  readonly places: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface Teacher {
  /** Returns one result per place, in order. If the caller leaves, tasks that arrive later stay for the next caller. */
  take(spec: TaskSpec, wanted: WantedOfTeacher): Promise<readonly MakeResult[]>;
  readonly counts: () => readonly TeacherCounts[];
  readonly metrics: readonly SampledMetric[];
  close(): void;
}

export interface TeacherDeps {
  readonly registry: Registry;
  readonly resources: Pick<Resources, "run">;
  /** Address and options of the teacher model. Undefined: the server has no teacher. */
  readonly endpoint: EndpointOptions | undefined;
}

/**
 * Returns the name of the resource (a queue with limits) for requests to the teacher. Each level and split has a
 * resource of its own, because a teacher may fail at only one of them.
 */
export function teacherResource({ environment, level, split }: TaskSpec): string {
  return `teacher of ${environment}/${level}/${split}`;
}

const TOO_FEW: Failure = { message: "the teacher gave too few tasks: try again", retryDelayMs: RETRY_DELAY_MS };

interface Scope {
  readonly known: KnownTasks;
  /** Accepted tasks by kind of task. The key is the environment, version, level, split and answer format, as JSON. */
  readonly shelves: Map<string, AcceptedTasks>;
}

/** Everything that requests to the teacher for one kind of task need. */
interface TeacherQuestion {
  /** For fair turns in the queue: the scope (e.g. a run) as the caller, and the kind of task as its connection. */
  readonly party: Party;
  readonly environment: Environment;
  readonly spec: TaskSpec;
  readonly known: KnownTasks;
  readonly shelf: AcceptedTasks;
  readonly seed: string;
}

export function createTeacher({ registry, resources, endpoint }: TeacherDeps): Teacher | undefined {
  if (endpoint === undefined) return undefined;
  const ask = createEndpoint(endpoint);
  const counters = createCounters();
  const closed = new AbortController();
  const scopes = new LRUCache<string, Scope>({ max: SCOPES_MAX });
  const resourceOf = resourcesOf(endpoint.timeoutMs);

  const askOnce = async (asking: TeacherQuestion): Promise<Failure | undefined> => {
    const { environment, level } = asking.spec;
    const counter = counters.of(environment, level);
    const outcome = await resources.run(resourceOf(asking.spec), {
      party: asking.party,
      bytes: 0,
      signal: closed.signal,
      deadlineMs: undefined,
      verify: async ({ signal }) => {
        const { result, found } = await request(ask, asking, counter, AbortSignal.any([signal, closed.signal]));
        counter.requested(result);
        return found;
      },
    });
    if (outcome.kind === "cancelled") return { message: "the server is shutting down", retryDelayMs: RETRY_DELAY_MS };
    if (outcome.kind !== "failed") return undefined;
    return { message: `the teacher: ${outcome.detail}`, retryDelayMs: outcome.retryDelayMs ?? RETRY_DELAY_MS };
  };

  /**
   * Sends as many requests as the missing tasks need, at most CONCURRENCY at once. Resolves to undefined if one of them
   * gave tasks, else to the first failure.
   */
  const askFor = async (asking: TeacherQuestion, missing: number): Promise<Failure | undefined> => {
    const requests = Math.min(CONCURRENCY, Math.ceil(missing / TASKS_PER_REQUEST));
    const failures = await Promise.all(Array.from({ length: requests }, () => askOnce(asking)));
    return failures.includes(undefined) ? undefined : failures[0];
  };

  const questionOf = (spec: TaskSpec, scope: string): TeacherQuestion => {
    const found = registry.find(spec.environment, spec.version);
    if (found.kind !== "found") throw new Error(found.message);
    const { known, shelves } = scopes.get(scope) ?? {
      known: new Set<string>(),
      shelves: new Map<string, AcceptedTasks>(),
    };
    scopes.set(scope, { known, shelves });
    const { environment, version, level, split, answerFormat } = spec;
    const name = JSON.stringify([environment, version, level, split, answerFormat]);
    const shelf = shelves.get(name) ?? noAcceptedTasks();
    shelves.set(name, shelf);
    const party = { caller: scope, connection: name };
    return { party, environment: found.environment, spec, known, shelf, seed: `${scope} ${name}` };
  };

  return {
    counts: counters.all,
    metrics: teacherMetrics(counters.all),
    close: () => closed.abort(),
    async take(spec, { scope, places, signal }) {
      const asking = questionOf(spec, scope);
      const { shelf } = asking;
      let failure: Failure | undefined;
      for (;;) {
        if (signal?.aborted === true) return places.map(() => ({ kind: "cancelled" }));
        const missing = new Set(places.filter((place) => !shelf.given.has(place))).size - shelf.ready.length;
        if (missing <= 0 || failure !== undefined) break;
        shelf.asking ??= askFor(asking, missing).finally(() => {
          shelf.asking = undefined;
        });
        failure = await (signal === undefined ? shelf.asking : unlessAborted(shelf.asking, signal));
      }
      return places.map((place): MakeResult => {
        const task = give(shelf, place);
        if (task !== undefined) return { kind: "made", task };
        return { kind: "unavailable", ...TOO_FEW, ...failure };
      });
    },
  };
}

/**
 * Returns a function from a kind of task to its resource. The function returns the same object for the same
 * environment, level and split.
 */
function resourcesOf(timeLimitMs: number): (spec: TaskSpec) => Resource {
  const byName = new Map<string, Resource>();
  const limits = { concurrencyMax: CONCURRENCY, waitingMax: WAITING_MAX, heldBytesMax: 0, timeLimitMs };
  return (spec) => {
    const name = teacherResource(spec);
    const resource = byName.get(name) ?? { name, ...limits };
    byName.set(name, resource);
    return resource;
  };
}

/**
 * Sends one request to the teacher, and stores the proposals that are accepted. If none is accepted, the result is a
 * failure, because the next reply may be no better.
 */
async function request(
  ask: AskModel,
  { environment, spec, known, shelf, seed }: TeacherQuestion,
  counter: Counter,
  signal: AbortSignal,
): Promise<{ readonly result: RequestOutcome; readonly found: Facts | Failed }> {
  const { teacher, levels } = environment;
  const level = levels.find(({ name }) => name === spec.level);
  if (teacher === undefined || level === undefined)
    throw new Error(`bug: a teacher model was asked for tasks of level ${spec.level}, for which it has no prompt`);
  const rng = rngFor("teacher", seed, shelf.requests++);
  counter.asked(TASKS_PER_REQUEST);
  const reply = await ask(teacher.prompt(level, TASKS_PER_REQUEST, rng), signal);
  if (reply.kind === "failed") return { result: reply.why, found: failed(reply.message, reply.retryDelayMs) };
  counter.cost(reply.tokens);
  const rows = teacher.read(reply.text);
  if (rows.kind === "malformed")
    return { result: "unreadable", found: failed(`its reply cannot be read: ${rows.reason}`) };
  const reasons = new Map<string, number>();
  let accepted = 0;
  for (const row of rows.answer.slice(0, PROPOSALS_MAX)) {
    const examined = examine(environment, spec, row, (hash) => known.has(hash));
    const outcome = examined.kind === "task" ? "accepted" : examined.why;
    counter.proposed(outcome, 1);
    if (examined.kind === "task") {
      learn(known, examined.task.key.hash);
      shelf.ready.push(examined.task);
      accepted++;
    } else countUp(reasons, outcome);
    // A solver takes some milliseconds per proposal, so other work may run between two proposals.
    await nextTurn();
  }
  const excess = rows.answer.length - PROPOSALS_MAX;
  if (excess > 0) counter.proposed("excess", excess);
  if (accepted > 0) return { result: "useful", found: { kind: "feasible" } };
  const why = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return {
    result: "useless",
    found: failed(`none of its ${rows.answer.length} proposed tasks was accepted: ${why}`),
  };
}

function failed(detail: string, retryDelayMs?: number): Failed {
  return unavailable("teacher", detail, retryDelayMs === undefined ? {} : { retryDelayMs });
}
