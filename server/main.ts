/** The composition root: makes all parts of the server, and gives each its dependencies. */
import type { Logger } from "pino";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { createChangingRegistry, type Registry } from "../envs/registry.ts";
import { createAside } from "./background/threads.ts";
import { assemble } from "./assemble.ts";
import { mountAgain, waitingFor } from "./mount-again.ts";
import { openStores } from "./open-stores.ts";
import { systemClock } from "./base/system-clock.ts";
import { CurriculumService } from "../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../proto/gen/gradus/v1/evaluation_pb.js";
import { type Config, describeConfig } from "./runtime/config.ts";
import { commit, version } from "./runtime/version.ts";
import { createHealth, type Health } from "./runtime/health.ts";
import { type Log, openLog } from "./runtime/logging.ts";
import { createMetrics, type Metrics } from "./runtime/metrics.ts";
import { createOutcomeMeter } from "./runtime/outcomes.ts";
import { registerRuns } from "./runtime/run-metrics.ts";
import { counter, gauge, one, registerSamples } from "./runtime/sampled-metrics.ts";
import { registerState } from "./runtime/state-metrics.ts";
import { TokensProblem } from "./runtime/tokens.ts";
import { openTraces, type Traces } from "./runtime/traces.ts";
import { createCurriculumService } from "./rpc/curriculum/handlers.ts";
import { type Fleet, joinFleet } from "./replicas/fleet.ts";
import { type Identity, identityOf } from "./replicas/identity.ts";
import type { ServiceDeps } from "./rpc/deps.ts";
import { createEnvironmentService } from "./rpc/environment/handlers.ts";
import { createEvaluationService } from "./rpc/evaluation/handlers.ts";
import { taskKeysOf } from "./tasks/open-keys.ts";
import type { ReplicaStore } from "./stores/replica-store.ts";
import { CannotOpen } from "./stores/thread.ts";
import { loadEnvironments } from "./tasks/making/load-environments.ts";
import { loadPolicies } from "./tasks/making/load-policies.ts";
import { loadKeyring } from "./tasks/keyring.ts";
import { loadPools, type PoolOptions } from "./rows/pools.ts";
import { reportOf } from "./rows/report.ts";
import { portKinds } from "./outside/kinds.ts";
import { mountMetrics } from "./outside/mounted/counts.ts";
import { beginMounts, type MountContext, type Mounts, withMounts } from "./outside/mounted/open.ts";
import { type OpenedPorts, openPorts } from "./outside/open.ts";
import type { Resources } from "./outside/gate/resources.ts";
import { createWorkerPool, type WorkerPool } from "./tasks/making/workers.ts";
import { CannotListen } from "./transport/cannot-listen.ts";
import { startTransports, type Transports } from "./transport/listen.ts";
import { register } from "./base/rpc.ts";

/**
 * Maximum number of tasks of a run that are made ahead of their draw: four update batches of the usual 256 and their
 * spread.
 */
const AHEAD_MAX = 2048;
/**
 * The server counts as ready without a mount that takes longer than this, in milliseconds. A mount that fails sooner
 * ends the server before it is ready.
 */
const READY_WITHOUT_MS = 10_000;
/** Maximum number of requests of one stream that are processed at once. */
const STREAM_WINDOW = 64;

export interface Server extends Omit<Transports, "quiesce" | "drain"> {
  /**
   * Resolves when everything is mounted. Rejects with StartError if a mount fails, or if this server then differs from
   * the others; the caller then stops the server.
   */
  readonly mounted: Promise<void>;
  /** Drains and closes everything; calls in progress finish first. */
  stop(): Promise<void>;
}

/** A problem that the operator has to mend before the server can start. */
export class StartError extends Error {
  /** "failure": a port, a store, another server or a mount; undefined: a file that an option names. */
  readonly kind: "failure" | undefined;

  constructor(message: string, kind?: "failure") {
    super(message);
    this.kind = kind;
  }
}

/** Callbacks for the slow steps of a start. */
export interface StartProgress {
  readonly onPoolProgress?: PoolOptions["onProgress"];
}

