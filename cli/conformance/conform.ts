/** Tries every clause of a specification on a server of the contract, or on a provider of environments, at an address. */
import { randomBytes } from "node:crypto";
import { GradusError, type GradusClient } from "../../clients/ts/src/public.ts";
import { didYouMean } from "../../envs/lib/text.ts";
import type { Subject } from "../../server/outside/mounted/call-rules.ts";
import { readDescribed } from "../../server/outside/mounted/read-description.ts";
import { type Examined, examine, ON_DESCRIBE, timed } from "../../server/outside/mounted/examine-level.ts";
import { ON_ENVIRONMENT, ON_PROVIDER } from "../../server/outside/mounted/message-rules.ts";
import type { Provider } from "../../server/outside/mounted/provider.ts";
import { tryRules } from "../../server/outside/mounted/rules.ts";
import { CliProblem } from "../problem.ts";
import { pass, skip, tried, type ClauseResult } from "./clause.ts";
import { ofEnvironment, ofRuns, ofServer } from "./server-clauses.ts";

/** Returns whether a server of the contract answers. If not, the address may belong to a provider of environments. */
export async function isServer(client: GradusClient): Promise<boolean> {
  try {
    await client.getServerInfo();
    return true;
  } catch (error) {
    if (error instanceof GradusError && error.code === "UNIMPLEMENTED") return false;
    throw error;
  }
}

/** Tries the clauses on a server. `wanted` has the ids of the environments to try. If it is empty, all are tried. */
export async function* conformServer(client: GradusClient, wanted: readonly string[]): AsyncGenerator<ClauseResult> {
  yield* tried(ofServer, client, "");
  const all = await client.listEnvironments();
  refuseUnknown(wanted, all, "server");
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
        ms: 0,
        finding: skip("it can only make tasks from data rows, and none are given"),
      };
      continue;
    }
    playable ??= { environment: id, level };
    yield* tried(ofEnvironment, { client, environment, level }, id);
  }
  if (playable !== undefined)
    yield* tried(ofRuns, { client, ...playable, runId: `conformance-${randomBytes(6).toString("hex")}` }, "");
}

/**
 * Refuses an unknown id of an environment. Without this check no clause would be tried on it, and the report would show
 * no failure.
 */
function refuseUnknown(wanted: readonly string[], all: readonly { readonly id: string }[], from: string): void {
  const ids = all.map(({ id }) => id);
  const unknown = wanted.find((id) => !ids.includes(id));
  if (unknown === undefined) return;
  throw new CliProblem(
    "missing",
    `--environment: the ${from} has no environment '${unknown}'${didYouMean(unknown, ids)}`,
  );
}

async function makes(client: GradusClient, environment: string, level: string): Promise<boolean> {
  const [result] = await client.batchReset({ environment, level, seeds: [1n] }).catch(() => []);
  return result?.result.case === "task";
}

/** Levels to check of a provider (a program that serves environments), and options of the checks. */
export interface ProviderChoice extends Pick<Subject, "seeds"> {
  /** Ids of the environments to try. If empty, all are tried. */
  readonly environments: readonly string[];
  /** Names of the levels to try. If unset or empty, all are tried. */
  readonly levels?: readonly string[];
  /** Signal that ends the checks early. */
  readonly signal?: AbortSignal;
  /** Called after each level with its name. */
  readonly onLevel?: (level: string) => void;
  /** Tries further rules on each level. Defaults to none. */
  readonly more?: Parameters<typeof examine>[1];
}

export const levelWords = (id: string, level: string): string => `${id}, level ${level}`;

export const isChosen = (level: string, { levels = [] }: Pick<ProviderChoice, "levels">): boolean =>
  levels.length === 0 || levels.includes(level);

/** Tries the rules that a provider of environments must keep before a server serves its levels. */
export async function* conformProvider(provider: Provider, choice: ProviderChoice): AsyncGenerator<ClauseResult> {
  const { environments: wanted, signal = new AbortController().signal, more, seeds } = choice;
  const { described } = provider;
  yield* partOf("", { part: "DescribeResponse", tried: tryRules(ON_PROVIDER, described), ms: 0 });
  refuseUnknown(wanted, described.environments, "provider");
  const change = async (): Promise<{ readonly change: string | undefined }> => ({
    change: await provider.probe(signal),
  });
  yield* partOf("", await timed("Describe", ON_DESCRIBE, change()));
  const environments = described.environments.filter(({ id }) => wanted.length === 0 || wanted.includes(id));
  for (const environment of environments)
    yield* partOf(environment.id, { part: "Environment", tried: tryRules(ON_ENVIRONMENT, environment), ms: 0 });
  const read = readDescribed({ ...described, environments });
  for (const each of read.kind === "ok" ? read.environments : [])
    for (const level of each.levels) {
      if (!isChosen(level.name, choice)) continue;
      const subject = { provider, described: each, level, signal, ...(seeds !== undefined && { seeds }) };
      const of = levelWords(each.asked.id, level.name);
      for await (const examined of examine(subject, more)) {
        if (signal.aborted) return;
        yield* partOf(of, examined);
      }
      choice.onLevel?.(of);
    }
}

function partOf(of: string, { part, tried, ms: all }: Examined): readonly ClauseResult[] {
  return tried.map(({ rule: { name, must, isAdvice }, came, skipped: reason }, i): ClauseResult => {
    const common = { part, of, says: `${name} ${must}.`, ms: i === 0 ? all : 0 };
    if (came !== undefined) return { ...common, finding: { kind: isAdvice === true ? "warn" : "fail", reason: came } };
    return { ...common, finding: reason === undefined ? pass : skip(reason) };
  });
}
