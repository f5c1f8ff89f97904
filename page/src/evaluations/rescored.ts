/** Scores the completions of an evaluation again, with the settings that the address holds. */
import { answerFormatNames, type RescoreChoice, thinkingNames } from "../../../clients/ts/src/choices.ts";
import { outcomeOf } from "../../../clients/ts/src/outcomes.ts";
import type { Environment, RescoredGroup, Suite } from "../../../clients/ts/src/public.ts";
import type { RescoredSample } from "../../../clients/ts/src/rescore-report.ts";
import type { Query } from "../address.ts";

/** Prefix of the query parameters that hold parameters of the reward scheme. */
export const PARAMETER = "with.";

/** Returns the settings in an address. Undefined: it has none, so nothing is to be scored. */
export function settingsIn(query: Query): RescoreChoice | undefined {
  const { scheme, version = "", format, thinking } = query;
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    name.startsWith(PARAMETER) ? [[name.slice(PARAMETER.length), Number(value)] as const] : [],
  );
  const hasScheme = scheme !== undefined || parameters.length > 0;
  const settings: RescoreChoice = {
    version: /^[1-9]\d{0,8}$/.test(version) ? Number(version) : undefined,
    rewardScheme: hasScheme ? { name: scheme ?? "", parameters: Object.fromEntries(parameters) } : undefined,
    answerFormat: answerFormatNames.find((name) => name === format),
    thinking: thinkingNames.find((name) => name === thinking),
  };
  return Object.values(settings).every((value) => value === undefined) ? undefined : settings;
}

/** Returns the settings that all environments of a suite support. */
export function offersOf({ parts }: Suite, environments: readonly Environment[]) {
  const ids = [...new Set(parts.map(({ environment }) => environment))];
  const own = ids.map((id) => environments.filter((each) => each.id === id));
  const [first = [], ...others] = own;
  const inAll = (has: (environment: Environment) => boolean) => others.every((each) => each.some(has));
  const versions = first.flatMap(({ version, earlierVersions }) => [version, ...earlierVersions]);
  return {
    schemes: (first[0]?.rewardSchemes ?? []).filter(({ name }) =>
      inAll(({ rewardSchemes }) => rewardSchemes.some((scheme) => scheme.name === name)),
    ),
    versions: versions.filter((each) =>
      inAll(({ version, earlierVersions }) => [version, ...earlierVersions].includes(each)),
    ),
    /** Whether equal completions always get equal scores. If not, a judge or a program may be asked for each. */
    isDeterministic: own.flat().every(({ deterministic }) => deterministic),
  };
}

export type Offers = ReturnType<typeof offersOf>;

/** Place of a completion in its evaluation. */
export interface Place {
  readonly part: string;
  readonly instance: string;
  readonly sampleIndex: number;
}

export function rowsOf(group: RescoredGroup): readonly RescoredSample<Place>[] {
  const { armId: part, instanceHash: instance, task, before, outcome, missing } = group;
  return before.map((stored, at) => {
    const result = outcome?.outcomes[at];
    const [was, is] = [outcomeOf(stored), result && outcomeOf(result)];
    const [score, scored] = [was, is].map((each) => (each?.kind === "scored" ? each : undefined));
    return {
      sample: { part, instance, sampleIndex: stored.sampleIndex },
      arm: part,
      environment: task?.environment ?? "",
      level: task?.level ?? "",
      reward_before: score?.reward ?? null,
      reward: scored?.reward ?? null,
      verdict_before: score?.verdict ?? null,
      verdict: scored?.verdict ?? null,
      solved_before: score?.solved ?? null,
      solved: scored?.solved ?? null,
      no_reward: is === undefined ? missing : is.kind === "scored" ? null : is.reason.replaceAll("_", " "),
    };
  });
}
