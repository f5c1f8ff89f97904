/** Reads a provider's description of its environments and levels, by the rules of message-rules.ts. */
import type { ComponentInfo, Goal, Level } from "../../../envs/environment.ts";
import type { AnswerFormat } from "../../../envs/prompt.ts";
import { onOneLine } from "../../../envs/lib/escape.ts";
import type { Tool } from "../../../envs/turns/turns.ts";
import type {
  DescribeResponse,
  LeftOut,
  ProvidedEnvironment,
  ProvidedTurns,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { formatNumbers } from "../../tasks/task-id-numbers.ts";
import { GOALS, ON_ENVIRONMENT, ON_LEFT_OUT, ON_PROVIDER } from "./message-rules.ts";
import { type AskedEnvironment, ITEM_LIMITS } from "./provider.ts";
import { breachWords, problemOf, tryRules } from "./rules.ts";

const LEFT_OUT_MAX = 2048;
/** Length in characters to which the name of a refused environment or level is cut, e.g. "word/chain#level". */
const NAME_LENGTH_MAX = 193;
const WORDS_LENGTH_MAX = 1000;

/** A level as the provider describes it. */
export interface DescribedLevel {
  /**
   * Position in the provider's list of levels. It is the only parameter of the level's tasks, in place of
   * `parametersJson`. If the list changes, the environment's digest changes too.
   */
  readonly number: number;
  readonly name: string;
  readonly description: string;
  readonly parametersJson: string;
  /** Number of data rows that instances are made from. 0: instances are made from seeds. */
  readonly rows: number;
  readonly evaluationOnly: boolean;
}

export interface Described {
  readonly asked: AskedEnvironment;
  readonly description: string;
  readonly goal: Goal;
  readonly levels: readonly DescribedLevel[];
  /** Formats in which answers are accepted. Empty: every format is accepted. */
  readonly answerFormats: readonly AnswerFormat[];
  readonly components: readonly ComponentInfo[];
  readonly verbatim: boolean;
  readonly draws: boolean;
  readonly runsAnswers: boolean;
  /** Maximum length of an answer, in bytes of UTF-8. */
  readonly answerBytesMax: number;
  readonly remarks: readonly string[];
  /** Rules of the turns (calls of an episode) of the environment's tasks. Undefined: a task takes one answer. */
  readonly turns: DescribedTurns | undefined;
  /** Growth axes, each with the names of its levels from easy to hard. */
  readonly axes: readonly {
    readonly name: string;
    readonly first: number;
    readonly levels: readonly string[];
    readonly guess: number;
  }[];
}

/** Rules of the turns (calls of an episode) of an environment's tasks: ProvidedTurns in provider.proto. */
export interface DescribedTurns {
  readonly tools: readonly Tool[];
  readonly calls: number;
  readonly callsMax: number;
  /**
   * Maximum bytes of a state. 0: the provider gives no states, and gets all earlier calls of the episode with each
   * call.
   */
  readonly stateBytesMax: number;
  readonly actionBytesMax: number;
  readonly isDeterministic: boolean;
  readonly needsTools: boolean;
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
  /** The description breaks a rule, so none of the provider's environments is served. */
  | { readonly kind: "invalid"; readonly why: string };

/** Maximum bytes of an answer. An environment may set a lower limit. */
const ANSWER_BYTES_MAX = 192 * 1024;

/** Maximum bytes of a call if the environment names no maximum. */
const ACTION_BYTES_MAX = 256;

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
 * Returns an environment or level that the provider leaves out, with the provider's reason. If the provider's message
 * breaks rules, the reason begins with them.
 */
function leftOutWords(wire: LeftOut): Refused {
  const broken = tryRules(ON_LEFT_OUT, wire).filter(({ came }) => came !== undefined);
  const words = [...broken.map(breachWords), wire.reason].join("; ");
  return { name: onOneLine(wire.name).slice(0, NAME_LENGTH_MAX), reason: onOneLine(words).slice(0, WORDS_LENGTH_MAX) };
}

function describedOf(wire: ProvidedEnvironment): Described {
  const { id, version, digest, limits } = wire;
  // Returns the lower one of the provider's own limit and the server's limit. 0 or undefined: the provider sets no
  // limit.
  const atMost = (own: number | undefined, ours: number): number => Math.min(own || ours, ours);
  return {
    asked: {
      id,
      version,
      digest,
      limits: {
        generateMs: atMost(limits?.generateMs, ITEM_LIMITS.generateMs),
        verifyMs: atMost(limits?.verifyMs, ITEM_LIMITS.verifyMs),
        advanceMs: atMost(limits?.advanceMs, ITEM_LIMITS.verifyMs),
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
    turns: wire.turns && turnsOf(wire.turns, wire.turnsMax),
    axes: wire.axes.map(({ name, first, levels, guess }) => ({ name, first, levels: [...levels], guess })),
  };
}

function turnsOf(wire: ProvidedTurns, callsMax: number): DescribedTurns {
  return {
    tools: wire.tools.map(({ name, description, parametersJson }) => ({
      name,
      description,
      parameters: parametersJson === "" ? { type: "object" } : (JSON.parse(parametersJson) as Tool["parameters"]),
    })),
    calls: wire.calls || callsMax,
    callsMax,
    stateBytesMax: wire.stateBytes,
    actionBytesMax: wire.actionBytes || ACTION_BYTES_MAX,
    isDeterministic: !wire.nondeterministic,
    needsTools: wire.needsTools,
  };
}

/**
 * Returns the level as clients see it. Its only parameter is the level's number; the provider keeps the parameters
 * behind that number.
 */
export function levelOf({ number, name, description, evaluationOnly }: DescribedLevel): Level {
  return { name, description, parameters: { level: number }, ...(evaluationOnly && { evaluationOnly }) };
}

/** Returns, in words, which environment's digest has changed since the provider was mounted. Undefined: none has. */
export function changeBetween(before: DescribeResponse, now: DescribeResponse): string | undefined {
  const digests = new Map(now.environments.map(({ id, version, digest }) => [`${id} version ${version}`, digest]));
  const changed = before.environments.find(
    ({ id, version, digest }) => digests.get(`${id} version ${version}`) !== digest,
  );
  if (changed === undefined) return undefined;
  return `the sources of ${changed.id} changed since it was mounted: restart the server to serve the changed sources`;
}
