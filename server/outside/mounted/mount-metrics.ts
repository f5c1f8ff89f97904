/** Counts requests to mounted environments and their results, for the metrics. */
import { byName, counter, countUp, gauge, type Sample, type SampledMetric } from "../../runtime/sampled-metrics.ts";
import type { Trials } from "./examine-levels.ts";
import type { AskedEnvironment, Failure, Provider } from "./provider.ts";

/**
 * Kind of request to a provider. "instance": make a new instance. "again": make an earlier instance again, which
 * neither its task id nor the cache holds. "verdict": verify an answer. "drawing": make a picture.
 */
type What = "instance" | "again" | "verdict" | "drawing";

/** Counts of one kind of request to one environment. */
interface Count {
  readonly environment: string;
  readonly item: What;
  /** Number of results by outcome: "ok", "exhausted" (no instance found), or the kind of failure. */
  readonly results: Map<string, number>;
  /** Total time of the requests, in seconds. Includes waiting in the queue. */
  seconds: number;
}

/** Counts and times of one mounted file or provider since the server started. Metrics and status pages show them. */
export interface MountFigures {
  readonly name: string;
  readonly items: readonly Count[];
  /** Number of worker processes that ended and were replaced, by the reason in one word, e.g. "late" or "memory". */
  readonly workerEnds: ReadonlyMap<string, number>;
  /** Number of host processes (each has loaded a Python file) that ended and were started again. */
  readonly hostEnds: number;
  /**
   * Number of reloads by outcome. "changed": the new code is served. "same": the code had not changed. "kept": the new
   * code cannot be mounted, so the old code is still served.
   */
  readonly remounts: ReadonlyMap<string, number>;
  /**
   * Number of levels by the result of their examination: "lawful" (served), "unlawful" (not served), "unavailable" (the
   * provider did not answer) or "untried".
   */
  readonly levels: ReadonlyMap<string, number>;
}

/** Counts the events of one mounted file or provider. */
export interface MountCounter {
  count(provider: Provider): Provider;
  readonly workerEnded: (why: string) => void;
  readonly hostEnded: () => void;
  readonly remounted: (outcome: string) => void;
  figures(levels: Trials["counts"]): MountFigures;
}

export function createMountCounter(name: string): MountCounter {
  const items = new Map<string, Count>();
  const workerEnds = new Map<string, number>();
  const remounts = new Map<string, number>();
  let hostEnds = 0;
  const countOf = ({ id: environment }: AskedEnvironment, item: What): Count => {
    const key = `${environment} ${item}`;
    const count = items.get(key) ?? { environment, item, results: new Map<string, number>(), seconds: 0 };
    items.set(key, count);
    return count;
  };
  /** Awaits the results of a request. Counts the time, and the outcome of each result. */
  const timed = async <Answer>(
    count: Count,
    asking: Promise<Answer>,
    resultsOf: (answer: Answer) => readonly { readonly kind: string }[],
  ): Promise<Answer> => {
    const startedAtMs = performance.now();
    const answer = await asking;
    count.seconds += (performance.now() - startedAtMs) / 1000;
    for (const result of resultsOf(answer)) countUp(count.results, nameOf(result));
    return answer;
  };
  return {
    count: (provider) => ({
      ...provider,
      generate: (environment, asked, options) =>
        timed(
          countOf(environment, options.again === true ? "again" : "instance"),
          provider.generate(environment, asked, options),
          (all) => all,
        ),
      verify: (environment, asked, options) =>
        timed(countOf(environment, "verdict"), provider.verify(environment, asked, options), (one) => [one]),
      draw: (environment, asked, options) =>
        timed(countOf(environment, "drawing"), provider.draw(environment, asked, options), (one) => [one]),
    }),
    workerEnded: (why) => countUp(workerEnds, why),
    hostEnded: () => void hostEnds++,
    remounted: (outcome) => countUp(remounts, outcome),
    figures: (levels) => ({ name, items: [...items.values()], workerEnds, hostEnds, remounts, levels: levels() }),
  };
}

function nameOf(result: { readonly kind: string }): string {
  if (result.kind === "failure") return (result as Failure).failure;
  return result.kind === "exhausted" ? "exhausted" : "ok";
}

export function mountMetrics(figures: () => readonly MountFigures[]): readonly SampledMetric[] {
  const of = (samplesOf: (mount: MountFigures) => readonly Sample[]) => () => figures().flatMap(samplesOf);
  return [
    counter(
      "gradus_mount_items_total",
      "Requests to mounted environments: instances made (again: an earlier one that is no longer cached), answers verified and pictures drawn, by outcome: ok, exhausted, or the kind of failure.",
      of(({ name: mount, items }) =>
        items.flatMap(({ environment, item, results }) => byName("result", results, { mount, environment, item })),
      ),
    ),
    counter(
      "gradus_mount_seconds_total",
      "Seconds that requests to mounted environments took, including the wait in the queue.",
      of(({ name: mount, items }) =>
        items.map(({ environment, item, seconds: value }) => ({ labels: { mount, environment, item }, value })),
      ),
    ),
    counter(
      "gradus_mount_worker_ends_total",
      "Workers of a mounted file that ended and were replaced, by reason: late, stale (an item needed a fresh one, or a slow batch delayed other callers), lying (it sent an answer that nobody requested), timeout, crashed, memory or host.",
      of(({ name: mount, workerEnds }) => byName("why", workerEnds, { mount })),
    ),
    counter(
      "gradus_mount_host_ends_total",
      "Hosts of a mounted file that ended and were started again.",
      of(({ name: mount, hostEnds: value }) => [{ labels: { mount }, value }]),
    ),
    counter(
      "gradus_mount_remounts_total",
      "Reloads of changed files, by outcome: changed, same, or kept (the new code cannot be mounted, and the old code stays in use).",
      of(({ name: mount, remounts }) => byName("outcome", remounts, { mount })),
    ),
    gauge(
      "gradus_mount_levels",
      "Levels of a mounted file or provider by the result of their examination: lawful, unlawful (not served; the log says why), unavailable, or untried (not examined yet).",
      of(({ name: mount, levels }) => byName("found", levels, { mount })),
      "max",
    ),
  ];
}
