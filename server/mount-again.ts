/** Reloads mounted Python files when they change (`--reload`), and tells the parts of the server that use what they serve. */
import { isAbsolute } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "../envs/registry.ts";
import { RpcError } from "./base/rpc.ts";
import type { Mounts } from "./outside/mounted/open.ts";
import { watchSources } from "./outside/mounted/reload.ts";
import type { Resources } from "./outside/gate/resources.ts";
import type { Config } from "./runtime/config.ts";
import type { ServiceDeps } from "./rpc/deps.ts";

/** Retry delay of clients that ask for an environment that is still being mounted, in milliseconds. */
const RETRY_DELAY_MS = 1000;

/**
 * Returns a registry of the present environments. While something is being mounted, looking up an unknown environment
 * throws UNAVAILABLE, because the mount may bring it.
 */
export function waitingFor({ pending }: Pick<Mounts, "pending">, here: Registry): Registry {
  return {
    get environments() {
      return here.environments;
    },
    had: here.had,
    mounting: pending,
    find(id, version) {
      const found = here.find(id, version);
      const names = pending();
      if (found.kind === "found" || names.length === 0) return found;
      throw new RpcError("UNAVAILABLE", `${found.message}; ${names.join(", ")} is being mounted: call again`, {
        retryDelayMs: RETRY_DELAY_MS,
        wait: { reason: "MOUNTING", metadata: { mounts: names.join(", ") } },
      });
    },
  };
}

export interface Remounting {
  readonly mounts: Mounts;
  readonly deps: Pick<ServiceDeps, "runs" | "scorer">;
  readonly resources: Resources;
  /** A time before the mounts were loaded, by Date.now(). */
  readonly sinceMs: number;
}

/** Returns a function that ends the watch. */
export function mountAgain(
  { mounted }: Config,
  { mounts, deps, resources, sinceMs }: Remounting,
  log: Logger,
): () => void {
  if (!mounted.reload) return () => undefined;
  const reload = async (name: string): Promise<void> => {
    const found = await mounts.again(name);
    if (found.kind === "kept") log.error({ mount: name, problem: found.why }, "what was mounted before goes on");
    if (found.kind !== "changed") return;
    deps.scorer.forget();
    for (const { resource } of [...found.before, ...found.now]) {
      if (resource === undefined) continue;
      resources.retire(resource.name);
      // Masks the arms of replaced sources, and unmasks those of sources that came back.
      await deps.runs.maskArms(resource.name, undefined);
    }
    log.info({ mount: name, digests: found.now.map(({ id, asked }) => `${id} ${asked?.digest}`) }, "mounted again");
  };
  const ends = mounted.mounts.flatMap((mount) => {
    if (mount.kind !== "host" || !isAbsolute(mount.target)) return [];
    const { name } = mount;
    const guarded = () =>
      reload(name).catch((err: unknown) => log.error({ err, mount: name }, "reloading a file failed"));
    return [watchSources(() => mounts.sources(name), guarded, sinceMs)];
  });
  return () => ends.forEach((end) => end());
}
