/**
 * Builds the parts of a server that some CLI commands also use without a server, and gives each part its dependencies.
 */
import type { Logger } from "pino";
import type { TaskKey } from "../envs/origin.ts";
import type { Ports } from "../envs/ports.ts";
import type { Pool } from "../envs/pool.ts";
import type { Registry } from "../envs/registry.ts";
import type { Background } from "./background/background-threads.ts";
import type { Clock } from "./base/clock.ts";
import type { Ports as RunPorts } from "./runs/dependencies.ts";
import { createRuns } from "./runs/runs.ts";
import { newIncarnation } from "./runs/incarnation.ts";
import { systemClock } from "./base/system-clock.ts";
import { createEvaluations } from "./evaluation/evaluations.ts";
import type { SuiteDefinition } from "./evaluation/open-suite.ts";
import { loadSuites } from "./evaluation/suite-files.ts";
import type { Config } from "./runtime/config.ts";
import { commit, version } from "./runtime/version.ts";
import type { Traces } from "./runtime/traces.ts";
import type { ServiceDeps } from "./rpc/deps.ts";
import { createNoRewards } from "./tasks/scoring/no-rewards.ts";
import { presentAhead } from "./rpc/curriculum/write-tasks.ts";
import { recordItem } from "./rpc/record-feedback.ts";
import type { EvaluationStore, Holds } from "./stores/evaluation-store.ts";
import type { SampleStore } from "./stores/sample-store.ts";
import { createSamples, type Samples } from "./samples/kept-samples.ts";
import { createSignWatch } from "./samples/sign-watch.ts";
import type { Store } from "./stores/store.ts";
import { createAsyncScorer } from "./tasks/scoring/async-scorer.ts";
import type { Keyring } from "./tasks/keyring.ts";
import { createMaker } from "./tasks/making/make.ts";
import type { MissingPorts, OpenedPorts } from "./outside/open-ports.ts";
import { createResources, type Resources } from "./outside/gate/resources.ts";
import { createRunRanks } from "./tasks/making/run-ranks.ts";
import { createReplaced } from "./tasks/making/replaced-sources.ts";
import { createRunRows } from "./tasks/making/run-rows.ts";
import { createRunSource } from "./tasks/making/run-source.ts";
import { createScorer } from "./tasks/scoring/scorer.ts";
import { spansOf } from "./spans.ts";
import { createTeacher } from "./outside/teacher/teacher.ts";
import type { WorkerPool } from "./tasks/making/workers.ts";
import { haveSameTasks, type TaskSpec } from "./tasks/spec.ts";

export interface Stores {
  readonly store: Store;
  readonly evaluationStore: EvaluationStore;
  /** Store of the completions that runs keep. */
  readonly sampleStore: SampleStore;
  readonly holds: Holds;
  /** Clock that all processes with these stores share. */
  readonly clock: Clock;
}

export interface AssemblyParts {
  readonly config: Pick<Config, "limits" | "mounted" | "store" | "suiteFiles" | "teacher" | "keepSamples">;
  readonly registry: Registry;
  readonly keyring: Keyring;
  readonly pools: ReadonlyMap<string, Pool>;
  /** Starts the worker threads. Called last, because running threads keep a process alive whose start fails. */
  readonly startWorkers: () => WorkerPool | Promise<WorkerPool>;
  readonly opened: { readonly ports: Ports; readonly limits: OpenedPorts["limits"]; close(): Promise<void> };
  readonly missingPorts: MissingPorts;
  readonly openStores: () => Promise<Stores>;
  /** Opens the threads for background jobs (e.g. pictures), given the registry of environments. */
  readonly openBackground: (registry: Registry) => Background;
  readonly streamWindow: number;
  /** Maximum number of a run's tasks that are made in advance, i.e. before they are drawn. */
  readonly aheadMax?: number;
  readonly meter?: ServiceDeps["meter"];
  /** Called when this server must not work on a run, because the run was made with newer data pools. */
  readonly onStale?: (message: string) => void;
  readonly log: Logger;
  /**
   * Returns the servers that share the store, each with the time since its last sign of life. Left out: the store is
   * not shared.
   */
  readonly replicas?: ServiceDeps["status"]["replicas"];
  /** Returns the load of the last minutes. Left out: this is a CLI command, which serves nobody. */
  readonly activity?: ServiceDeps["status"]["activity"];
  /** Id by which other servers and the log know this server. Left out: this is a CLI command, which serves nobody. */
  readonly replicaId?: string;
  /** Exporter of traces. Left out: no traces are exported. */
  readonly traces?: Traces | undefined;
  /**
   * Returns suites in addition to the built-in ones and those from suite files. Left out: there are none. Throws if a
   * suite's sources cannot be used.
   */
  readonly suitesOf?: ((pools: ReadonlyMap<string, Pool>) => readonly SuiteDefinition[]) | undefined;
  /**
   * Called with each internal error of which the client sees only a short reason. `what` says what failed, and `about`
   * gives details.
   */
  readonly onFailure: (error: unknown, what: string, about?: Readonly<Record<string, unknown>>) => void;
}

/** Returns the kind of a store, without the database's address, which may contain a password. */
const storeKind = (store: string): string => (/^postgres(ql)?:/.test(store) ? "postgres" : store);