/** Starts a server. Throws StartError if a valid configuration still cannot work. */
export async function serve(
  config: Config,
  logTo: Log = openLog(config),
  { onPoolProgress }: StartProgress = {},
): Promise<Server> {
  const { log } = logTo;
  await using starting = new AsyncDisposableStack();
  log.info({ version, ...(commit !== "" && { commit }), node: process.versions.node }, "starting");
  const replicaId = `${hostname()}/${process.pid}/${randomBytes(4).toString("hex")}`;
  const traces = await openTraces(process.env, log, replicaId);
  starting.defer(async () => traces?.stop());
  log.info(describeConfig(config), "configuration");
  for (const warning of config.warnings) log.warn(warning);
  const metrics = createMetrics();
  const environments = await loadEnvironments(config.environmentFiles);
  if (environments.kind === "invalid") throw new StartError(environments.message);
  const policies = await loadPolicies(config.policyFiles);
  if (policies.kind === "invalid") throw new StartError(policies.message);
  const health = createHealth();
  const sinceMs = Date.now();
  const { mounts, registry } = beginTheMounts(config, environments.registry, log, health);
  starting.defer(() => mounts.close());
  // Suite files are checked against all environments, so they wait for the mounts.
  if (config.suiteFiles.length > 0) await mountedAll(mounts);
  registerSamples(metrics.registry, ...mountMetrics(mounts.figures));
  const parts = await assembleServer({ config, replicaId, metrics, health, traces, onPoolProgress }, registry, logTo);
  const { deps, leave } = parts;
  starting.defer(parts.close);
  starting.defer(leave);
  const unwatch = mountAgain(config, { mounts, sinceMs, ...parts }, log);
  starting.defer(unwatch);
  await parts.ready;
  const transports = await startTransports({
    config,
    log,
    metrics,
    health,
    traces,
    services: [
      register(EnvironmentService, createEnvironmentService(deps)),
      register(CurriculumService, createCurriculumService(deps)),
      register(EvaluationService, createEvaluationService(deps)),
    ],
  }).catch((error: unknown) => {
    throw startError(error);
  });
  starting.defer(() => transports.drain());
  const running = starting.move();
  const { grpcPort, httpPort, metricsPort } = transports;
  log.info({ host: config.host, grpcPort, httpPort, metricsPort, replica: deps.facts.replicaId }, "listening");
  void parts.replaced.then(() => transports.quiesce());
  const allMounted = mountedAll(mounts).then(() => (mounts.environments().length > 0 ? parts.meet() : undefined));
  // A caller may ignore `mounted`, so a rejection must not end the process.
  allMounted.catch(() => undefined);
  return {
    grpcPort,
    httpPort,
    metricsPort,
    mounted: allMounted,
    async stop() {
      unwatch();
      // Leaves first, so that the other servers stop counting this one before its calls have ended.
      await leave();
      await running.disposeAsync();
      log.info("stopped");
      logTo.flush();
    },
  };
}

/** Begins to mount, and returns a registry of the environments that are mounted so far. */
function beginTheMounts({ mounted }: Config, own: Registry, log: Logger, health: Health) {
  const here = createChangingRegistry(own);
  const onRefused: MountContext["onRefused"] = (refused) =>
    log.warn(refused, "the server does not serve this part of a mount");
  const mounts = beginMounts(mounted, {
    onRefused,
    onMount: ({ refused, remarks, ...what }) => {
      log.info(what, "mounted");
      for (const each of refused) onRefused(each);
      for (const remark of remarks) log.info({ mount: what.name, remark }, "the mount reports");
    },
    onFault: (mount, why) => log.error({ mount, problem: why }, "a mount failed"),
    adopt: (environments) => {
      const all = withMounts(own, environments);
      if (typeof all === "string") return all;
      here.replace(all.environments);
      return undefined;
    },
  });
  if (mounts.pending().length > 0) health.set("mounts", `${mounts.pending().join(", ")} is being mounted`);
  const isWell = (): void => health.set("mounts", undefined);
  const patience = setTimeout(isWell, READY_WITHOUT_MS).unref();
  void mounts.ready.then((why) => {
    clearTimeout(patience);
    if (why === undefined) isWell();
  });
  return { mounts, registry: waitingFor(mounts, here) };
}

/** Throws StartError if something cannot be mounted. */
async function mountedAll({ ready }: Mounts): Promise<void> {
  const why = await ready;
  if (why !== undefined) throw new StartError(why, "failure");
}

interface AssembleOptions {
  readonly config: Config;
  readonly replicaId: string;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly traces: Traces | undefined;
  readonly onPoolProgress: PoolOptions["onProgress"];
}

