/**
 * Interface of environments whose tasks have several turns. An episode is a list of calls, each a tool call or an
 * answer. Each call turns the episode's state into the next one, and gets a reply.
 */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Facts, Failed } from "../facts.ts";
import type { Rng } from "../lib/rng.ts";
import type { Resource, VerifyContext } from "../resource.ts";

type Parameters = Readonly<Record<string, number>>;

/** Tool that a policy may call. */
export interface Tool {
  /** Name of the tool, unique within the environment. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the tool's arguments, which are always an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * A call that could be read. `number` is its position in the episode, counted from 0. Unreadable calls are counted too.
 */
export type Action = { readonly number: number } & (
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
);

/** Result of carrying out a call. */
export interface Advanced<State> {
  /** Reply to the policy, which must not reveal the solution. If the call is invalid, the reply says why. */
  readonly reply: string;
  readonly state: State;
  /** Set if this call ends the episode. Defaults to false. */
  readonly over?: boolean;
  /** Facts that the call established, from which its reward is computed. Unset: the call gets no reward of its own. */
  readonly facts?: Facts;
}

/** Call whose result must be asked from an external resource, such as the sandbox. */
export interface Question<State> {
  /**
   * Asks for the result. Returns Failed only for a fault of the server or of the resource. A fault of the policy, e.g.
   * a program that fails, is reported in the reply. May be called several times. A rejected promise is a bug.
   */
  ask(context: VerifyContext): Promise<Advanced<State> | Failed>;
}

/** A message to the policy that answers one call. Its role is "tool" after a tool call and "user" after an answer. */
export interface Reply {
  readonly role: "tool" | "user";
  readonly content: string;
  /** Id of the tool call. Empty after an answer. */
  readonly toolCallId: string;
  /** Name of the tool. Empty after an answer. */
  readonly name: string;
  /** Reward of the call by itself, without discount. Unset: the call has none. */
  readonly reward?: number;
}

/**
 * How much the reply to an answer says.
 * - "verdict": only whether the answer is right.
 * - "reason": also what is wrong with it.
 * - "distance": also how far a feasible answer is from the best known.
 */
export type ReplyDetail = "verdict" | "reason" | "distance";

/** Objective of the best known answer, and a certified bound: no answer has a better objective than `bound`. */
export interface KnownBest {
  readonly value: number;
  readonly bound: number;
}

/**
 * Members that Turns and AskingTurns have in common. The state of an episode is a protobuf message, because it is
 * stored in task ids.
 */
export interface TurnsParts<Instance, Schema extends DescMessage = DescMessage> {
  /**
   * Set if a task has several turns only if more than one call is requested. Defaults to false: all tasks have several
   * turns.
   */
  readonly optional?: true;
  /** Default number of calls of an episode. A request may ask for another number. */
  readonly calls: number;
  /** Maximum number of calls that a request may ask for. */
  readonly callsMax: number;
  /** Maximum number of answers among the calls. If unset, every call may be an answer. */
  readonly answersMax?: number;
  readonly tools: readonly Tool[];
  /** Set if no task can be solved without the tools: every task has all of them. Defaults to false. */
  readonly needsTools?: true;
  /**
   * Maximum size of an answer, or of a tool's arguments, in bytes of UTF-8. A larger call is not carried out, and the
   * reply says so.
   */
  readonly actionBytesMax: number;
  /**
   * Set if arguments may have whole numbers of up to 308 digits, passed as RawNumber (lib/exact-json.ts) if JavaScript
   * cannot hold them. Defaults to false: the reply to a call with such a number says that the number cannot be read.
   */
  readonly keepsWholeNumbers?: true;
  readonly schema: Schema;
  /** Returns the maximum size, in bytes, that the encoded state can have after `calls` calls. */
  stateBytesMax(parameters: Parameters, calls: number): number;
  /** Returns the state before the first call. */
  start(instance: Instance): MessageShape<Schema>;
}

/** Rules for the episodes of an environment, if no call (a tool call or an answer) asks an external resource. */
export interface Turns<Instance, Schema extends DescMessage = DescMessage> extends TurnsParts<Instance, Schema> {
  readonly resource?: undefined;
  /**
   * Carries out a call. Must be pure and must not throw, because calls are repeated to restore a state. `rng` depends
   * only on the task, the sample and the call's number. `best` is the best known objective value of the instance, if
   * there is one. Only the turns of severalTries read `detail`, which defaults to "distance".
   */
  advance(
    instance: Instance,
    state: MessageShape<Schema>,
    action: Action,
    rng: Rng,
    best?: KnownBest,
    detail?: ReplyDetail,
  ): Advanced<MessageShape<Schema>>;
}

/**
 * Rules for the episodes of an environment whose calls may ask an external resource, such as the sandbox. The state of
 * an episode is always stored and never restored by repeating its calls, which would ask the resource again.
 */
export interface AskingTurns<Instance, Schema extends DescMessage = DescMessage> extends TurnsParts<Instance, Schema> {
  /** Resource that calls ask. It need not be the one that the environment's verifier asks. */
  readonly resource: Resource;
  /** Names of the tools whose calls ask the resource, if no other calls do. Unset: every call may ask. */
  readonly askingTools?: readonly string[];
  /**
   * Carries out a call like `advance` of Turns, or returns the question to ask the resource. Equal arguments give equal
   * questions.
   */
  advance(
    instance: Instance,
    state: MessageShape<Schema>,
    action: Action,
    rng: Rng,
    best?: KnownBest,
    detail?: ReplyDetail,
  ): Advanced<MessageShape<Schema>> | Question<MessageShape<Schema>>;
}

/** Rules for the episodes of an environment. `resource` is set if calls may ask an external resource. */
export type AnyTurns<Instance = unknown> = Turns<Instance> | AskingTurns<Instance>;

/**
 * One call in the log of an episode. A task id stores a state and the calls after it; repeating the calls leads to the
 * current state. Unreadable calls are left out.
 */
export interface LoggedCall {
  readonly number: number;
  /** Position of the tool in the environment's list, counted from 1. 0: the call is an answer. */
  readonly tool: number;
  readonly text: string;
}

/** Result of the call that decides the episode's return so far. */
export interface Standing {
  /** Return of the episode so far. */
  readonly value: number;
  readonly verdict: Facts["kind"];
  readonly objective: number | undefined;
  /** Quality of the call's answer, in [0, 1]. */
  readonly quality: number;
  /** True if the answer reaches the goal (Score in score.ts). */
  readonly solved: boolean;
}

/** An episode after at least one call. The next call needs only the task and this object. */
export interface Episode {
  readonly calls: number;
  /** Encoded state from before the calls of `log`. Undefined: the state in which the episode starts. */
  readonly state: Uint8Array | undefined;
  readonly log: readonly LoggedCall[];
  /** Result that decides the return so far. Undefined: no call had a reward. */
  readonly standing: Standing | undefined;
  /**
   * Hash of all calls so far, 12 hex digits. It distinguishes a repeated request from another continuation of the same
   * episode.
   */
  readonly digest: string;
}

/** Maximum number of bytes of a logged call in an encoded episode, in addition to its text. */
const LOGGED_BYTES = 12;
/** Maximum number of bytes of an encoded episode, in addition to its state and log. */
const EPISODE_BYTES = 160;

/**
 * Returns the maximum size of an encoded episode, in bytes. After each call the shorter of two forms is stored: the
 * state, or an older state with a log of the calls since. Hence the smaller of the two maximums applies.
 */
export function episodeBytesMax(
  turns: Pick<AnyTurns, "resource" | "actionBytesMax" | "stateBytesMax">,
  parameters: Parameters,
  calls: number,
): number {
  const state = turns.stateBytesMax(parameters, calls);
  if (turns.resource !== undefined) return EPISODE_BYTES + state;
  const log = calls * (turns.actionBytesMax + LOGGED_BYTES);
  return EPISODE_BYTES + Math.min(state, log);
}

/** Returns an upper bound of the encoded size of a log, in bytes. */
export function logBytes(log: readonly LoggedCall[]): number {
  return log.reduce((sum, { text }) => sum + LOGGED_BYTES + Buffer.byteLength(text), 0);
}
