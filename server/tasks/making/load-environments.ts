/** Loads environments: those of Gradus, and those in modules named by --environment-file. */
import type { Environment } from "../../../envs/environment.ts";
import { createRegistry, environments as own, type Registry } from "../../../envs/registry.ts";
import { loadItems } from "./load-modules.ts";

export type RegistryResult =
  { readonly kind: "ok"; readonly registry: Registry } | { readonly kind: "invalid"; readonly message: string };

/**
 * Loads modules whose default export is a list of environments. They are the operator's code and run with all rights of
 * this process. The main thread and each worker thread load them separately, because functions cannot be sent to a
 * thread.
 */
export async function loadEnvironments(paths: readonly string[]): Promise<RegistryResult> {
  const [flag, another] = ["--environment-file", "id or version"];
  const loaded = await loadItems(paths, { flag, taken: own.map(nameOf), read, nameOf, another });
  return loaded.kind === "ok" ? { kind: "ok", registry: createRegistry([...own, ...loaded.items]) } : loaded;
}

function nameOf({ id, version }: Environment): string {
  return `${id} version ${version}`;
}

/** Returns the environments in a module's default export, or an error message. */
function read(list: unknown): readonly Environment[] | string {
  if (Array.isArray(list) && list.every(isEnvironment)) return list;
  return 'its default export must be a list of environments, each made by defineEnvironment (envs/define.ts), with an id such as "np/tsp" and a version from 1';
}

const ID = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;

function isEnvironment(value: unknown): value is Environment {
  const { id, version, levels, render, parse, verify, canonical } = (value ?? {}) as Partial<
    Record<keyof Environment, unknown>
  >;
  const functions = [render, parse, verify, canonical];
  const isNamed = typeof id === "string" && ID.test(id) && Number.isInteger(version) && Number(version) >= 1;
  return isNamed && Array.isArray(levels) && functions.every((each) => typeof each === "function");
}
