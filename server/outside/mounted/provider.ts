/**
 * Interface of a provider of environments, which is a local Python process or a remote service. Its messages are those
 * of provider.proto.
 */
import type { Party } from "../../base/fair-turns.ts";
import type {
  DescribeResponse,
  ProvidedFacts,
  ProvidedInstance,
  ProvidedTurn,
  ProviderFailure as WireFailure,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ProviderFailureKind } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ON_FAILURE } from "./message-rules.ts";
import { type FailureKind, problemOf } from "./rules.ts";

export interface Failure {
  readonly kind: "failure";
  readonly failure: FailureKind;
  readonly detail: string;
}

export type GenerateResult =
  | { readonly kind: "made"; readonly instance: ProvidedInstance }
  | { readonly kind: "exhausted"; readonly message: string }
  | Failure;

export type VerifyResult = { readonly kind: "facts"; readonly facts: ProvidedFacts } | Failure;

export type AdvanceResult = { readonly kind: "turn"; readonly turn: ProvidedTurn } | Failure;

export type DrawResult = { readonly kind: "svg"; readonly svg: string } | Failure;

/**
 * Identifies the environment that a request is for, and has its time limits for making an instance, verifying an answer
 * and carrying out a call, in milliseconds.
 */
export interface AskedEnvironment {
  readonly id: string;
  readonly version: number;
  /** Digest of the environment's code, from the provider: 64 hex digits. */
  readonly digest: string;
  readonly limits: { readonly generateMs: number; readonly verifyMs: number; readonly advanceMs: number };
}

export interface GenerateAsked {
  readonly level: string;
  readonly parametersJson: string;
  readonly seeds: readonly bigint[];
}

export interface VerifyAsked {
  /** The instance's bytes, as the provider gave them. */
  readonly instance: Uint8Array;
  readonly answer: string;
}

/** A call of an episode (ProvidedCall in provider.proto). */
export interface SentCall {
  readonly number: number;
  /** Name of the tool. Empty: the call is an answer. */
  readonly tool: string;
  readonly text: string;
  readonly seed: bigint;
}

export interface AdvanceAsked {
  readonly instance: Uint8Array;
  /** State before the calls. Undefined: the state in which an episode begins. */
  readonly state: Uint8Array | undefined;
  /** Calls to carry out one after another, at least one. The result is the last call's. */
  readonly calls: readonly SentCall[];
}

/**
 * Process that a request needs. True means one that has served no request before, and "environment" one that has served
 * no request of the environment. The latter costs less, because one such process serves many environments. False means
 * any.
 */
export type Fresh = boolean | "environment";

export interface AskOptions {
  /**
   * Caller that the request belongs to, and its connection. Callers take turns at the workers. Defaults to the server
   * itself.
   */
  readonly party?: Party | undefined;
  /** Aborted when nobody needs the result any more. */
  readonly signal: AbortSignal;
  /** Process to use, if there is one. Defaults to any. */
  readonly fresh?: Fresh;
  /**
   * Set if the request makes an earlier instance again, because neither the task id nor the cache holds the instance.
   * The metrics count such requests apart.
   */
  readonly again?: boolean;
}

/** A provider of environments. Its methods never reject, even if the provider fails or sends invalid messages. */
export interface Provider {
  readonly described: DescribeResponse;
  /** Returns one result per seed, in order. */
  generate(
    environment: AskedEnvironment,
    asked: GenerateAsked,
    options: AskOptions,
  ): Promise<readonly GenerateResult[]>;
  verify(environment: AskedEnvironment, asked: VerifyAsked, options: AskOptions): Promise<VerifyResult>;
  advance(environment: AskedEnvironment, asked: AdvanceAsked, options: AskOptions): Promise<AdvanceResult>;
  draw(
    environment: AskedEnvironment,
    asked: { readonly instance: Uint8Array; readonly answer: string | undefined },
    options: AskOptions,
  ): Promise<DrawResult>;
  /** Returns why the provider cannot serve requests at present. Undefined: it can. */
  probe(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Maximum time limits of one item, in milliseconds: for making an instance or a picture, and for verifying an answer or
 * carrying out a call. They are also the defaults.
 */
export const ITEM_LIMITS = { generateMs: 20_000, verifyMs: 10_000 } as const;

const DETAIL_LENGTH_MAX = 2000;

const KINDS: Readonly<Record<number, FailureKind>> = {
  [ProviderFailureKind.RAISED]: "raised",
  [ProviderFailureKind.TIMEOUT]: "timeout",
  [ProviderFailureKind.CRASHED]: "crashed",
  [ProviderFailureKind.MEMORY]: "memory",
  [ProviderFailureKind.UNAVAILABLE]: "unavailable",
};

export function failure(kind: FailureKind, detail: string): Failure {
  return { kind: "failure", failure: kind, detail: detail.slice(0, DETAIL_LENGTH_MAX) };
}

/** The failure that stands for a missing result, i.e. if a provider sent no response. */
export const NOTHING: Failure = Object.freeze(failure("unavailable", "no answer"));

/** Converts the number of a failure's kind, as a provider sent it. Unknown numbers become "crashed". */
export function kindOfFailure(wire: number): FailureKind {
  return KINDS[wire] ?? "crashed";
}

/** Converts a failure that a provider sent. If the message breaks a rule of provider.proto, the detail says so. */
export function failureOfWire(wire: WireFailure): Failure {
  const problem = problemOf(ON_FAILURE, wire, undefined);
  return failure(kindOfFailure(wire.kind), problem === undefined ? wire.detail : `${problem}: ${wire.detail}`);
}
