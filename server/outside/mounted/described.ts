/** What a provider says that it has, checked: no name, number or size of it is taken for right. */
import type { ComponentInfo, Goal, Level } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { onOneLine } from "../../../envs/lib/words.ts";
import { Goal as WireGoal } from "../../../proto/gen/gradus/v1/environment_pb.js";
import type {
  DescribeResponse,
  LeftOut,
  ProvidedEnvironment,
  ProviderLevel,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { formatNumbers } from "../../tasks/task-id-numbers.ts";
import { type AskedEnvironment, ITEM_LIMITS } from "./provider.ts";

/** The revision of the contract that is spoken here. */
export const PROTOCOL = 1;

const ENVIRONMENTS_MAX = 1024;
const LEVELS_MAX = 1024;
const COMPONENTS_MAX = 32;
const REMARKS_MAX = 32;
const ID_LENGTH_MAX = 128;
const NAME_LENGTH_MAX = 64;
const WORDS_LENGTH_MAX = 1000;
const DESCRIPTION_LENGTH_MAX = 4000;
const PARAMETERS_LENGTH_MAX = 16 * 1024;
const VERSION_MAX = 2 ** 31 - 1;
const ID = /^[a-z0-9-]+(\/[a-z0-9-]+)*$/;
const DIGEST = /^[0-9a-f]{64}$/;
/** Components of the completion (envs/reward/weighted.ts). */
const TAKEN = ["format", "format_strict", "tags"];

/** A level, and what the provider is given for it. */
export interface DescribedLevel {
  /** Its place in the provider's table, which the digest covers: what stands for its parameters here. */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly parametersJson: string;
  /** 0: its instances are made from seeds. */
  readonly rows: number;
  readonly evaluationOnly: boolean;
}

export interface Described {
  readonly asked: AskedEnvironment;
  readonly description: string;
  readonly goal: Goal;
  readonly levels: readonly DescribedLevel[];
  /** Empty: all. */
  readonly answerFormats: readonly AnswerFormat[];
  readonly components: readonly ComponentInfo[];
  readonly verbatim: boolean;
  readonly draws: boolean;
  /** Of UTF-8. */
  readonly answerBytesMax: number;
  readonly remarks: readonly string[];
}

/** Something that is not served, and why. */
export interface Refused {
  readonly name: string;
  readonly reason: string;
}

export type DescribedProvider =
  | {
      readonly kind: "ok";
      readonly host: string;
      readonly environments: readonly Described[];
      readonly refused: readonly Refused[];
    }
  /** Nothing of it can be served. */
  | { readonly kind: "invalid"; readonly why: string };

/** An answer of an environment that does not say how long one may be. */
const ANSWER_BYTES_MAX = 192 * 1024;

const GOALS: Readonly<Record<number, Goal>> = {
  [WireGoal.UNSPECIFIED]: "satisfy",
  [WireGoal.SATISFY]: "satisfy",
  [WireGoal.MINIMIZE]: "minimize",
  [WireGoal.MAXIMIZE]: "maximize",
};

export function readDescribed({ protocol, host, environments, leftOut }: DescribeResponse): DescribedProvider {
  if (protocol !== PROTOCOL)
    return {
      kind: "invalid",
      why: `it speaks revision ${protocol} of the providers' contract, and this server speaks ${PROTOCOL}: bring both to the same version of Gradus`,
    };
  if (environments.length > ENVIRONMENTS_MAX)
    return { kind: "invalid", why: `it has ${environments.length} environments, and the limit is ${ENVIRONMENTS_MAX}` };
  const refused: Refused[] = leftOut.slice(0, ENVIRONMENTS_MAX * 2).map(leftOutWords);
  const taken = new Set<string>();
  const read: Described[] = [];
  for (const each of environments) {
    const name = onOneLine(each.id).slice(0, ID_LENGTH_MAX);
    const key = `${each.id} version ${each.version}`;
    const problem = taken.has(key) ? `${key} comes twice` : problemOf(each);
    taken.add(key);
    if (problem !== undefined) refused.push({ name, reason: problem });
    else read.push(describedOf(each));
  }
  return { kind: "ok", host: onOneLine(host).slice(0, WORDS_LENGTH_MAX), environments: read, refused };
}

function leftOutWords({ name, reason }: LeftOut): Refused {
  return {
    name: onOneLine(name).slice(0, ID_LENGTH_MAX + NAME_LENGTH_MAX + 1),
    reason: onOneLine(reason).slice(0, WORDS_LENGTH_MAX),
  };
}

/** What is wrong with it; undefined: nothing. */
function problemOf(wire: ProvidedEnvironment): string | undefined {
  const { id, version, digest, description, goal, levels, answerFormats, components, turnsMax, remarks } = wire;
  if (!ID.test(id) || id.length > ID_LENGTH_MAX)
    return `its id must be words of a-z, 0-9 and "-" with "/" between them, of at most ${ID_LENGTH_MAX} characters`;
  if (version < 1 || version > VERSION_MAX) return `its version must be from 1 to ${VERSION_MAX}, and is ${version}`;
  if (!DIGEST.test(digest)) return "its digest must be 64 hex digits in lower case";
  if (description.length > DESCRIPTION_LENGTH_MAX)
    return `its description has ${description.length} characters, and the limit is ${DESCRIPTION_LENGTH_MAX}`;
  if (GOALS[goal] === undefined) return `its goal ${goal} is none that this server knows`;
  if (turnsMax > 1) return `it has up to ${turnsMax} turns, and this server plays one`;
  if (answerFormats.some((format) => formatNumbers.fromWire(format) === undefined))
    return "it names an answer format that this server does not know";
  if (components.length > COMPONENTS_MAX)
    return `it has ${components.length} components, and the limit is ${COMPONENTS_MAX}`;
  if (remarks.length > REMARKS_MAX) return `it has ${remarks.length} remarks, and the limit is ${REMARKS_MAX}`;
  return componentProblem(wire) ?? levelsProblem(levels);
}

function componentProblem({ components }: ProvidedEnvironment): string | undefined {
  const names = components.map(({ name }) => name);
  const wrong = components.find(
    ({ name, weight, description }, i) =>
      name === "" ||
      name.length > NAME_LENGTH_MAX ||
      TAKEN.includes(name) ||
      names.indexOf(name) !== i ||
      !(weight >= 0 && weight <= 1) ||
      description.length > WORDS_LENGTH_MAX,
  );
  if (wrong === undefined) return undefined;
  return `its component '${onOneLine(wrong.name).slice(0, NAME_LENGTH_MAX)}' must have a name of its own of 1 to ${NAME_LENGTH_MAX} characters, none of ${TAKEN.join(", ")}, a weight in [0, 1] and a description of at most ${WORDS_LENGTH_MAX} characters`;
}

function levelsProblem(levels: readonly ProviderLevel[]): string | undefined {
  if (levels.length === 0 || levels.length > LEVELS_MAX)
    return `it must have 1 to ${LEVELS_MAX} levels, and has ${levels.length}`;
  const names = new Set<string>();
  for (const { name, description, parametersJson, rows } of levels) {
    const shown = onOneLine(name).slice(0, NAME_LENGTH_MAX);
    if (name === "" || name.length > NAME_LENGTH_MAX || names.has(name))
      return `level '${shown}' must have a name of its own of 1 to ${NAME_LENGTH_MAX} characters`;
    names.add(name);
    if (description.length > WORDS_LENGTH_MAX || parametersJson.length > PARAMETERS_LENGTH_MAX)
      return `level '${shown}' has over ${WORDS_LENGTH_MAX} characters of description, or over ${PARAMETERS_LENGTH_MAX} of parameters`;
    if (rows > BigInt(Number.MAX_SAFE_INTEGER)) return `level '${shown}' has more rows than can be counted`;
  }
  return undefined;
}

function describedOf(wire: ProvidedEnvironment): Described {
  const { id, version, digest, limits } = wire;
  // 0: it does not say.
  const atMost = (own: number | undefined, ours: number): number => Math.min(own || ours, ours);
  return {
    asked: {
      id,
      version,
      digest,
      limits: {
        generateMs: atMost(limits?.generateMs, ITEM_LIMITS.generateMs),
        verifyMs: atMost(limits?.verifyMs, ITEM_LIMITS.verifyMs),
      },
    },
    description: wire.description,
    goal: GOALS[wire.goal] as Goal,
    levels: wire.levels.map(({ name, description, parametersJson, rows, evaluationOnly }, number) => ({
      number,
      name,
      description,
      parametersJson: parametersJson === "" ? "{}" : parametersJson,
      rows: Number(rows),
      evaluationOnly,
    })),
    answerFormats: wire.answerFormats.flatMap((format) => formatNumbers.fromWire(format) ?? []),
    components: wire.components.map(({ name, description, weight }) => ({ name, description, weight })),
    verbatim: wire.verbatim,
    draws: wire.draws,
    answerBytesMax: atMost(limits?.answerBytes, ANSWER_BYTES_MAX),
    remarks: wire.remarks.map((remark) => onOneLine(remark).slice(0, WORDS_LENGTH_MAX)),
  };
}

/** A level as the rest of the server sees it: the provider's parameters are the provider's, and its number stands for them. */
export function levelOf({ number, name, description, evaluationOnly }: DescribedLevel): Level {
  return { name, description, parameters: { level: number }, ...(evaluationOnly && { evaluationOnly }) };
}

/** Why what a provider serves now is not what was mounted; undefined: it is. */
export function changeBetween(before: DescribeResponse, now: DescribeResponse): string | undefined {
  const digests = new Map(now.environments.map(({ id, version, digest }) => [`${id} version ${version}`, digest]));
  const changed = before.environments.find(
    ({ id, version, digest }) => digests.get(`${id} version ${version}`) !== digest,
  );
  if (changed === undefined) return undefined;
  return `the sources of ${changed.id} changed since it was mounted, and its tasks are none of theirs: restart the server to serve what is there now`;
}
