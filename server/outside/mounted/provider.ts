/** What a provider is to the rest of the server, however it is reached. The messages are the contract's (provider.proto). */
import type { Party } from "../../base/fair-turns.ts";
import type {
  DescribeResponse,
  ProvidedFacts,
  ProvidedInstance,
  ProviderFailure as WireFailure,
} from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ProviderFailureKind } from "../../../proto/gen/gradus/v1/provider_pb.js";
import { ON_FAILURE } from "./message-rules.ts";
import { problemOf } from "./rules.ts";

/** Why there is no instance, or no telling of an answer. */
export type FailureKind = "raised" | "timeout" | "crashed" | "memory" | "unavailable";

export interface Failure {
  readonly kind: "failure";
  readonly failure: FailureKind;
  readonly detail: string;
}

export type Generated =
  | { readonly kind: "made"; readonly instance: ProvidedInstance }
  | { readonly kind: "exhausted"; readonly message: string }
  | Failure;

export type Verified = { readonly kind: "facts"; readonly facts: ProvidedFacts } | Failure;

export type Drawn = { readonly kind: "svg"; readonly svg: string } | Failure;

/** Which environment is asked, and how long each of its items may take. */
export interface AskedEnvironment {
  readonly id: string;
  readonly version: number;
  /** As the provider gave it: 64 hex digits. */
  readonly digest: string;
  readonly limits: { readonly generateMs: number; readonly verifyMs: number };
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

export interface AskOptions {
  /** Whose share of the workers it comes out of; left out: the server's own. */
  readonly party?: Party | undefined;
  /** Aborted when nobody needs it any more. */
  readonly signal: AbortSignal;
  /** By a process that has done nothing before, where there are such. */
  readonly fresh?: boolean;
  /** Of instances that were made before, and that neither a task's id nor memory has any more. */
  readonly again?: boolean;
}

/** Never rejects, whatever the other side does. */
export interface Provider {
  readonly described: DescribeResponse;
  /** One result for each seed, in order. */
  generate(environment: AskedEnvironment, asked: GenerateAsked, options: AskOptions): Promise<readonly Generated[]>;
  verify(environment: AskedEnvironment, asked: VerifyAsked, options: AskOptions): Promise<Verified>;
  draw(
    environment: AskedEnvironment,
    asked: { readonly instance: Uint8Array; readonly answer: string | undefined },
    options: AskOptions,
  ): Promise<Drawn>;
  /** Why it cannot be asked now; undefined: it can. */
  probe(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What the server gives one item of an environment that asks for no less, milliseconds. */
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

/** What stands for an answer that is missing. */
export const NOTHING: Failure = Object.freeze(failure("unavailable", "no answer"));

/** A kind that this server does not know is the worst that it does. */
export function kindOfFailure(wire: number): FailureKind {
  return KINDS[wire] ?? "crashed";
}

/** Returns a failure that a provider sent, with the rule of provider.proto that it breaks itself. */
export function failureOfWire(wire: WireFailure): Failure {
  const problem = problemOf(ON_FAILURE, wire, undefined);
  return failure(kindOfFailure(wire.kind), problem === undefined ? wire.detail : `${problem}: ${wire.detail}`);
}
