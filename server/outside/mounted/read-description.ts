/** Reads a provider's description of its environments and levels, by the rules of message-rules.ts. */
import type { ComponentInfo, Goal, Level } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { DescribeResponse, LeftOut, ProvidedEnvironment } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { formatNumbers } from "../../tasks/task-id-numbers.ts";
import { GOALS, ON_ENVIRONMENT, ON_LEFT_OUT, ON_PROVIDER } from "./message-rules.ts";
import { type AskedEnvironment, ITEM_LIMITS } from "./provider.ts";
import { breachWords, problemOf, tryRules } from "./rules.ts";

const LEFT_OUT_MAX = 2048;
/** Maximum length, in characters, of an environment's id with the name of a level. */
const NAME_LENGTH_MAX = 193;
const WORDS_LENGTH_MAX = 1000;

/** A level as the provider describes it. */
export interface DescribedLevel {
  /**
   * Position in the provider's table of levels, which the digest covers. The server uses it in
   * place of the level's parameters.
   */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly parametersJson: string;
  /** Number of rows; 0 if instances are made from seeds. */
  readonly rows: number;
  readonly evaluationOnly: boolean;
}

export interface Described {
  readonly asked: AskedEnvironment;
  readonly description: string;
  readonly goal: Goal;
  readonly levels: readonly DescribedLevel[];
  /** Empty if the environment takes all formats. */
  readonly answerFormats: readonly AnswerFormat[];
  readonly components: readonly ComponentInfo[];
  readonly verbatim: boolean;
  readonly draws: boolean;
  readonly runsAnswers: boolean;
  /** Maximum length of an answer, in bytes of UTF-8. */
  readonly answerBytesMax: number;
  readonly remarks: readonly string[];
}

/** An environment or level that is not served, and the reason. */
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
  /** None of the provider's environments can be served. */
  | { readonly kind: "invalid"; readonly why: string };

/** Default maximum bytes of an answer, if the environment names none. */
const ANSWER_BYTES_MAX = 192 * 1024;

export function readDescribed(described: DescribeResponse): DescribedProvider {
  const why = problemOf(ON_PROVIDER, described, undefined);
  if (why !== undefined) return { kind: "invalid", why };
  const refused = described.leftOut.slice(0, LEFT_OUT_MAX).map(leftOutWords);
  const read: Described[] = [];
  for (const each of described.environments) {
    const reason = problemOf(ON_ENVIRONMENT, each, undefined);
    if (reason === undefined) read.push(describedOf(each));
    else refused.push({ name: onOneLine(each.id).slice(0, NAME_LENGTH_MAX), reason });
  }
  const host = onOneLine(described.host).slice(0, WORDS_LENGTH_MAX);
  return { kind: "ok", host, environments: read, refused };
}

/**
 * Returns a left-out environment or level with its reason, preceded by the rules that the
 * provider's words break.
 */
function leftOutWords(wire: LeftOut): Refused {
  const broken = tryRules(ON_LEFT_OUT, wire).filter(({ came }) => came !== undefined);
  const words = [...broken.map(breachWords), wire.reason].join("; ");
  return { name: onOneLine(wire.name).slice(0, NAME_LENGTH_MAX), reason: onOneLine(words).slice(0, WORDS_LENGTH_MAX) };
}

function describedOf(wire: ProvidedEnvironment): Described {
  const { id, version, digest, limits } = wire;
  // 0 means that the provider names no limit.
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
    runsAnswers: wire.runsAnswers,
    answerBytesMax: atMost(limits?.answerBytes, ANSWER_BYTES_MAX),
    remarks: wire.remarks.map(onOneLine),
  };
}

/**
 * Returns a level as the rest of the server sees it. Its number stands for the provider's
 * parameters, which stay with the provider.
 */
export function levelOf({ number, name, description, evaluationOnly }: DescribedLevel): Level {
  return { name, description, parameters: { level: number }, ...(evaluationOnly && { evaluationOnly }) };
}

/** Returns what changed since the provider was mounted; undefined if nothing changed. */
export function changeBetween(before: DescribeResponse, now: DescribeResponse): string | undefined {
  const digests = new Map(now.environments.map(({ id, version, digest }) => [`${id} version ${version}`, digest]));
  const changed = before.environments.find(
    ({ id, version, digest }) => digests.get(`${id} version ${version}`) !== digest,
  );
  if (changed === undefined) return undefined;
  return `the sources of ${changed.id} changed since it was mounted, and its tasks are none of theirs: restart the server to serve what is there now`;
}