/** Makes everything but the transports. */
async function assembleServer(options: AssembleOptions, registry: Registry, { log, dropped }: Log) {
  const { config, replicaId, metrics, health, traces, onPoolProgress } = options;
  await using starting = new AsyncDisposableStack();
  const opened = await openThePorts(options, log);
  starting.defer(() => opened.close());
  const keys = loadKeyring(config);
  if (keys.kind === "invalid") throw new StartError(keys.message);
  if (keys.warning !== undefined) log.warn(keys.warning);
  const taskKeys = taskKeysOf(config, keys.keyring);
  const { keyring } = taskKeys;
  const pools = await openPools(config, registry, { log, opened, onPoolProgress });
  const ports = portKinds.map(([name]) => name).filter((name) => opened.missing[name] === undefined);
  const { environmentFiles, policyFiles } = config;
  const made = { version, registry, environmentFiles, policyFiles, pools, ports };
  let fleet: Fleet | undefined;
  const parts = {
    config,
    replicaId,
    replicas: () => fleet?.members() ?? [],
    registry,
    keyring,
    pools,
    startWorkers: () => startWorkers(config, log),
    opened,
    missingPorts: opened.missing,
    openStores: async () => {
      const opening = openStores(config, taskKeys.sealing, log, health);
      const kept = await opening.catch((error: unknown) => {
        throw error instanceof CannotOpen ? new StartError(error.message, "failure") : error;
      });
      const { replicas, taskKeys: stored, sealBy, ...stores } = kept;
      for (const each of [stores.store, stores.evaluationStore, stores.sampleStore]) starting.defer(() => each.close());
      taskKeys.adopt(stored, sealBy);
      if (replicas === undefined) return { ...stores, clock: systemClock };
      starting.defer(() => fleet?.leave() ?? replicas.close());
      fleet = await joinOthers(replicas, replicaId, config, identityOf(made, keyring), log);
      return { ...stores, clock: fleet.clock };
    },
    openAside: () =>
      createAside({
        environmentFiles,
        onError: (error) => log.warn({ err: error }, "a background thread failed"),
      }),
    streamWindow: STREAM_WINDOW,
    aheadMax: AHEAD_MAX,
    meter: createOutcomeMeter(metrics.registry),
    onStale: toldStale(log, health),
    log,
    traces,
    onFailure: (error: unknown, what: string, about?: object) => log.error({ err: error, ...about }, what),
  };
  const { deps, resources, workers, close } = await assemble(parts, (message) => new StartError(message));
  // The following steps do not fail, and `close` closes everything that was opened.
  starting.move();
  const unfollow = taskKeys.follow(log, () => deps.scorer.forget());
  registerGauges(metrics, workers, dropped);
  registerState(metrics.registry, { health, resources: () => resources.load(), certificate: config.tls?.cert });
  const replaced = listen(fleet, { resources, runs: deps.runs }, log, health);
  registerRuns(metrics.registry, deps.runs);
  registerSamples(metrics.registry, ...(deps.teacher?.metrics ?? []));
  const closeAll = async (): Promise<void> => {
    unfollow();
    await close();
  };
  let left: Promise<void> | undefined;
  const leave = async (): Promise<void> => (left ??= fleet?.leave());
  return { deps, resources, ready: workers.ready, leave, replaced, meet: () => meetOthers(fleet), close: closeAll };
}

/** Throws StartError if this server may not serve beside the others, once everything is mounted. */
async function meetOthers(fleet: Fleet | undefined): Promise<void> {
  const differs = await fleet?.differs();
  if (differs !== undefined) throw new StartError(differs, "failure");
}

/**
 * Returns a function that marks the server as not ready when its pools are older than a run's. Only a restart makes it
 * ready again.
 */
function toldStale(log: Log["log"], health: Health) {
  return (message: string): void => {
    if (health.states().get("pools") === undefined)
      log.error({ message }, "a pool of this server is older than a run's: restart the server with the newer pool");
    health.set("pools", message);
  };
}

/** Joins the servers that share the stores. Throws StartError if this server is refused. */
async function joinOthers(
  store: ReplicaStore,
  id: string,
  { drainOthers }: Config,
  identity: () => Identity,
  log: Log["log"],
): Promise<Fleet> {
  const joined = await joinFleet({
    store,
    id,
    identity,
    drainOthers,
    clock: systemClock,
    pause: (ms) => sleep(ms),
    onWait: (reason) => log.warn({ reason }, "waiting to see whether another server is still there"),
  });
  if (joined.kind === "refused") throw new StartError(joined.message, "failure");
  return joined.fleet;
}

/**
 * Connects resources, runs and the other servers: arms whose resource is down are not drawn from, unless another server
 * of the same stores can use it. The returned promise resolves when another server replaces this one.
 */
