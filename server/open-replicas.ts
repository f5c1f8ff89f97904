/** Joins the other servers of the same store, and shares with them which resources are down. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./base/log.ts";
import { systemClock } from "./base/system-clock.ts";
import type { Resources } from "./outside/gate/resources.ts";
import { type Fleet, joinFleet } from "./replicas/fleet.ts";
import type { Identity } from "./replicas/identity.ts";
import type { ServiceDeps } from "./rpc/deps.ts";
import type { Health } from "./runtime/health.ts";
import { StartError } from "./start-error.ts";
import type { ReplicaStore } from "./stores/replica-store.ts";

interface Joining {
  readonly store: ReplicaStore;
  readonly id: string;
  readonly identity: () => Identity;
  readonly drainOthers: boolean;
}

/**
 * Joins the servers that share the store. Throws StartError if this server may not serve beside them, e.g. because its
 * keys differ from theirs.
 */
export async function openReplicas(joining: Joining, log: Log): Promise<Fleet> {
  const joined = await joinFleet({
    ...joining,
    clock: systemClock,
    pause: (ms) => sleep(ms),
    onWait: (reason) =>
      log.warn(
        { reason },
        "another server of this store differs from this one: waiting to see whether it is still running",
      ),
  });
  if (joined.kind === "refused") throw new StartError(joined.message, "failure");
  return joined.fleet;
}

/**
 * Compares this server with the others once all environments are mounted. Throws StartError if it may not serve beside
 * them.
 */
export async function compareReplicas(fleet: Fleet | undefined): Promise<void> {
  const differs = await fleet?.differs();
  if (differs !== undefined) throw new StartError(differs, "failure");
}

/**
 * Tells the other servers of the store which resources have failed here, and reads which have failed there. Runs draw
 * nothing from arms whose resource no server can use. The returned promise resolves when another server takes this
 * server's place.
 */
export function linkReplicas(
  fleet: Fleet | undefined,
  { resources, runs }: { readonly resources: Resources; readonly runs: ServiceDeps["runs"] },
  log: Log,
  health: Health,
): Promise<void> {
  // The promise needs no handler, because maskArms logs its own failures.
  const mask = (resource: string, down: string | undefined): void => void runs.maskArms(resource, down);
  resources.onChange((resource, down) => {
    if (down === undefined) log.info({ resource }, "a resource that had failed works again");
    else log.warn({ resource, reason: down }, "a resource failed and is not used until it works again");
    if (fleet === undefined) mask(resource, down);
    else fleet.tell(resource, down);
  });
  const { promise: replaced, resolve } = Promise.withResolvers<void>();
  fleet?.start({
    onDown: mask,
    onLack: (resource) => {
      if (resource !== undefined)
        log.warn({ resource }, "a resource is down on this server but not on another: send calls to the other");
      health.set("resources", resource && `${resource} is down on this server and not on another of the store`);
    },
    onKeys: (trouble) => {
      if (trouble === undefined) log.info({}, "the keys of this server match those of the others again");
      else log.error({ trouble }, "this server is not ready: its keys differ; give it the key file of the others");
      health.set("keys", trouble && `${trouble}; give it the key file of the others`);
    },
    onReplaced: (by) => {
      log.warn({ by }, "another server replaces this one, which takes no more calls: stop this server");
      resolve();
    },
    onProblem: (err) => {
      if (err === undefined) log.info({}, "the replica table can be reached again");
      else log.warn({ err }, "cannot reach the replica table; other replicas may be down");
    },
  });
  return replaced;
}
