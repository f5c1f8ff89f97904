/** A whole specification tried on what is at an address: a server of the contract, or a provider of environments. */
import { randomBytes } from "node:crypto";
import { GradusError, type GradusClient } from "../../clients/ts/src/public.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import type { Provider } from "../../server/outside/mounted/provider.ts";
import { CliProblem } from "../problem.ts";
import { skip, tried, type Tried } from "./clause.ts";
import { ofProvided, ofProvider } from "./provider-clauses.ts";
import { ofEnvironment, ofRuns, ofServer } from "./server-clauses.ts";

/** Whether what answers is a server of the contract; else it may be a provider. */
export async function isServer(client: GradusClient): Promise<boolean> {
  try {
    await client.getServerInfo();
    return true;
  } catch (error) {
    if (error instanceof GradusError && error.code === "UNIMPLEMENTED") return false;
    throw error;
  }
}

/** `wanted`: the ids of environments; none: all. */
export async function* conformServer(client: GradusClient, wanted: readonly string[]): AsyncGenerator<Tried> {
  yield* tried(ofServer, client, "");
  const all = await client.listEnvironments();
  refuseUnknown(wanted, all);
  const environments = all.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  let playable: { readonly environment: string; readonly level: string } | undefined;
  for (const environment of environments) {
    const { id, levels } = environment;
    const level = levels.find(({ evaluationOnly }) => !evaluationOnly)?.name;
    if (level === undefined || !(await makes(client, id, level))) {
      yield {
        part: "Tasks",
        says: "It can be tried.",
        of: id,
        finding: skip("it makes no task without rows of its own"),
      };
      continue;
    }
    playable ??= { environment: id, level };
    yield* tried(ofEnvironment, { client, environment, level }, id);
  }
  if (playable !== undefined)
    yield* tried(ofRuns, { client, ...playable, runId: `conformance-${randomBytes(6).toString("hex")}` }, "");
}

/** One that there is not would be tried by no clause, and nothing would be found wrong with it. */
function refuseUnknown(wanted: readonly string[], all: readonly { readonly id: string }[]): void {
  const ids = all.map(({ id }) => id);
  const unknown = wanted.find((id) => !ids.includes(id));
  if (unknown === undefined) return;
  throw new CliProblem("missing", `--environment: there is no '${unknown}' there${didYouMean(unknown, ids)}`);
}

async function makes(client: GradusClient, environment: string, level: string): Promise<boolean> {
  const [result] = await client.batchReset({ environment, level, seeds: [1n] }).catch(() => []);
  return result?.result.case === "task";
}

export async function* conformProvider(provider: Provider, wanted: readonly string[]): AsyncGenerator<Tried> {
  yield* tried(ofProvider, provider, "");
  refuseUnknown(wanted, provider.described.environments);
  for (const environment of provider.described.environments) {
    const { id, levels } = environment;
    if (wanted.length > 0 && !wanted.includes(id)) continue;
    const level = levels.find(({ evaluationOnly }) => !evaluationOnly)?.name ?? levels[0]?.name ?? "";
    yield* tried(ofProvided, { provider, environment, level }, id);
  }
}
