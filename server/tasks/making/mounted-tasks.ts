/**
 * Requests tasks from mounted environments, whose tasks a provider outside the server makes. Requests to a provider
 * wait in a queue, which they share with requests to verify answers.
 */
import { LRUCache } from "lru-cache";
import {
  mountedTaskKey,
  mountedPlaceOf,
  type MountedEnvironment,
  changedSources,
} from "../../../envs/mounted-tasks.ts";
import type { MountedDrawing, MountedResult } from "../../../envs/environment.ts";
import type { Resource } from "../../../envs/resource.ts";
import { type Failed, type Facts, unavailable } from "../../../envs/facts.ts";
import type { TaskKey } from "../../../envs/origin.ts";
import type { AskContext } from "../../../envs/ports.ts";
import { escaped } from "../../../envs/lib/escape.ts";
import type { Resources } from "../../outside/gate/resources.ts";
import type { TaskSpec } from "../spec.ts";
import { type MadeResult, type MakeResult, renderTask } from "../task.ts";

/**
 * Maximum number of tasks in one request to a mounted environment. Requests of other callers get their turns in
 * between.
 */
const SEEDS_PER_TURN = 64;
const RETRY_DELAY_MS = 1000;
const DONE: Facts = { kind: "feasible" };

/** Result of requesting a task, or "cancelled" if the caller left. */
type MountedOutcome = MountedResult | { readonly kind: "cancelled" };

/** Caller of a request for tasks, with options. */
export interface Requester {
  /** Name of the caller to whom the work is charged, made by `runCaller` and similar functions (make.ts). */
  readonly caller: string;
  /** Aborts when the tasks are no longer needed. */
  readonly signal?: AbortSignal | undefined;
  /** Whether to compute the objectives of heuristics too. Mounted environments ignore it. Unset: no. */
  readonly heuristic?: true | undefined;
}

export type DrawResult = MountedDrawing | Extract<MakeResult, { readonly kind: "unavailable" | "cancelled" }>;

/** Reference answer of a task, in the form in which a model would write it. Undefined: the task has none. */
export type ReferenceResult =
  { readonly kind: "reference"; readonly answer: string | undefined } | Exclude<MakeResult, { readonly kind: "made" }>;

export interface Asker {
  draw(
    mounted: MountedEnvironment,
    instance: unknown,
    answer: string | undefined,
    requester: Requester,
  ): Promise<DrawResult>;
  /** Makes tasks. Returns one result for each seed, in order. */
  make(
    mounted: MountedEnvironment,
    spec: TaskSpec,
    seeds: readonly bigint[],
    requester: Requester,
  ): Promise<readonly MakeResult[]>;
  /** Returns the task with this key, rendered again. */
  again(mounted: MountedEnvironment, spec: TaskSpec, key: TaskKey): Promise<MakeResult>;
  /** Returns the reference answer of the task with this key. */
  reference(mounted: MountedEnvironment, key: TaskKey, requester: Requester): Promise<ReferenceResult>;
}

export function createAsker(resources: Pick<Resources, "run" | "retire">): Asker {
  const lost = createLost(resources);

  /**
   * Sends one request for `count` results to the provider of a mounted environment. If the request fails as a whole,
   * every result is that failure.
   */
  const turn = async (
    { environment, asked }: MountedEnvironment,
    { digest }: Pick<TaskSpec, "digest">,
    { caller, signal }: Requester,
    count: number,
    ask: (context: AskContext) => Promise<readonly MountedResult[]>,
  ): Promise<readonly MountedOutcome[]> => {
    let results: readonly MountedResult[] = [];
    const isOther = digest !== asked.digest;
    const resource = isOther ? lost(environment, digest) : environment.resource;
    if (resource === undefined) throw new Error(`bug: ${environment.id} is mounted, but has no resource`);
    const outcome = await resources.run(resource, {
      party: { caller, connection: caller },
      bytes: 0,
      signal,
      deadlineMs: undefined,
      verify: async (context) => {
        if (isOther) return changed(resource, environment, digest);
        results = await ask(context);
        // If only some results failed, the provider works, so the request counts as a success.
        return results.every(({ kind }) => kind === "failed") ? (results[0] as Failed) : DONE;
      },
    });
    if (outcome.kind === "cancelled" || (outcome.kind === "failed" && results.length === 0))
      return Array.from({ length: count }, () => outcome);
    return results;
  };

  const askAgain = async (
    mounted: MountedEnvironment,
    spec: Pick<TaskSpec, "digest">,
    key: TaskKey,
    requester: Requester,
  ): Promise<MountedOutcome> => {
    const place = mountedPlaceOf(key);
    if (place === undefined)
      throw new Error(`bug: a task of ${mounted.environment.id} was not made by its mounted provider`);
    const [result] = await turn(mounted, spec, requester, 1, async () => [await mounted.asked.again(place)]);
    return result ?? unavailable(mounted.environment.id, "the provider returned nothing");
  };

  return {
    draw: (mounted, instance, answer, requester) => draw(resources, mounted, instance, answer, requester),
    async make(mounted, spec, seeds, requester) {
      const { parameters, split } = spec;
      const turns = slices(seeds, SEEDS_PER_TURN).map(async (of): Promise<readonly MakeResult[]> => {
        const results = await turn(mounted, spec, requester, of.length, ({ party, signal }) =>
          mounted.asked.make({ parameters, split, seeds: of }, { party, signal, deadlineMs: Infinity }),
        );
        return results.map((result, i) => {
          if (result.kind !== "made") return unmade(result);
          const key = mountedTaskKey(mounted, { parameters, seed: of[i] as bigint }, result);
          return madeOf(mounted, spec, key, result.instance);
        });
      });
      return (await Promise.all(turns)).flat();
    },
    async again(mounted, spec, key) {
      const result = await askAgain(mounted, spec, key, { caller: `again ${spec.environment}` });
      return result.kind === "made" ? madeOf(mounted, spec, key, result.instance) : unmade(result);
    },
    async reference(mounted, key, requester) {
      const result = await askAgain(mounted, mounted.asked, key, requester);
      if (result.kind !== "made") return unmade(result);
      return { kind: "reference", answer: mounted.environment.reference?.(result.instance) };
    },
  };
}

