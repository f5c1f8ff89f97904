/** Tasks whose instances something outside makes: asked for through the gate of its resource, as its verifications are. */
import { LRUCache } from "lru-cache";
import { askedKey, askedPlace, type Asking, changedSources } from "../../../envs/asked.ts";
import type { AskedDrawing, AskedResult, Resource } from "../../../envs/environment.ts";
import { type Failed, type Facts, unavailable } from "../../../envs/facts.ts";
import type { TaskKey } from "../../../envs/origin.ts";
import type { AskContext } from "../../../envs/ports.ts";
import { escaped } from "../../../envs/lib/words.ts";
import type { Resources } from "../../outside/gate/resources.ts";
import type { TaskSpec } from "../spec.ts";
import { type MadeResult, type MakeResult, renderTask } from "../task.ts";

/** Seeds of one turn at the gate: so few that others come in between. */
const SEEDS_PER_TURN = 64;
const RETRY_DELAY_MS = 1000;
const DONE: Facts = { kind: "feasible" };

/** The result of asking for a task, or that its caller is gone. */
type Asked = AskedResult | { readonly kind: "cancelled" };

/** Who wants tasks. */
export interface Requester {
  /** Whose share of the workers, or of what is asked, they come out of: runCaller and those beside it (make.ts) name it. */
  readonly caller: string;
  /** Aborted when nobody wants them any more. */
  readonly signal?: AbortSignal | undefined;
  /** What the heuristics of environments of this process attain is wanted too. Left out: no. */
  readonly heuristic?: true | undefined;
}

/** What became of a picture. */
export type DrawResult = AskedDrawing | Extract<MakeResult, { readonly kind: "unavailable" | "cancelled" }>;

/** A task's reference answer, as a model would write it; undefined: the task has none. */
export type ReferenceResult =
  { readonly kind: "reference"; readonly answer: string | undefined } | Exclude<MakeResult, { readonly kind: "made" }>;

export interface Asker {
  /** Of an instance, and of an answer to it if there is one. */
  draw(asking: Asking, instance: unknown, answer: string | undefined, requester: Requester): Promise<DrawResult>;
  /** One result for each seed, in order. */
  make(asking: Asking, spec: TaskSpec, seeds: readonly bigint[], requester: Requester): Promise<readonly MakeResult[]>;
  /** The task of a key, rendered again. */
  again(asking: Asking, spec: TaskSpec, key: TaskKey): Promise<MakeResult>;
  /** The reference answer of the task of a key. */
  reference(asking: Asking, key: TaskKey, requester: Requester): Promise<ReferenceResult>;
}

export function createAsker(resources: Pick<Resources, "run" | "retire">): Asker {
  const lost = createLost(resources);

  /** The results of one turn; what kept it from being taken stands for each. */
  const turn = async (
    { environment, asked }: Asking,
    { digest }: Pick<TaskSpec, "digest">,
    { caller, signal }: Requester,
    count: number,
    ask: (context: AskContext) => Promise<readonly AskedResult[]>,
  ): Promise<readonly Asked[]> => {
    let results: readonly AskedResult[] = [];
    const isOther = digest !== asked.digest;
    const resource = isOther ? lost(environment, digest) : environment.resource;
    if (resource === undefined) throw new Error(`bug: ${environment.id} is asked, and has no resource`);
    const outcome = await resources.run(resource, {
      party: { caller, connection: caller },
      bytes: 0,
      signal,
      deadlineMs: undefined,
      verify: async (context) => {
        if (isOther) return changed(resource, environment, digest);
        results = await ask(context);
        // That it fails at one and not at others says that it answers.
        return results.every(({ kind }) => kind === "failed") ? (results[0] as Failed) : DONE;
      },
    });
    if (outcome.kind === "cancelled" || (outcome.kind === "failed" && results.length === 0))
      return Array.from({ length: count }, () => outcome);
    return results;
  };

  const askAgain = async (
    asking: Asking,
    spec: Pick<TaskSpec, "digest">,
    key: TaskKey,
    requester: Requester,
  ): Promise<Asked> => {
    const place = askedPlace(key);
    if (place === undefined) throw new Error(`bug: a task of ${asking.environment.id} was never asked for`);
    const [result] = await turn(asking, spec, requester, 1, async () => [await asking.asked.again(place)]);
    return result ?? unavailable(asking.environment.id, "it gave nothing");
  };

  return {
    draw: (asking, instance, answer, requester) => draw(resources, asking, instance, answer, requester),
    async make(asking, spec, seeds, requester) {
      const { parameters, split } = spec;
      const turns = slices(seeds, SEEDS_PER_TURN).map(async (of): Promise<readonly MakeResult[]> => {
        const results = await turn(asking, spec, requester, of.length, ({ party, signal }) =>
          asking.asked.make({ parameters, split, seeds: of }, { party, signal, deadlineMs: Infinity }),
        );
        return results.map((result, i) =>
          result.kind === "made"
            ? madeOf(asking, spec, askedKey(asking, { parameters, seed: of[i] as bigint }, result), result.instance)
            : unmade(result),
        );
      });
      return (await Promise.all(turns)).flat();
    },
    async again(asking, spec, key) {
      const result = await askAgain(asking, spec, key, { caller: `again ${spec.environment}` });
      return result.kind === "made" ? madeOf(asking, spec, key, result.instance) : unmade(result);
    },
    async reference(asking, key, requester) {
      const result = await askAgain(asking, asking.asked, key, requester);
      if (result.kind !== "made") return unmade(result);
      return { kind: "reference", answer: asking.environment.reference?.(result.instance) };
    },
  };
}

async function draw(
  resources: Pick<Resources, "run">,
  { environment: { id, resource }, asked }: Asking,
  instance: unknown,
  answer: string | undefined,
  { caller, signal }: Requester,
): Promise<DrawResult> {
  if (asked.draw === undefined || resource === undefined) return { kind: "undrawn", why: `${id} draws no pictures` };
  let drawing: AskedDrawing | undefined;
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
  return toldOf(outcome.kind === "failed" ? outcome : unavailable(resource.name, "it gave nothing"));
}

function madeOf({ environment }: Asking, { answerFormat }: TaskSpec, key: TaskKey, instance: unknown): MadeResult {
  return { kind: "made", task: renderTask(environment, answerFormat, key, instance) };
}

function unmade(result: Exclude<Asked, { kind: "made" }>): Exclude<MakeResult, { kind: "made" }> {
  return result.kind === "failed" ? toldOf(result) : result;
}

function toldOf({ detail, retryDelayMs = RETRY_DELAY_MS }: Failed): Extract<MakeResult, { kind: "unavailable" }> {
  return { kind: "unavailable", message: escaped(detail), retryDelayMs: Math.max(1, Math.ceil(retryDelayMs)) };
}

/** Lost digests whose failures are counted at once; an older one is forgotten, and counted anew when it is asked for. */
const LOST_MAX = 64;

/**
 * Gives the resource that stands for a digest which this server does not have. Its failures are told to who asks for its
 * tasks, and mask its arms after some times, until a server has it again.
 */
function createLost({
  retire,
}: Pick<Resources, "retire">): (environment: Asking["environment"], digest: string | undefined) => Resource {
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
  environment: Asking["environment"],
  digest: string | undefined,
): Failed {
  return unavailable(name, changedSources(environment, digest), { retryDelayMs: RETRY_DELAY_MS });
}

function slices<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
