/** The composition root: starts a server by building all its parts and giving each its dependencies. */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Registry } from "../envs/registry.ts";
import { createBackground } from "./background/background-threads.ts";
import { assemble } from "./assemble.ts";
import { openMounts, reloadMounts } from "./open-mounts.ts";
import { compareReplicas, linkReplicas, openReplicas } from "./open-replicas.ts";
import { openStores } from "./open-stores.ts";
import { orStop, StartError, stopFor } from "./start-error.ts";
import { systemClock } from "./base/system-clock.ts";
import { CurriculumService } from "../proto/gen/gradus/v1/curriculum_pb.js";
import { EnvironmentService } from "../proto/gen/gradus/v1/environment_pb.js";
import { EvaluationService } from "../proto/gen/gradus/v1/evaluation_pb.js";
import { type Activity, createActivity } from "./runtime/activity.ts";
import { type Config, describeConfig } from "./runtime/config.ts";
import { commit, version } from "./runtime/version.ts";
import { createHealth, type Health } from "./runtime/health.ts";
import { type Log, openLog } from "./runtime/logging.ts";
import { createMetrics, type Metrics } from "./runtime/metrics.ts";
import { createOutcomeMeter } from "./runtime/outcome-metrics.ts";
import { registerRuns, registerSigns } from "./runtime/run-metrics.ts";
import { registerSamples } from "./runtime/sampled-metrics.ts";
import { registerLoad, registerState } from "./runtime/state-metrics.ts";
import { openTraces, type Traces } from "./runtime/traces.ts";
import { createCurriculumService } from "./rpc/curriculum/handlers.ts";
import type { Fleet } from "./replicas/fleet.ts";
import { identityOf } from "./replicas/identity.ts";
import { createEnvironmentService } from "./rpc/environment/handlers.ts";
import { createEvaluationService } from "./rpc/evaluation/handlers.ts";
import type { SessionStore } from "./stores/session-store.ts";
import { taskKeysOf } from "./tasks/open-keys.ts";
import { loadEnvironments } from "./tasks/making/load-environments.ts";
import { loadPolicies } from "./tasks/making/load-policies.ts";
import { loadKeyring } from "./tasks/keyring.ts";
import { loadPools, type PoolOptions } from "./rows/pools.ts";
import { reportOf } from "./rows/report.ts";
import { portKinds } from "./outside/port-kinds.ts";
import { mountMetrics } from "./outside/mounted/mount-metrics.ts";
import { type OpenedPorts, openPorts } from "./outside/open-ports.ts";
import { openWorkers } from "./tasks/making/workers.ts";
import { startTransports, type Transports } from "./transport/listen.ts";
import { register } from "./base/rpc.ts";

/**
 * Maximum number of a run's tasks that are made in advance, i.e. before they are drawn. Four update batches of the
 * usual 256 tasks are half of it; the rest is for larger batches.
 */
const AHEAD_MAX = 2048;
/** Maximum number of requests of one stream that are processed at once. */
const STREAM_WINDOW = 64;

export interface Server extends Omit<Transports, "quiesce" | "drain"> {
  /**
   * Resolves when all environments are mounted. Rejects with StartError if a mount fails, or if this server then
   * differs from the other servers of the store. The caller then stops the server.
   */
  readonly mounted: Promise<void>;
  /** Stops the server: lets calls in progress finish, then closes everything. */
  stop(): Promise<void>;
}

/** Callbacks that report the progress of slow steps of a start. */
export interface StartProgress {
  readonly onPoolProgress?: PoolOptions["onProgress"];
}