/** Builds all parts. If the suites cannot be read, throws the error that `problem` makes from the message. */
export async function assemble(parts: AssemblyParts, problem: (message: string) => Error) {
  const { config, registry, keyring, pools, opened, missingPorts, onFailure } = parts;
  const loaded = loadSuites(registry, config.suiteFiles, { pools, missingPorts });
  if (loaded.kind === "invalid") throw problem(loaded.message);
  const spans = spansOf(parts.traces);
  const { evaluationStore, sampleStore, holds, clock, ...stores } = await parts.openStores();
  const store = spans.store(stores.store);
  const workers = spans.workers(await parts.startWorkers());
  const resources = spans.resources(
    createResources({
      clock: systemClock,
      ports: opened.ports,
      limits: opened.limits,
      onFailure: (error, resource) => onFailure(error, "a resource threw an error while it was used", { resource }),
    }),
  );
  const background = parts.openBackground(registry);
  const teacher = createTeacher({ registry, resources, endpoint: config.teacher });
  const maker = createMaker({ workers, registry, pools, resources, teacher });
  const ranks = createRunRanks(pools);
  const { samples, signs } = openSamples(parts, sampleStore, () => deps.runs);
  const replaced = createReplaced(registry, config.mounted.replacedGraceMs);
  const rows = createRunRows({ pools, ranks, replaced, loadedAtMs: clock.now() });
  const source = sourceOf(createRunSource(maker, ranks), () => deps);
  const runs = spans.runs(runsOf(parts, { store, clock, samples, source, rows }));
  const scorers = createScorers(parts, { resources, runs });
  const { scorer } = scorers;
  const asyncScorer = spans.scorer(scorers.asyncScorer);
  const evaluations = createEvaluations({
    store: evaluationStore,
    holds,
    maker,
    scorer,
    asyncScorer,
    registry,
    suites: [...loaded.suites, ...(parts.suitesOf?.(pools) ?? [])],
    sources: { pools, missingPorts },
    now: () => clock.now(),
  });
  const deps: ServiceDeps = {
    facts: { version, commit, store: storeKind(config.store), replicaId: parts.replicaId ?? "" },
    status: statusOf(parts, { workers, background, resources }),
    noRewards: createNoRewards(),
    keyring,
    registry,
    pools,
    ranks,
    maker,
    teacher,
    missingPorts,
    scorer,
    asyncScorer,
    runs,
    background,
    samples,
    evaluations,
    onFailure,
    limits: config.limits,
    streamWindow: parts.streamWindow,
    meter: parts.meter,
  };
  /** Closes all parts, including those that the caller passed in. */
  const close = async (): Promise<void> => {
    teacher?.close();
    resources.close();
    runs.close();
    for (const each of [opened, workers, background, samples, signs, store, evaluationStore, sampleStore])
      await each.close();
  };
  return { deps, signs, resources, workers, close };
}

/** Opens the samples of runs, and the watch for signs of reward hacking in the counts of samples. */
function openSamples({ config, log }: AssemblyParts, store: Stores["sampleStore"], runs: () => ServiceDeps["runs"]) {
  const countsOf = async (runId: string) => {
    const incarnations = await runs().incarnations(runId);
    return incarnations.kind === "ok" ? [...(await samples.counts(runId, incarnations.value)).arms.values()] : [];
  };
  const signs = createSignWatch(countsOf, systemClock, log);
  const samples = createSamples({ store, clock: systemClock, log, onCounted: signs.note, ...config.keepSamples });
  return { samples, signs };
}

type Source = RunPorts<TaskSpec, TaskKey>["source"];

/** Returns a source of tasks that also makes the messages of tasks before NextBatch asks for them. */
function sourceOf(source: Source, deps: () => ServiceDeps): Source {
  return { ...source, present: (...soon) => presentAhead(deps(), ...soon) };
}

function runsOf(
  { log, aheadMax, onStale, registry }: AssemblyParts,
  made: Pick<RunPorts<TaskSpec, TaskKey>, "store" | "clock" | "source" | "rows"> & {
    samples: Samples;
  },
) {
  const { samples, ...ports } = made;
  return createRuns({
    ...ports,
    haveSameTasks: haveSameTasks(registry),
    newIncarnation,
    onRemoved: (runId) => {
      samples
        .remove(runId)
        .catch((err: unknown) => log.warn({ err, run: runId }, "completions of a deleted run could not be deleted"));
    },
    log,
    ...(onStale && { onStale }),
    ...(aheadMax !== undefined && { aheadMax }),
  });
}

/** Returns functions that report the server's present state, e.g. its queues and failed resources. */
function statusOf(
  { config, replicas, activity }: AssemblyParts,
  { workers, background, resources }: { workers: WorkerPool; background: Background; resources: Resources },
): ServiceDeps["status"] {
  const downs = new Map<string, string>();
  resources.onChange((name, down) => (down === undefined ? downs.delete(name) : downs.set(name, down)));
  return {
    startedAtMs: systemClock.now(),
    queues: () => [{ name: "tasks", waitingMax: config.limits.maxQueue, ...workers.load() }, ...background.load()],
    ports: () => resources.load().map((load) => ({ ...load, down: downs.get(load.name) })),
    replicas: replicas ?? (() => []),
    activity,
  };
}

function createScorers(
  { config, keyring, registry, pools, onFailure }: AssemblyParts,
  { resources, runs }: { readonly resources: Resources; readonly runs: ServiceDeps["runs"] },
) {
  const scoring = {
    keyring,
    completionBytesMax: config.limits.maxCompletionBytes,
    onFailure: (error: unknown, { environment, version }: { environment: string; version: number }) =>
      onFailure(error, "scoring failed: the sample has no reward", { environment, version }),
  };
  return {
    scorer: createScorer({ ...scoring, registry, pools }),
    asyncScorer: createAsyncScorer({
      ...scoring,
      resources,
      record: (runId, item) => recordItem({ runs, onFailure }, runId, item),
    }),
  };
}
