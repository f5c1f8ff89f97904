/** Runs the server's handlers in this process, with the keys of the data directory. */
import type { DescMethod } from "@bufbuild/protobuf";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pino } from "pino";
import { clientOver, type GradusClient } from "../clients/ts/src/client.ts";
import { GradusError } from "../clients/ts/src/errors.ts";
import type { Attempt, Transport } from "../clients/ts/src/transport.ts";
import type { Registry } from "../envs/registry.ts";
import { assemble, type Stores } from "../server/assemble.ts";
import { backgroundInProcess } from "../server/background/in-process.ts";
import { systemClock } from "../server/base/system-clock.ts";
import type { Config } from "../server/runtime/config.ts";
import type { ServiceDeps } from "../server/rpc/deps.ts";
import { createEnvironmentService } from "../server/rpc/environment/handlers.ts";
import { createEvaluationService } from "../server/rpc/evaluation/handlers.ts";
import { memoryEvaluationStore, memorySampleStore, memoryStore } from "../server/stores/memory.ts";
import { fileHolds, memoryHolds } from "../server/stores/holds.ts";
import { loadEnvironments } from "../server/tasks/making/load-environments.ts";
import { loadPolicies } from "../server/tasks/making/load-policies.ts";
import { runSlice } from "../server/tasks/making/make-slice.ts";
import { say } from "../server/runtime/terminal.ts";
import { type KeyringResult, loadKeyring, signingKey } from "../server/tasks/keyring.ts";
import { loadPools, type PoolsResult } from "../server/rows/pools.ts";
import { limitsOf, type OpenedPorts, openPorts } from "../server/outside/open-ports.ts";
import type { Refused } from "../server/outside/mounted/read-description.ts";
import type { WorkerPool } from "../server/tasks/making/workers.ts";
import { type CallContext, RpcError } from "../server/base/rpc.ts";
import { createLocalPorts, missingHere } from "./local-ports.ts";
import { mountBars, poolBars } from "./pool-bars.ts";
import { fileProblem } from "./problem.ts";

/** Client and handlers of the environments in this process. */
export interface Local {
  readonly client: GradusClient;
  /** Dependencies of the handlers, such as the keys that open task ids. */
  readonly deps: ServiceDeps;
}

/**
 * Makes tasks one after another in this thread. Starting a worker thread would take longer than making a command's
 * task.
 */
function workHere(registry: Registry): WorkerPool {
  return {
    ready: Promise.resolve(),
    run: async ({ spec, seeds }) => {
      const { results } = runSlice(registry, { spec, seeds, progress: undefined, sliceMs: Infinity });
      return results;
    },
    load: () => ({ waiting: 0, running: 0 }),
    close: async () => undefined,
  };
}

/** Starts worker threads, for the thousands of tasks of a run. */
async function threads(config: Config): Promise<WorkerPool> {
  const { openWorkers } = await import("../server/tasks/making/workers.ts");
  return openWorkers(config, { warmUp: false, onError: tell });
}

/** Prints an error in Gradus's own code, because the outcome for the client says only "internal". */
const tell = (error: unknown): void => say(`gradus: ${error instanceof Error ? error.message : String(error)}`);

const silent = pino({ level: "silent" });
const neverAborted = new AbortController().signal;

/**
 * Kind of work that a command does in this process. "environments": it makes no task ids for later use, and leaves
 * nothing in the data directory. "tasks": it makes task ids for later use, or opens task ids. "evaluations": it also
 * keeps evaluations on disk. "runs": it drives whole runs, which end with the process; worker threads make their tasks.
 */
export type Needs = "evaluations" | "tasks" | "environments" | "runs";

function keysOf(config: Config, needs: Needs): KeyringResult {
  if (needs === "tasks" || needs === "evaluations") return loadKeyring(config);
  return { kind: "ok", keyring: [signingKey(randomBytes(32))], created: true };
}

/** Loads the pools of rows. Opens the sandbox if reading a row needs it. */
async function poolsOf(registry: Registry, config: Config): Promise<PoolsResult> {
  const bars = poolBars();
  let checking: Promise<OpenedPorts> | undefined;
  return loadPools(registry, config.pools, {
    threads: config.workers,
    environmentFiles: config.environmentFiles,
    columns: config.columns,
    folder: join(config.dataDir, "pools"),
    openPorts: () => (checking ??= openPorts(config, { clock: systemClock })),
    onProgress: bars.onProgress,
  }).finally(async () => {
    bars.stop();
    await (await checking)?.close();
  });
}