/** Starts a server. Throws StartError if the server cannot work although the configuration is valid. */
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
  const { registry: own } = orStop(await loadEnvironments(config.environmentFiles));
  orStop(await loadPolicies(config.policyFiles));
  const health = createHealth();
  const activity = createActivity({ calls: metrics.calls, lastErrors: logTo.lastErrors, problem: health.problem });
  starting.defer(() => activity.close());
  const sinceMs = Date.now();
  const { mounts, registry, ready } = openMounts(config, own, log, health);
  starting.defer(() => mounts.close());
  // Suite files are checked against all environments, so reading them waits for the mounts.
  if (config.suiteFiles.length > 0) await ready();
  registerSamples(metrics.registry, ...mountMetrics(mounts.figures));
  const options = { config, replicaId, metrics, health, activity: activity.now, traces, onPoolProgress };
  const parts = await assembleServer(options, registry, logTo);
  const { deps, leave, sessions } = parts;
  starting.defer(parts.close);
  starting.defer(leave);
  const unwatch = reloadMounts(config, { mounts, sinceMs, ...parts }, log);
  starting.defer(unwatch);
  await parts.ready;
  const transports = await startTransports({
    config,
    log,
    metrics,
    health,
    traces,
    sessions,
    services: [
      register(EnvironmentService, createEnvironmentService(deps)),
      register(CurriculumService, createCurriculumService(deps)),
      register(EvaluationService, createEvaluationService(deps)),
    ],
  }).catch(stopFor);
  starting.defer(() => transports.drain());
  const running = starting.move();
  activity.begin();
  const { grpcPort, httpPort, metricsPort } = transports;
  log.info({ host: config.host, grpcPort, httpPort, metricsPort, replica: deps.facts.replicaId }, "listening");
  void parts.replaced.then(() => transports.quiesce());
  const allMounted = ready().then(() =>
    mounts.environments().length > 0 ? compareReplicas(parts.fleet()) : undefined,
  );
  // A caller may ignore `mounted`, so a rejection must not end the process.
  allMounted.catch(() => undefined);
  return {
    grpcPort,
    httpPort,
    metricsPort,
    mounted: allMounted,
    async stop() {
      unwatch();
      // Leaves the fleet (the servers that share the store) first, so that the other servers stop counting on this one
      // before its calls have ended.
      await leave();
      await running.disposeAsync();
      log.info("stopped");
      logTo.flush();
    },
  };
}

interface AssembleOptions {
  readonly config: Config;
  readonly replicaId: string;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly activity: Activity["now"];
  readonly traces: Traces | undefined;
  readonly onPoolProgress: PoolOptions["onProgress"];
}

