/**
 * What asynchronous environments ask. Each resource has limits of its own, on how much it is asked at once and how much
 * waits for it, so that one that is slow or down holds up nobody else's verifications.
 */
import type { Resource } from "../../../envs/environment.ts";
import type { AttemptOptions, Job, JobOutcome } from "./attempt.ts";
import { createGate, type Gate, type ResourceLoad } from "./gate.ts";

/** `down`: why it is not asked for now; undefined: it is. */
export type ResourceListener = (name: string, down: string | undefined) => void;

export interface Resources {
  /** Verifies when the resource has room, and tries again where that helps. Never rejects. */
  run(resource: Resource, job: Job): Promise<JobOutcome>;
  /** Tells of each resource that goes down or may be asked again; what it returns ends that. */
  onChange(listener: ResourceListener): () => void;
  /** Forgets one: another may have its name from now on, and nothing is known of that. */
  retire(name: string): void;
  load(): readonly ResourceLoad[];
  close(): void;
}

export interface ResourcesOptions extends AttemptOptions {
  /** What the operator says otherwise than the environments, by the resource's name. */
  readonly limits?: Readonly<Record<string, Partial<Pick<Resource, "concurrencyMax" | "waitingMax" | "timeLimitMs">>>>;
}

export function createResources(options: ResourcesOptions): Resources {
  const gates = new Map<string, { readonly resource: Resource; readonly gate: Gate }>();
  const listeners = new Set<ResourceListener>();
  const gateOf = (resource: Resource): Gate => {
    const known = gates.get(resource.name);
    if (known !== undefined) {
      if (known.resource !== resource) throw new Error(`two resources are named '${resource.name}'`);
      return known.gate;
    }
    const gate = createGate({ ...resource, ...options.limits?.[resource.name] }, options, (down) => {
      for (const listener of listeners) listener(resource.name, down);
    });
    gates.set(resource.name, { resource, gate });
    return gate;
  };
  return {
    run: (resource, job) => gateOf(resource).run(job),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    retire(name) {
      const gate = gates.get(name)?.gate;
      gates.delete(name);
      if (gate?.load().down === true) for (const listener of listeners) listener(name, undefined);
      gate?.close();
    },
    load: () => [...gates.values()].map(({ gate }) => gate.load()),
    close: () => {
      for (const { gate } of gates.values()) gate.close();
    },
  };
}