function listen(
  fleet: Fleet | undefined,
  { resources, runs }: { readonly resources: Resources; readonly runs: ServiceDeps["runs"] },
  log: Log["log"],
  health: Health,
) {
  // maskArms logs its own failures.
  const mask = (resource: string, down: string | undefined): void => void runs.maskArms(resource, down);
  resources.onChange((resource, down) => {
    if (down === undefined) log.info({ resource }, "a resource is in use again");
    else log.warn({ resource, reason: down }, "a resource is down");
    if (fleet === undefined) mask(resource, down);
    else fleet.tell(resource, down);
  });
  const { promise: replaced, resolve } = Promise.withResolvers<void>();
  fleet?.start({
    onDown: mask,
    onLack: (resource) => {
      if (resource !== undefined)
        log.warn({ resource }, "a resource is down here but not on another server: send calls there");
      health.set("resources", resource && `${resource} is down here and not on another server of the store`);
    },
    onKeys: (trouble) => {
      if (trouble === undefined) log.info("the keys of this server match those of the others again");
      else log.error({ trouble }, "this server is not ready: its keys differ; give it the key file of the others");
      health.set("keys", trouble && `${trouble}; give it the key file of the others`);
    },
    onReplaced: (by) => {
      log.warn({ by }, "another server replaces this one, which takes no more calls: stop it");
      resolve();
    },
    onProblem: (err) => {
      if (err === undefined) log.info("the replica table can be reached again");
      else log.warn({ err }, "cannot reach the replica table; other replicas may be down");
    },
  });
  return replaced;
}

async function openThePorts({ config, metrics, traces }: AssembleOptions, log: Log["log"]) {
  const opened = await openPorts(config, {
    clock: systemClock,
    ...(traces && { traceHeaders: traces.headers }),
    warn: log.warn.bind(log),
    onOpen: (port, found) => log.info({ port, ...found }, "a resource is available"),
    onFault: (port, why) => log.error({ port, why }, "a resource failed"),
  });
  for (const [port, reason] of Object.entries(opened.missing)) log.info({ port, reason }, "a resource is missing");
  registerSamples(metrics.registry, ...opened.metrics);
  return opened;
}

function startWorkers({ workers, limits, workerTimeLimitMs, environmentFiles }: Config, log: Log["log"]): WorkerPool {
  return createWorkerPool({
    threads: workers,
    queueMax: limits.maxQueue,
    timeLimitMs: workerTimeLimitMs,
    environmentFiles,
    warmUp: true,
    onError: (error) => log.warn({ err: error }, "a worker thread failed"),
  });
}

async function openPools(
  { workers: threads, environmentFiles, dataDir, pools: named, columns }: Config,
  registry: Registry,
  { log, opened, onPoolProgress }: Pick<Log, "log"> & { opened: OpenedPorts } & Pick<AssembleOptions, "onPoolProgress">,
) {
  const loaded = await loadPools(registry, named, {
    threads,
    environmentFiles,
    columns,
    folder: join(dataDir, "pools"),
    openPorts: async () => opened,
    ...(onPoolProgress && { onProgress: onPoolProgress }),
  });
  if (loaded.kind === "invalid") throw new StartError(loaded.message);
  for (const pool of loaded.pools.values()) log.info(reportOf(pool), "pool loaded");
  for (const [pool, failure] of loaded.failures)
    log.warn({ pool, unchecked: loaded.pools.get(pool)?.unchecked, failure }, "rows of a pool could not be checked");
  return loaded.pools;
}

function registerGauges({ registry }: Metrics, workers: WorkerPool, dropped: Log["dropped"]): void {
  const waiting = () => one(workers.load().waiting);
  const running = () => one(workers.load().running);
  const lost = "Log lines dropped because their reader does not keep up.";
  registerSamples(
    registry,
    gauge("gradus_worker_jobs_waiting", "Tasks that wait for a worker.", waiting, "sum"),
    gauge("gradus_worker_jobs_running", "Workers that are making tasks.", running, "sum"),
    counter("gradus_log_lines_dropped_total", lost, () => one(dropped())),
  );
}

/** Returns a StartError for problems that the operator can mend, a port or the tokens; any other error is a bug. */
function startError(error: unknown): unknown {
  if (error instanceof TokensProblem) return new StartError(`the tokens of --tokens-file: ${error.message}`);
  return error instanceof CannotListen ? new StartError(error.message, "failure") : error;
}