/** Builds all parts of the server except the transports. */
async function assembleServer(options: AssembleOptions, registry: Registry, { log, dropped }: Log) {
  const { config, replicaId, metrics, health, activity, traces, onPoolProgress } = options;
  await using starting = new AsyncDisposableStack();
  const opened = await openResources(options, log);
  starting.defer(() => opened.close());
  const keys = orStop(loadKeyring(config));
  if (keys.warning !== undefined) log.warn(keys.warning);
  const taskKeys = taskKeysOf(config, keys.keyring);
  const { keyring } = taskKeys;
  const pools = await openPools(config, registry, { log, opened, onPoolProgress });
  const ports = portKinds.map(([name]) => name).filter((name) => opened.missing[name] === undefined);
  const { environmentFiles, policyFiles } = config;
  const made = { version, registry, environmentFiles, policyFiles, pools, ports };
  let fleet: Fleet | undefined;
  let sessions: SessionStore | undefined;
  const warn = (message: string) => (err: Error) => log.warn({ err }, message);
  const parts = {
    config,
    replicaId,
    replicas: () => fleet?.members() ?? [],
    activity,
    registry,
    keyring,
    pools,
    startWorkers: () => openWorkers(config, { warmUp: !config.workersCold, onError: warn("a worker thread failed") }),
    opened,
    missingPorts: opened.missing,
    openStores: async () => {
      const kept = await openStores(config, taskKeys.sealing, log, health).catch(stopFor);
      const { replicas, taskKeys: stored, sealBy, ...stores } = kept;
      sessions = stores.sessions;
      starting.defer(() => stores.sessions.close());
      for (const each of [stores.store, stores.evaluationStore, stores.sampleStore]) starting.defer(() => each.close());
      taskKeys.adopt(stored, sealBy);
      if (replicas === undefined) return { ...stores, clock: systemClock };
      starting.defer(() => fleet?.leave() ?? replicas.close());
      const { drainOthers } = config;
      fleet = await openReplicas(
        { store: replicas, id: replicaId, identity: identityOf(made, keyring), drainOthers },
        log,
      );
      return { ...stores, clock: fleet.clock };
    },
    openBackground: () => createBackground({ environmentFiles, onError: warn("a background thread failed") }),
    streamWindow: STREAM_WINDOW,
    aheadMax: AHEAD_MAX,
    meter: createOutcomeMeter(metrics.registry),
    onStale: markStale(log, health),
    log,
    traces,
    onFailure: (error: unknown, what: string, about?: object) => log.error({ err: error, ...about }, what),
  };
  const { deps, signs, resources, workers, close } = await assemble(parts, (message) => new StartError(message));
  // Nothing below can fail. From now on, `close` closes everything that was opened.
  starting.move();
  const unfollow = taskKeys.follow(log, () => deps.scorer.forget());
  registerLoad(metrics.registry, () => workers.load(), dropped);
  registerState(metrics.registry, { health, resources: () => resources.load(), certificate: config.tls?.cert });
  const replaced = linkReplicas(fleet, { resources, runs: deps.runs }, log, health);
  registerRuns(metrics.registry, deps.runs);
  registerSigns(metrics.registry, signs.present);
  registerSamples(metrics.registry, ...(deps.teacher?.metrics ?? []));
  const closeAll = async (): Promise<void> => {
    unfollow();
    await close();
    await sessions?.close();
  };
  let left: Promise<void> | undefined;
  const leave = async (): Promise<void> => (left ??= fleet?.leave());
  return { deps, sessions, resources, ready: workers.ready, leave, replaced, fleet: () => fleet, close: closeAll };
}

/**
 * Returns a function that marks the server as not ready when its data pools are older than those of a run. Only a
 * restart makes it ready again.
 */
function markStale(log: Log["log"], health: Health) {
  return (message: string): void => {
    if (health.states().get("pools") === undefined)
      log.error(
        { message },
        "a run draws from a newer version of a pool than this server has read: restart the server with the newer file",
      );
    health.set("pools", message);
  };
}

/** Opens the external services that verifiers use: the sandbox and the judge. */
async function openResources({ config, metrics, traces }: AssembleOptions, log: Log["log"]) {
  const opened = await openPorts(config, {
    clock: systemClock,
    ...(traces && { traceHeaders: traces.headers }),
    warn: log.warn.bind(log),
    onOpen: (port, found) =>
      log.info({ port, ...found }, "the external service named in `port` (sandbox or judge) is available"),
    onFault: (port, why) => log.error({ port, why }, "the external service named in `port` (sandbox or judge) failed"),
  });
  for (const [port, reason] of Object.entries(opened.missing))
    log.info({ port, reason }, "the external service named in `port` is not available");
  registerSamples(metrics.registry, ...opened.metrics);
  return opened;
}

/** Loads the data pools. Throws StartError if one cannot be read. */
async function openPools(
  { workers: threads, environmentFiles, dataDir, pools: named, columns }: Config,
  registry: Registry,
  { log, opened, onPoolProgress }: Pick<Log, "log"> & { opened: OpenedPorts } & Pick<AssembleOptions, "onPoolProgress">,
) {
  const loaded = orStop(
    await loadPools(registry, named, {
      threads,
      environmentFiles,
      columns,
      folder: join(dataDir, "pools"),
      openPorts: async () => opened,
      ...(onPoolProgress && { onProgress: onPoolProgress }),
    }),
  );
  for (const pool of loaded.pools.values()) log.info(reportOf(pool), "pool loaded");
  for (const [pool, failure] of loaded.failures)
    log.warn({ pool, unchecked: loaded.pools.get(pool)?.unchecked, failure }, "rows of a pool could not be checked");
  return loaded.pools;
}
