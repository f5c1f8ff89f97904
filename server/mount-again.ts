/** Has files of Python mounted again when they change (`--reload`), and the rest of the server know it. */
import { isAbsolute } from "node:path";
import type { Logger } from "pino";
import type { ChangingRegistry, Registry } from "../envs/registry.ts";
import { type Mounts, withMounts } from "./outside/mounted/open.ts";
import { watchFiles } from "./outside/mounted/reload.ts";
import type { Resources } from "./outside/gate/resources.ts";
import type { Config } from "./runtime/config.ts";
import type { ServiceDeps } from "./rpc/deps.ts";

export interface Remounting {
  readonly mounts: Mounts;
  readonly registry: ChangingRegistry;
  /** Without what is mounted. */
  readonly own: Registry;
  readonly deps: Pick<ServiceDeps, "scorer">;
  readonly resources: Resources;
}

/** What is returned ends it. */
export function mountAgain(
  { mounted }: Config,
  { mounts, registry, own, deps, resources }: Remounting,
  log: Logger,
): () => void {
  if (!mounted.reload) return () => undefined;
  const files = mounted.mounts.flatMap((mount) => (mount.kind === "host" && isAbsolute(mount.target) ? [mount] : []));
  const nameOf = (file: string): string => files.find(({ target }) => target === file)?.name ?? file;
  const again = async (file: string): Promise<void> => {
    const found = await mounts.again(nameOf(file), (environments) => {
      const all = withMounts(own, environments);
      if (typeof all === "string") return all;
      registry.replace(all.environments);
      return undefined;
    });
    if (found.kind === "kept") log.error({ mount: file, problem: found.why }, "what was mounted before goes on");
    if (found.kind !== "changed") return;
    deps.scorer.forget();
    for (const { resource } of [...found.before, ...found.now])
      if (resource !== undefined) resources.retire(resource.name);
    log.info({ mount: file, digests: found.now.map(({ id, asked }) => `${id} ${asked?.digest}`) }, "mounted again");
  };
  const guarded = (file: string) => again(file).catch((err: unknown) => log.error({ err }, "mounting a file again"));
  return watchFiles(
    files.map(({ target }) => target),
    guarded,
    (mount, problem) => log.error({ mount, problem }, "what is mounted failed"),
  );
}