async function draw(
  resources: Pick<Resources, "run">,
  { environment: { id, resource }, asked }: MountedEnvironment,
  instance: unknown,
  answer: string | undefined,
  { caller, signal }: Requester,
): Promise<DrawResult> {
  if (asked.draw === undefined || resource === undefined) return { kind: "undrawn", why: `${id} draws no pictures` };
  let drawing: MountedDrawing | undefined;
  const outcome = await resources.run(resource, {
    party: { caller, connection: caller },
    bytes: 0,
    signal,
    deadlineMs: undefined,
    verify: async (context) => {
      const found = await asked.draw?.(instance, answer, context.signal);
      if (found === undefined || found.kind === "failed") return found ?? DONE;
      drawing = found;
      return DONE;
    },
  });
  if (drawing !== undefined) return drawing;
  if (outcome.kind === "cancelled") return outcome;
  return unavailableOf(
    outcome.kind === "failed" ? outcome : unavailable(resource.name, "the provider returned nothing"),
  );
}

function madeOf({ environment }: MountedEnvironment, spec: TaskSpec, key: TaskKey, instance: unknown): MadeResult {
  return { kind: "made", task: renderTask(environment, spec, key, instance) };
}

function unmade(result: Exclude<MountedOutcome, { kind: "made" }>): Exclude<MakeResult, { kind: "made" }> {
  return result.kind === "failed" ? unavailableOf(result) : result;
}

function unavailableOf({
  detail,
  retryDelayMs = RETRY_DELAY_MS,
}: Failed): Extract<MakeResult, { kind: "unavailable" }> {
  return { kind: "unavailable", message: escaped(detail), retryDelayMs: Math.max(1, Math.ceil(retryDelayMs)) };
}

/**
 * Maximum number of missing versions of mounted environments for which failures are counted. Beyond it, the least
 * recently used version is dropped, and its count starts anew.
 */
const LOST_MAX = 64;

/**
 * Returns a function that makes a resource whose requests always fail. The resource stands for a version of a mounted
 * environment that this server lacks; `digest` identifies the version's source code. After some failures, arms that use
 * the resource draw no tasks until a server has that version again.
 */
function createLost({
  retire,
}: Pick<Resources, "retire">): (
  environment: MountedEnvironment["environment"],
  digest: string | undefined,
) => Resource {
  const known = new LRUCache<string, Resource>({ max: LOST_MAX, dispose: (_, name) => retire(name) });
  return (environment, digest) => {
    const name = `${environment.id} ${digest ?? ""}`;
    const found = known.get(name);
    if (found !== undefined) return found;
    const limits = { concurrencyMax: 64, waitingMax: 4096, heldBytesMax: 0, timeLimitMs: 1000, attemptsMax: 1 };
    const resource = { name, ...limits, probe: async () => changed({ name }, environment, digest) };
    known.set(name, resource);
    return resource;
  };
}

function changed(
  { name }: Pick<Resource, "name">,
  environment: MountedEnvironment["environment"],
  digest: string | undefined,
): Failed {
  return unavailable(name, changedSources(environment, digest), { retryDelayMs: RETRY_DELAY_MS });
}

function slices<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
