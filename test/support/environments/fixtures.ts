/** The environments of the tests, loaded as an operator's are. A new one is one line here. */
import { resolve } from "node:path";
import type { Environment } from "../../../envs/environment.ts";
import { environments } from "../../../envs/registry.ts";
import { loadEnvironments } from "../../../server/tasks/making/load-environments.ts";

/** Folders beside this file; the default export of each one's index.ts is a list of environments. */
const FOLDERS = ["capitals", "vertex-cover"];

/** Environments for --environment-file. */
export const fixtureFiles: readonly string[] = FOLDERS.map((folder) =>
  resolve(import.meta.dirname, folder, "index.ts"),
);

export async function fixtures(): Promise<readonly Environment[]> {
  const loaded = await loadEnvironments(fixtureFiles);
  if (loaded.kind === "invalid") throw new Error(loaded.message);
  return loaded.registry.environments.filter((environment) => !environments.includes(environment));
}