/** Opens the providers (programs that serve further environments) that the flags name, as a server would. */
async function mountsOf({ mounted }: Config, registry: Registry) {
  if (mounted.mounts.length === 0) return { mounts: { close: async () => undefined }, registry };
  const { openMounts, withMounts } = await import("../server/outside/mounted/open-mounts.ts");
  const bars = mountBars();
  const onRefused = ({ name, reason }: Refused): void => say(`gradus: ${name} is not served: ${reason}`);
  const opened = await openMounts(mounted, {
    onProgress: bars.onProgress,
    onMount: ({ refused }) => refused.forEach(onRefused),
    onRefused,
    onFault: (mount, why) => say(`gradus: ${mount} failed: ${why}`),
  }).finally(bars.stop);
  if (opened.kind === "invalid") throw fileProblem(opened.message, "failure");
  const { mounts } = opened;
  const all = withMounts(registry, mounts.environments());
  if (typeof all === "string") throw fileProblem(all);
  return { mounts, registry: all };
}

/** Opens the handlers' dependencies. Makes keys if the data directory has none, as a server does. */
export async function openLocal(
  config: Config,
  needs: Needs,
  suitesOf?: Parameters<typeof assemble>[0]["suitesOf"],
): Promise<Local> {
  const keys = keysOf(config, needs);
  if (keys.kind === "invalid") throw fileProblem(keys.message);
  const environments = await loadEnvironments(config.environmentFiles);
  if (environments.kind === "invalid") throw fileProblem(environments.message);
  const policies = await loadPolicies(config.policyFiles);
  if (policies.kind === "invalid") throw fileProblem(policies.message);
  const { mounts, registry } = await mountsOf(config, environments.registry);
  const loaded = await poolsOf(registry, config);
  if (loaded.kind === "invalid") throw fileProblem(loaded.message);
  // Parts from which the server's handlers are assembled. The stores of this process do not have the runs of a server.
  // Scoring a task that a server's run drew therefore records nothing, and the outcome says so.
  const parts = {
    config,
    registry,
    keyring: keys.keyring,
    pools: loaded.pools,
    startWorkers: () => (needs === "runs" ? threads(config) : workHere(registry)),
    opened: { ...createLocalPorts(config, tell), limits: limitsOf(config) },
    missingPorts: needs === "evaluations" ? missingHere(config) : {},
    suitesOf,
    openBackground: backgroundInProcess,
    openStores: () => storesOf(config, needs),
    streamWindow: 1,
    log: silent,
    onFailure: tell,
  };
  const { deps, close } = await assemble(parts, fileProblem);
  const handlers = {
    ...createEnvironmentService(deps),
    ...createEvaluationService(deps),
    ...(needs === "runs" && (await import("../server/rpc/curriculum/handlers.ts")).createCurriculumService(deps)),
  };
  return {
    client: clientOver(
      transportTo(handlers, () => void close().then(() => mounts.close())),
      { retry: false },
    ),
    deps,
  };
}

/** Opens the stores. Evaluations are kept on disk as by a server; runs are in memory and end with the process. */
async function storesOf({ dataDir: directory }: Config, needs: Needs): Promise<Stores> {
  const store = memoryStore();
  const here = { store, sampleStore: memorySampleStore(), clock: systemClock };
  if (needs !== "evaluations") return { ...here, evaluationStore: memoryEvaluationStore(), holds: memoryHolds() };
  const { sqliteEvaluationStore } = await import("../server/stores/sqlite.ts");
  const evaluationStore = await sqliteEvaluationStore({ directory });
  return { ...here, evaluationStore, holds: fileHolds(directory) };
}

function contextOf({ signal }: Attempt): CallContext {
  const caller = { peer: "local", caller: "", role: "operator", deadlineMs: undefined };
  return { signal: signal ?? neverAborted, draining: neverAborted, requestId: "local", log: silent, ...caller };
}

/** Makes a transport that calls the handlers by method name. Errors are those that a client sees. */
function transportTo(handlers: object, close: () => void): Transport {
  const call = (method: DescMethod, message: object, attempt: Attempt): unknown => {
    const handler = (handlers as Record<string, ((request: object, context: CallContext) => unknown) | undefined>)[
      method.localName
    ];
    if (handler === undefined) throw new GradusError("UNIMPLEMENTED", `${method.name} needs a server: give --server`);
    return handler(message, contextOf(attempt));
  };
  return {
    unary: async (method, message, attempt) => {
      try {
        return (await call(method, message, attempt)) as never;
      } catch (error) {
        throw asClientSees(error);
      }
    },
    async *serverStream(method, message, attempt) {
      try {
        yield* call(method, message, attempt) as AsyncIterable<never>;
      } catch (error) {
        throw asClientSees(error);
      }
    },
    close,
  };
}

/**
 * Converts an error of a handler to the error that a client would get. Further problems of the same request go into its
 * `cause`.
 */
function asClientSees(error: unknown): unknown {
  if (!(error instanceof RpcError)) return error;
  const { code, message, retryDelayMs, others } = error;
  const cause = others.length === 0 ? undefined : new AggregateError(others.map(asClientSees));
  return new GradusError(code, message, { retryDelayMs, cause });
}
