/**
 * Opens mounted environments, i.e. those of other people's code in a Python file or on another server. With `--reload`,
 * reloads Python files when they change.
 */
import { isAbsolute, join } from "node:path";
import type { Logger } from "pino";
import { createChangingRegistry, type Registry } from "../envs/registry.ts";
import { RpcError } from "./base/rpc.ts";
import { beginMounts, type MountContext, type Mounts, withMounts } from "./outside/mounted/open-mounts.ts";
import type { KnownLevels } from "./outside/mounted/examine-levels.ts";
import { watchSources } from "./outside/mounted/watch-sources.ts";
import type { Resources } from "./outside/gate/resources.ts";
import type { Config } from "./runtime/config.ts";
import type { Health } from "./runtime/health.ts";
import { version } from "./runtime/version.ts";
import { openExaminedLevels } from "./stores/examined-levels.ts";
import type { ServiceDeps } from "./rpc/deps.ts";
import { StartError } from "./start-error.ts";

/**
 * Time in milliseconds after which the server counts as ready although an environment is still being mounted. A mount
 * that fails sooner ends the server before it is ready.
 */
const READY_WITHOUT_MS = 10_000;
/**
 * Delay, in milliseconds, after which a client should retry that asked for an environment that is still being mounted.
 */
const RETRY_DELAY_MS = 1000;

/**
 * Begins to open the mounts of the configuration. Returns the mounts, a registry of the environments `own` and those
 * mounted so far, and `ready`. `ready` resolves when all are mounted, and rejects with StartError if a mount fails.
 */
export function openMounts({ mounted, dataDir }: Config, own: Registry, log: Logger, health: Health) {
  const registry = createChangingRegistry(own);
  const onRefused: MountContext["onRefused"] = (refused) =>
    log.warn(refused, "this server leaves out an environment or level of a mounted file or provider: see the reason");
  const mounts = beginMounts(mounted, {
    ...(mounted.mounts.length > 0 && { known: knownLevels(mounted, dataDir, log) }),
    onRefused,
    onMount: ({ refused, remarks, ...what }) => {
      log.info(what, "mounted");
      for (const each of refused) onRefused(each);
      for (const remark of remarks)
        log.info({ mount: what.name, remark }, "the code of a mounted environment has a remark for the operator");
    },
    onFault: (mount, why) => log.error({ mount, problem: why }, "a mounted file or provider failed"),
    adopt: (environments) => {
      const all = withMounts(own, environments);
      if (typeof all === "string") return all;
      registry.replace(all.environments);
      return undefined;
    },
  });
  if (mounts.pending().length > 0) health.set("mounts", `still mounting ${mounts.pending().join(", ")}`);
  const setWell = (): void => health.set("mounts", undefined);
  const patience = setTimeout(setWell, READY_WITHOUT_MS).unref();
  void mounts.ready.then((why) => {
    clearTimeout(patience);
    if (why === undefined) setWell();
  });
  const ready = async (): Promise<void> => {
    const why = await mounts.ready;
    if (why !== undefined) throw new StartError(why, "failure");
  };
  return { mounts, registry: refuseWhileMounting(registry, mounts), ready };
}

/** Opens the file that keeps which levels have passed their examination on this server. */
function knownLevels({ python, allow, memoryMib }: Config["mounted"], dataDir: string, log: Logger): KnownLevels {
  return openExaminedLevels(join(dataDir, "examined-levels"), { version, python, allow, memoryMib }, (problem) =>
    log.warn({ problem }, "this server cannot keep which levels of mounted environments it has examined"),
  );
}

/**
 * Returns a registry of the environments that exist so far. While a mount is being opened, `find` throws UNAVAILABLE
 * for an unknown environment, because the mount may bring it.
 */
function refuseWhileMounting(registry: Registry, { pending }: Pick<Mounts, "pending">): Registry {
  return {
    get environments() {
      return registry.environments;
    },
    had: registry.had,
    mounting: pending,
    find(id, version) {
      const found = registry.find(id, version);
      const names = pending();
      if (found.kind === "found" || names.length === 0) return found;
      throw new RpcError(
        "UNAVAILABLE",
        `${found.message}; the server is still mounting ${names.join(", ")}, which may provide it: call again`,
        {
          retryDelayMs: RETRY_DELAY_MS,
          wait: { reason: "MOUNTING", metadata: { mounts: names.join(", ") } },
        },
      );
    },
  };
}

interface Reloading {
  readonly mounts: Mounts;
  readonly deps: Pick<ServiceDeps, "runs" | "scorer">;
  readonly resources: Resources;
  /** Time by Date.now() just before the mounts were loaded. Files changed since then are reloaded. */
  readonly sinceMs: number;
}

/**
 * Reloads mounted files when they change, and updates the parts of the server that use their environments. Returns a
 * function that stops watching the files.
 */
export function reloadMounts({ mounted }: Config, given: Reloading, log: Logger): () => void {
  if (!mounted.reload) return () => undefined;
  const { mounts, deps, resources, sinceMs } = given;
  const reload = async (name: string): Promise<void> => {
    const found = await mounts.again(name);
    if (found.kind === "kept")
      log.error(
        { mount: name, problem: found.why },
        "a changed file could not be mounted: the environments from before the change stay in use",
      );
    if (found.kind !== "changed") return;
    deps.scorer.forget();
    for (const { resource } of [...found.before, ...found.now]) {
      if (resource === undefined) continue;
      resources.retire(resource.name);
      // Runs stop drawing from arms whose code was replaced, and draw again from arms whose code came back.
      await deps.runs.maskArms(resource.name, undefined);
    }
    log.info({ mount: name, digests: found.now.map(({ id, asked }) => `${id} ${asked?.digest}`) }, "mounted again");
  };
  const ends = mounted.mounts.flatMap((mount) => {
    if (mount.kind !== "host" || !isAbsolute(mount.target)) return [];
    const { name } = mount;
    const guarded = () =>
      reload(name).catch((err: unknown) =>
        log.error(
          { err, mount: name },
          "an unexpected error while a changed mounted file was loaded again: see err; the new file may be in use",
        ),
      );
    return [watchSources(() => mounts.sources(name), guarded, sinceMs)];
  });
  return () => ends.forEach((end) => end());
}
