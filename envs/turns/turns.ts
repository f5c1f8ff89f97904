/**
 * Defines several turns of a task. An episode is a list of calls, each a call of a tool or a marked answer. A call maps
 * the state of the episode to the next one and to a reply.
 */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Facts } from "../facts.ts";
import type { Rng } from "../lib/rng.ts";

type Parameters = Readonly<Record<string, number>>;

/** Tool that a policy may call. */
export interface Tool {
  /** Unique within the environment. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Call that could be read. `number` is its number in the episode, from 0. Calls that could not be read count too. */
export type Action = { readonly number: number } & (
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
);

/** Result of a call. */
export interface Advanced<State> {
  /** Reply to the policy. It must not reveal the answer. It says what is wrong with a call that cannot be carried out. */
  readonly reply: string;
  readonly state: State;
  /** True if the call ends the episode. Defaults to false. */
  readonly over?: boolean;
  /** Facts that the call established, which the reward scheme prices. Unset: the call has no worth of its own. */
  readonly facts?: Facts;
}

/** Message that answers a call: of the role "tool" for a call of a tool, and "user" for an answer. */
export interface Reply {
  readonly role: "tool" | "user";
  readonly content: string;
  /** Id of the call, and name of the tool. Empty for answers. */
  readonly toolCallId: string;
  readonly name: string;
  /** Reward of the call by itself, without discount. Unset: the call has none. */
  readonly reward?: number;
}

/** Objective of the best known answer, and the bound that no answer exceeds. */
export interface KnownBest {
  readonly value: number;
  readonly bound: number;
}

/** Turns of an environment. `State` is a message, whose schema encodes it in task ids. */
export interface Turns<Instance, Schema extends DescMessage = DescMessage> {
  /** True if tasks take one completion unless they ask for several calls. Defaults to false. */
  readonly optional?: true;
  /** Number of calls of an episode, unless the task asks for another one. */
  readonly calls: number;
  /** Maximum number of calls that a task may ask for. */
  readonly callsMax: number;
  readonly tools: readonly Tool[];
  /** Maximum size of an answer or of a tool's arguments, in bytes of UTF-8. A longer call gets a reply that says so. */
  readonly actionBytesMax: number;
  readonly schema: Schema;
  /** Returns the maximum size of a state after some calls, in bytes of its encoding. */
  stateBytesMax(parameters: Parameters, calls: number): number;
  /** Returns the state before the first call. */
  start(instance: Instance): MessageShape<Schema>;
  /**
   * Carries out a call. Pure and total: equal arguments give equal results, and no call throws. The generator depends
   * on the task, the sample and the call's number. `best` is the baseline of the instance, if there is one.
   */
  advance(
    instance: Instance,
    state: MessageShape<Schema>,
    action: Action,
    rng: Rng,
    best?: KnownBest,
  ): Advanced<MessageShape<Schema>>;
}

/** A call that leads from a stored state to the present one. Calls that could not be read are left out. */
export interface LoggedCall {
  readonly number: number;
  /** Place of the tool among the environment's tools, from 1. 0: a marked answer. */
  readonly tool: number;
  readonly text: string;
}

/** Call from which the return of an episode so far is taken. */
export interface Standing {
  /** The return so far. */
  readonly value: number;
  readonly verdict: Facts["kind"];
  readonly objective: number | undefined;
  /** Quality of the answer, in [0, 1], and whether it reaches the goal (Score in score.ts). */
  readonly quality: number;
  readonly solved: boolean;
}

/** An episode after its first call: all that the next call needs beside the task. */
export interface Episode {
  readonly calls: number;
  /** Encoded state before the calls of `log`. Undefined: the first state. */
  readonly state: Uint8Array | undefined;
  readonly log: readonly LoggedCall[];
  /** Undefined: no call had a worth. */
  readonly standing: Standing | undefined;
  /** Chain of hashes over all calls, 12 hex digits. It tells a branch of an episode from a retry. */
  readonly digest: string;
}

/** Size of a logged call beside its text, and of an episode beside state and log: upper bounds in bytes. */
const LOGGED_BYTES = 12;
const EPISODE_BYTES = 160;

/**
 * Returns the maximum size of an encoded episode, in bytes. Each call keeps the shorter one of the state, and the last
 * stored state with the calls since, so the size never exceeds that of the state, nor that of the whole log.
 */
export function episodeBytesMax(turns: Turns<never>, parameters: Parameters, calls: number): number {
  const log = calls * (turns.actionBytesMax + LOGGED_BYTES);
  return EPISODE_BYTES + Math.min(turns.stateBytesMax(parameters, calls), log);
}

/** Returns the size of a log, in bytes, at least that of its encoding. */
export function logBytes(log: readonly LoggedCall[]): number {
  return log.reduce((sum, { text }) => sum + LOGGED_BYTES + Buffer.byteLength(text), 0);
}
