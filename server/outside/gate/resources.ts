/**
 * The external services (e.g. sandbox, judge) that scoring needs. Each has its own limits on running and
 * waiting jobs, so that a slow or failed one does not delay jobs of the others.
 */
import type { Resource } from "../../../envs/resource.ts";
import type { AttemptOptions, Job, JobOutcome } from "./attempt.ts";
import { createGate, type Gate, type ResourceLoad } from "./gate.ts";

/** Called when a resource goes down, with the reason, and when it works again, with undefined. */
export type ResourceListener = (name: string, down: string | undefined) => void;

export interface Resources {
  /** Runs a job, with retries, when the resource runs fewer jobs than it may. Never rejects. */
  run(resource: Resource, job: Job): Promise<JobOutcome>;
  /**
   * Calls the listener for each resource that goes down or comes back. Returns a function that
   * removes the listener.
   */
  onChange(listener: ResourceListener): () => void;
  /**
   * Forgets a resource that is no longer used. If a new resource gets the same name, it starts without a history of
   * failures.
   */
  retire(name: string): void;
  load(): readonly ResourceLoad[];
  close(): void;
}

export interface ResourcesOptions extends AttemptOptions {
  /** Limits that the operator sets, by resource name. They replace those that environments ask for. */
  readonly limits?: Readonly<Record<string, Partial<Pick<Resource, "concurrencyMax" | "waitingMax" | "timeLimitMs">>>>;
}

export function createResources(options: ResourcesOptions): Resources {
  const gates = new Map<string, { readonly resource: Resource; readonly gate: Gate }>();
  const listeners = new Set<ResourceListener>();
  const gateOf = (resource: Resource): Gate => {
    const known = gates.get(resource.name);
    if (known !== undefined) {
      if (known.resource !== resource) throw new Error(`bug: two different resources have the name '${resource.name}'`);
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
